"""Play one match locally, without a queue and a database."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from arena.bots.bot import HUMAN, Bot, told_apart
from arena.bots.exit_report import Report
from arena.bots.version_store import content_hash
from arena.cli import game_options, output
from arena.cli.bots import registration
from arena.cli.errors import UNREACHABLE, CommandError
from arena.cli.matches import local_matches
from arena.cli.services.referee import own_referee
from arena.cli.workspace import Workspace
from arena.matches import human_seats
from arena.matches.runner import play_match, record_text
from arena.store import ids
from arena.store.matches.games import PlayedGame
from arena.store.matches.spec import Clock, Entrant, MatchSpec
from arena.system import output_file
from referee.games.shared.dealing import commitment
from referee.record import Line, read_games

PARTNER = "sample:greedy"
_CONNECT_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class MatchRequest:
    """The requested match."""

    game: str
    bots: Sequence[str]
    """As typed on the command line."""
    seed: str
    boards: int
    options: Sequence[str]
    clock: Clock
    policy: str
    seats: int | None = None
    """Number of seats; None chooses the first one that fits the bots."""
    think: int | None = None
    """Thinking time of a person at a table in seconds; None: unlimited."""
    partner: str = PARTNER
    """The bot for the other seats of a person's side, as typed on the command line."""
    all_seatings: bool = False
    """Whether a match with a person has a table for every seating, not only one."""


@dataclass(slots=True)
class LocalMatch:
    """A local match and its finished games."""

    spec: MatchSpec
    bots: tuple[Bot, ...]
    seed: str
    """The text that reproduces the same cards."""
    games: list[PlayedGame] = field(default_factory=list)
    trace: Path | None = None
    """File to which the referee appends the messages from and to bots, if they are traced."""
    output_error: OSError | None = None
    """Why output of the bots could not be stored, if so."""
    complete: bool = False
    """Whether every game was played; a fault ends a strict match early."""

    @property
    def has_person(self) -> bool:
        """Whether a person plays."""
        return any(bot.person for bot in self.bots)

    @property
    def record(self) -> str:
        """The record of the match as text."""
        return record_text(self.spec, {g.game: g.record for g in self.games}, self.spec.seed)

    @property
    def fault(self) -> tuple[Line, int] | None:
        """The line of the first fault in the record, and the index of its entrant."""
        for game in self.games:
            if game.faulted:
                (record,) = read_games(game.record)
                return record.faults[0], self.spec.versions.index(game.faulted[0].version)
        return None


class _StrictMatchEnded(Exception):
    """A fault has ended a strict match; the remaining tables are not played."""


def prepare(workspace: Workspace, wish: MatchRequest) -> LocalMatch:
    """Resolve and build the bots, and return the requested match."""
    game = game_options.game_named(wish.game)
    options = game_options.options_of(game, wish.options)
    seats = game_options.seats_for(game, options, len(wish.bots), wish.seats)
    sides = game.side_count(seats, options)
    bots = told_apart(_bot(workspace, wish, text, seats > sides) for text in wish.bots)
    for bot in (*bots, *(bot.partner for bot in bots if bot.partner is not None)):
        game_options.check_plays(bot, game)
        registration.up_to_date(workspace, bot)
        _check_reachable(bot)
    seed = output.seed_of(wish.seed)
    entrants = tuple(map(_entrant, bots))
    what = {
        "game": game.id,
        "options": options,
        "seats": seats,
        "boards": wish.boards,
        "clock": asdict(wish.clock),
        "policy": wish.policy,
        "seed": seed.hex(),
    }
    # The same request gets the same id, so that a repeated match replaces its record.
    key = ids.match_key(what, 0, 0, [f"{e.version} {e.content_hash}" for e in entrants])
    spec = MatchSpec(
        id=ids.match_id("play", key),
        tournament=None,
        round=0,
        number=0,
        game=game.id,
        options=options,
        seats=seats,
        boards=wish.boards,
        clock=wish.clock,
        policy=wish.policy,
        entrants=entrants,
        commitment=commitment(seed),
        seed=seed,
        tables=None if wish.all_seatings or not any(bot.person for bot in bots) else 1,
    )
    return LocalMatch(spec, bots, wish.seed)


