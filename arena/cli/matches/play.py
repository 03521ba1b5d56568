"""The command `pokearena play`: play one match locally."""

from __future__ import annotations

import shlex
from concurrent.futures import Future
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING

import rich_click as click

from arena.cli import completers, output
from arena.cli.errors import FAILED, INTERRUPTED, OK, USAGE, CommandError
from arena.cli.options import bounded, data_option, game_options, json_option, seats_option
from arena.config import BOARDS
from arena.matches.local_records import KEPT

if TYPE_CHECKING:
    from collections.abc import Callable

    from arena.cli.workspace import Workspace
    from arena.matches.local_match import LocalMatch
    from arena.store.matches.games import PlayedGame


@click.command(
    epilog="Example: pokearena play poke ./mybot sample:greedy -n 10 --watch or "
    "pokearena play --list"
)
@click.argument("game", metavar="GAME", required=False, shell_complete=completers.game_ids)
@click.argument("bots", metavar="BOT BOT...", nargs=-1, shell_complete=completers.players)
@click.option("--list", "listed", is_flag=True, help="Print the kept local matches and exit.")
@click.option(
    "--seed",
    metavar="TEXT",
    help="Seed of all cards: any text, or 64 hexadecimal digits. [default: random]",
)
@click.option(
    "-n",
    "--boards",
    type=bounded(BOARDS),
    default=1,
    show_default=True,
    help="Number of boards; each is played with every seating.",
)
@seats_option
@click.option("--watch", is_flag=True, help="Print every action of every game.")
@click.option(
    "--open",
    "open_page",
    is_flag=True,
    help="Write the replay as one HTML file into the data folder, and open it in the browser.",
)
@click.option("--lenient", is_flag=True, help="Count faults and continue, as tournaments do.")
@click.option(
    "--record",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Write the record to this file too. [default: only in the data folder]",
)
@click.option(
    "--trace",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Write every message from and to the bots to this file after the match, as JSON lines "
    "with times.",
)
@click.option(
    "--keep",
    type=click.IntRange(1),
    default=KEPT,
    show_default=True,
    metavar="NUMBER",
    help="Number of local matches kept in the data folder; the oldest ones are deleted.",
)
@click.option(
    "--think",
    type=click.IntRange(1, 1_000_000),
    metavar="SECONDS",
    help="A person's thinking time for the match. [default: unlimited]",
)
@click.option(
    "--partner",
    metavar="BOT",
    shell_complete=completers.bots,
    default="sample:greedy",
    show_default=True,
    help="The bot for the other seat of a person's side.",
)
@click.option("--all-seatings", is_flag=True, help="With a person: play every seating, not one.")
@game_options
@json_option
@data_option
def play(
    game: str | None,
    bots: tuple[str, ...],
    listed: bool,
    seed: str | None,
    boards: int,
    seats: int | None,
    watch: bool,
    open_page: bool,
    lenient: bool,
    record: Path | None,
    trace: Path | None,
    keep: int,
    think: int | None,
    partner: str,
    all_seatings: bool,
    pairs: tuple[str, ...],
    allowance: int,
    bank: int,
    start: int,
    as_json: bool,
    data: Path | None,
) -> int:
    """Play one match here and now: no queue, no database.

    `pokearena rules` lists the games. A BOT is sample:NAME, a folder with a bot.toml, a .toml or
    .py file, an executable, grpc://HOST:PORT, unix:/PATH, NAME@VERSION or `human`: a person at this
    terminal. All seatings are played; with a person, only the seating in the given order.
    The first fault stops the match and is explained, unless --lenient. Standard error shows the
    progress: on a terminal as a status line, otherwise as one line every 10 s.

    The data folder keeps the records: --list prints them, and `last` names the newest one in
    replay, why, verify, logs and ask.
    """
    from arena.bots.bot import HUMAN
    from arena.cli.matches import local_matches, match_request, play_progress, replay_page
    from arena.cli.workspace import Workspace
    from arena.matches import local_match
    from arena.store.matches.spec import Clock

    if watch and as_json:
        raise CommandError(
            "--watch and --json cannot be combined.", USAGE, code="option-combination"
        )
    if HUMAN in bots:
        _check_person(watch, as_json)
    workspace = Workspace(data)
    if listed:
        if game is not None:
            raise CommandError("--list takes no GAME.", USAGE, code="option-combination")
        local_matches.show(workspace, as_json=as_json)
        return OK
    if game is None or not bots:
        raise click.MissingParameter(param_type="argument", param_hint="BOT" if game else "GAME")
    wish = match_request.MatchRequest(
        game=game,
        bots=bots,
        seed=output.random_seed() if seed is None else seed,
        boards=boards,
        options=pairs,
        clock=Clock(start, allowance, bank),
        policy="lenient" if lenient else "strict",
        seats=seats,
        think=think,
        partner=partner,
        all_seatings=all_seatings,
    )
    bout = match_request.prepare(workspace, wish)
    local_match.check_writable(bout, workspace.folder, record)
    if trace is not None:
        from click import get_current_context

        from arena.cli.matches import message_trace

        # Ends after this function: the results are printed first.
        get_current_context().with_resource(message_trace.traced(bout, trace))
    if not as_json:
        _announce(bout)
    interrupted = False
    try:
        if bout.has_person:
            _play_with_people(bout, workspace)
        elif watch:
            local_match.play(bout, workspace.folder, lambda finished: _tell(bout, finished))
        else:
            with play_progress.shown(bout):
                local_match.play(bout, workspace.folder, lambda finished: None)
    except KeyboardInterrupt:
        interrupted = True
    written: Path | None = None
    page: Path | None = None
    failure: OSError | None = None
    try:
        written = local_match.write_record(bout, workspace.folder, record, keep)
        if open_page and bout.games:
            page = replay_page.of_local_match(bout, workspace)
    except OSError as error:
        failure = error
    if as_json:
        output.document(_as_json(bout, written, page))
    else:
        _print_results(bout, explained=not interrupted)
        if page is not None:
            output.line(f"wrote the replay to {page}")
        if written is not None:
            _suggest(bout, bots, str(written) if record else bout.spec.id, interrupted)
    if page is not None:
        replay_page.open_in_browser(page)
    if bout.output_error is not None:
        unwritten = bout.output_error
        output.warn(f"{unwritten.filename} cannot be written: {unwritten.strerror}.")
    if failure is not None:
        raise CommandError(
            f"the file {failure.filename} cannot be written: {failure.strerror}.",
            INTERRUPTED if interrupted else FAILED,
            code="cannot-write",
        )
    if interrupted:
        raise CommandError(_interruption(bout), INTERRUPTED)
    return OK if bout.complete else FAILED


