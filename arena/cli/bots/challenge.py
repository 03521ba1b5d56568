"""The command `pokearena bot challenge`: request a match in a remote arena."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

import rich_click as click

from arena.cli import output
from arena.cli.bots.arena_requests import content_of
from arena.cli.bots.push import arena_at, token_option
from arena.cli.errors import FAILED, INTERRUPTED, OK, UNREACHABLE, CommandError
from arena.cli.options import bounded, json_option
from arena.config import BOARDS

if TYPE_CHECKING:
    from arena.api_client import ArenaClient

_POLL_SECONDS: Final = 1.0
_PATIENCE_SECONDS: Final = 60.0
"""Time for which the arena may be unreachable while the command waits."""
_WAITING_SECONDS: Final = 30.0
"""Time between two lines about a match that waits for a worker."""
_OPEN: Final = ("pending", "running")


@click.command(epilog="Example: pokearena bot challenge greedy --in https://arena.example.org")
@click.argument("opponent", metavar="OPPONENT")
@click.option(
    "--in",
    "url",
    envvar="POKEARENA_URL",
    metavar="URL",
    help="URL of the arena's web pages.",
)
@click.option(
    "--bot",
    default="",
    metavar="NAME[@VERSION]",
    help="Bot that challenges. [default: your only bot]",
)
@click.option(
    "--form",
    default="",
    metavar="FORM",
    help="Form of the game, such as GAME or GAME-4. [default: the first that both play]",
)
@click.option(
    "-n",
    "--boards",
    type=bounded(BOARDS),
    default=10,
    show_default=True,
    help="Number of boards; each is played in both seatings.",
)
@token_option
@click.option("--no-wait", is_flag=True, help="Do not wait for the result.")
@json_option
def challenge(
    opponent: str,
    url: str | None,
    bot: str,
    form: str,
    boards: int,
    token: str | None,
    no_wait: bool,
    as_json: bool,
) -> int:
    """Start a match between your bot and another bot of a remote arena.

    OPPONENT is NAME (its newest version) or NAME@VERSION. The organiser limits the number of
    challenges per day and their boards. No ladder counts a challenge. Ctrl-C stops the display, not
    the match. The exit status is 1 if the match ends without a result.
    """
    arena = arena_at(url, token, option="--in")
    begun = content_of(
        arena, lambda: arena.challenge(bot=bot, opponent=opponent, form=form, boards=boards)
    )
    page = f"{arena.url}/tournaments/{begun['challenge']}"
    if not as_json:
        output.hint(f"{' v '.join(begun['entrants'])} · {begun['form']} · {begun['games']} games")
        output.hint(page)
    if no_wait:
        if not as_json:
            _print_waiting(arena, begun)
        output.result(as_json, {**begun, "page": page}, page)
        return OK
    match = _follow(arena, begun, page, as_json)
    is_closed = match["state"] == "closed"
    if as_json:
        output.document({**begun, "page": page, "result": dict(match)})
        return OK if is_closed else FAILED
    if is_closed:
        _print_result(match)
    else:
        output.complain(f"no result: {match['reason'] or match['state']}")
    output.next_step(f"open {page}")
    return OK if is_closed else FAILED


def _follow(
    arena: ArenaClient, begun: Mapping[str, Any], page: str, as_json: bool
) -> Mapping[str, Any]:
    """Return the match when it has ended; meanwhile print its place in the queue and its games."""
    name = str(begun["match"])
    answered, printed, next_line = time.monotonic(), 0, 0.0
    try:
        while True:
            try:
                match = content_of(arena, lambda: arena.get_matches_id(name))
                answered = time.monotonic()
                if not as_json and match["state"] == "pending" and answered >= next_line:
                    _print_waiting(arena, begun)
                    next_line = answered + _WAITING_SECONDS
            except CommandError as error:
                if error.status != UNREACHABLE or time.monotonic() - answered > _PATIENCE_SECONDS:
                    raise
            else:
                if match["state"] not in _OPEN:
                    return match
                if not as_json and match["games"] != printed:
                    printed = match["games"]
                    output.hint(f"{printed} of {match['planned']} games")
            time.sleep(_POLL_SECONDS)
    except KeyboardInterrupt:
        raise CommandError(
            "stopped watching; the arena continues to play the match.",
            INTERRUPTED,
            f"open {page}",
            code="stopped-watching",
        ) from None


def _print_waiting(arena: ArenaClient, begun: Mapping[str, Any]) -> None:
    """Print how many challenges wait in front of this one: workers take the oldest first."""
    challenges = content_of(arena, arena.get_challenges)["challenges"]
    ahead = sum(
        other["created"] < begun["created"] and other["matches"]["pending"] > 0
        for other in challenges
    )
    output.hint(
        f"waiting for a worker; {output.count(ahead, 'challenge')} ahead, see "
        f"{arena.url}/challenges"
    )


def _print_result(match: Mapping[str, Any]) -> None:
    output.table(
        ("<bot", "won", "drawn", "lost", "faults"),
        [
            (
                side["entrant"],
                *(side[name] for name in ("wins", "draws", "losses")),
                side["faults"],
            )
            for side in match["sides"]
        ],
    )