def _bot(workspace: Workspace, wish: MatchRequest, text: str, needs_partner: bool) -> Bot:
    """Return a bot, or a person, with a partner if its side has several seats."""
    if text != HUMAN:
        return workspace.bot(text)
    person = human_seats.person(wish.think)
    return (
        human_seats.with_partner(person, workspace.bot(wish.partner)) if needs_partner else person
    )


def _check_reachable(bot: Bot) -> None:
    """Raise CommandError if nothing listens at the address of a remote bot.

    Other failures are left to the referee, which retries until the start limit.
    """
    host, colon, port = (bot.address or "").removeprefix("grpc://").rpartition(":")
    if not colon or not port.isdecimal():
        return
    try:
        socket.create_connection((host.strip("[]"), int(port)), _CONNECT_SECONDS).close()
    except ConnectionRefusedError:
        raise CommandError(
            f"cannot reach the bot {bot.label}: connection refused. Start it first.",
            UNREACHABLE,
            code="connection-refused",
        ) from None
    except OSError:
        return


def _entrant(bot: Bot) -> Entrant:
    folder = "" if bot.remote else str(bot.folder)
    manifest: dict[str, Any] = {} if bot.manifest is None else asdict(bot.manifest)
    return Entrant(bot.label, content_hash(bot), folder, manifest)


def play(
    bout: LocalMatch,
    workspace: Workspace,
    hear: Callable[[PlayedGame], None],
    person: human_seats.Person | None = None,
) -> None:
    """Play a match against its own referee; call `hear` with every finished game.

    After an error or Ctrl-C, the finished games are in the bout. `person` is the interface of the
    people in the match; None without any.

    Raises:
        InfrastructureError: a part of the arena failed.
    """
    outputs = workspace.folder.outputs / bout.spec.id
    for old in outputs.glob("*.log"):
        # Another `play` of the same match may delete it first.
        old.unlink(missing_ok=True)
    texts: dict[int, list[str]] = {}

    def sink(game: PlayedGame) -> None:
        bout.games.append(game)
        hear(game)
        if game.faulted and bout.spec.policy == "strict":
            raise _StrictMatchEnded

    def keep(entrant: int, reports: Sequence[Report]) -> None:
        path = outputs / f"{bout.spec.versions[entrant]}.log"
        written = texts.setdefault(entrant, [])
        written += [f"--- seat {r.seat}: {r.ended}\n{r.output}\n" for r in reports if r.output]
        try:
            if written:
                path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                # A surrogate cannot be encoded.
                text = "".join(written).encode("utf-8", "replace").decode()
                output_file.write_text(path, text)
        except OSError as error:
            # The match is worth more than the output.
            bout.output_error = output_file.named(error, path)

    with (
        own_referee(bout.trace) as referee,
        human_seats.seated_people(bout.spec, bout.bots, person) as bots,
        contextlib.suppress(_StrictMatchEnded),
    ):
        bout.complete = play_match(bout.spec, referee, bots, sink, on_reports=keep)


def write_record(bout: LocalMatch, workspace: Workspace, path: Path | None, kept: int) -> Path:
    """Write the record atomically into the data folder, and to `path` if given; return its path.

    Args:
        bout: the match.
        workspace: its data folder keeps the record.
        path: another file for the record.
        kept: number of local matches to keep; the oldest ones are deleted.

    Raises:
        OSError: the record cannot be written; the error names the file.
    """
    try:
        default = _default_path(bout, workspace)
        output_file.write_text(default, bout.record)
        local_matches.delete_oldest(workspace, kept)
    finally:
        # An error of one file does not prevent the other.
        if path is not None:
            output_file.write_text(path, bout.record)
    return path or default


def check_writable(bout: LocalMatch, workspace: Workspace, path: Path | None) -> None:
    """Check that the record, and the output of the bots in the data folder, can be written.

    Raises:
        OSError: a file or a folder cannot be written; the error names it.
    """
    if path is not None:
        output_file.check_writable(path)
    output_file.check_writable(_default_path(bout, workspace))


def _default_path(bout: LocalMatch, workspace: Workspace) -> Path:
    """Return the path of the record in the data folder; create its folder."""
    try:
        workspace.folder.create()
        workspace.plays.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise output_file.named(error, workspace.folder.root) from None
    return workspace.plays / f"{bout.spec.id}.jsonl"