def _check_person(watch: bool, as_json: bool) -> None:
    from arena.cli.matches import human_terminal

    if watch or as_json:
        raise CommandError(
            f"{'--watch' if watch else '--json'} cannot be combined with a person.",
            USAGE,
            code="option-combination",
        )
    human_terminal.expect_terminal()


def _play_with_people(bout: LocalMatch, workspace: Workspace) -> None:
    from arena.cli.matches import human_terminal
    from arena.matches import local_match

    try:
        with human_terminal.opened(bout.spec, bout.bots) as person:
            _until_interrupted(
                lambda: local_match.play(bout, workspace.folder, person.finished, person),
                person.leave,
            )
            if person.has_left:
                raise KeyboardInterrupt
    finally:
        # Before the end, the seed would reveal the cards.
        output.hint(f"seed {bout.seed}")


def _until_interrupted(play: Callable[[], None], leave: Callable[[], None]) -> None:
    """Play in a thread. At Ctrl-C leave the match and wait for the record of its last game.

    The wait ends with the answers of the bots that decide at this moment. A second Ctrl-C ends
    the program without this record.
    """
    playing: Future[None] = Future()

    def run() -> None:
        try:
            play()
        except BaseException as error:
            playing.set_exception(error)
        else:
            playing.set_result(None)

    Thread(target=run, name="match", daemon=True).start()
    try:
        playing.result()
    except KeyboardInterrupt:
        leave()
        playing.result()


def _interruption(bout: LocalMatch) -> str:
    """Return a sentence about an interrupted match."""
    number, total = len(bout.games), bout.spec.games
    if bout.has_person and bout.games and bout.games[-1].faulted:
        return f"interrupted in game {number} of {total}; the record contains it up to here."
    return f"interrupted after {number} of {total} games."


def _announce(bout: LocalMatch) -> None:
    from referee.games.registry import form_of

    spec = bout.spec
    form = form_of(spec.game, spec.seats, spec.options)
    match = f"{form} {spec.id} · {' v '.join(spec.versions)}"
    if bout.has_person:
        output.hint(f"{match} · {spec.games} game{'s' * (spec.games > 1)}")
        return
    boards = f"{spec.boards} board{'s' * (spec.boards > 1)}, {len(spec.entrants)} seatings"
    output.hint(f"{match} · seed {bout.seed} · {boards}")
    if not spec.mirrored:
        output.hint("remote bots cannot be reset, so each table is played on different boards")


def _tell(bout: LocalMatch, game: PlayedGame) -> None:
    from arena.cli.matches import story
    from referee.record import read_games

    for record in read_games(game.record):
        for line in story.tell(bout.spec.line(), record, bout.spec.seed, output.screen().width):
            output.game_line(line)
        output.line()


def _print_results(bout: LocalMatch, *, explained: bool) -> None:
    """Print the results, and the explanation of the first fault if it is to be explained."""
    from arena.cli.matches import story
    from arena.cli.matches.play_progress import summaries

    output.table(
        ("bot", "games", "won", "drawn", "lost", "points", "moves", "median", "slowest", "faults"),
        [
            (
                *(t.bot, t.games, t.wins, t.draws, t.losses, t.points, len(t.times)),
                *(_ms(t.median), _ms(t.slowest), t.faults),
            )
            for t in summaries(bout.spec.versions, bout.games)
        ],
    )
    if bout.fault is not None and explained:
        line, entrant = bout.fault
        output.line()
        for text in story.explain_fault(bout.spec.line(), line, bout.spec.versions[entrant]):
            output.game_line(text)
        played, planned = len(bout.games), bout.spec.games
        if played < planned:
            output.hint(f"stopped after {played} of {planned} games; --lenient plays on.")


def _suggest(bout: LocalMatch, typed: tuple[str, ...], name: str, interrupted: bool) -> None:
    """Print the next command.

    Args:
        bout: the finished match.
        typed: the bots as typed on the command line.
        name: the name of the record for other commands.
        interrupted: whether Ctrl-C ended the match.
    """
    if bout.fault is None or interrupted:
        output.next_step(f"pokearena replay {name}")
        return
    line, entrant = bout.fault
    if "question" in line and not bout.bots[entrant].person:
        question = f"{name}:{line['game']}:{line['decision']}"
        output.next_step(f"pokearena ask {shlex.quote(question)} {shlex.quote(typed[entrant])}")
    else:
        output.next_step(f"pokearena why {shlex.quote(name)}")


def _ms(time: float | None) -> str:
    return "–" if time is None else f"{time:.2f} ms"


def _as_json(bout: LocalMatch, record: Path | None, page: Path | None) -> dict[str, object]:
    from arena.cli.matches.play_progress import summaries

    spec = bout.spec
    blamed = bout.fault
    return {
        "match": spec.id,
        "game": spec.game,
        "options": dict(spec.options),
        "seats": spec.seats,
        "boards": spec.boards,
        "policy": spec.policy,
        "seed": spec.seed.hex(),
        "commitment": spec.commitment,
        "complete": bout.complete,
        "bots": [tally.to_json() for tally in summaries(spec.versions, bout.games)],
        "games": [
            {
                "game": game.game,
                "table": game.table,
                "board": game.board,
                "places": list(game.places),
                "scores": None if game.scores is None else list(game.scores),
                "verdicts": list(game.verdicts),
            }
            for game in bout.games
        ],
        "fault": None if blamed is None else {**blamed[0], "bot": spec.versions[blamed[1]]},
        "record": None if record is None else str(record),
        "html": None if page is None else str(page),
    }
