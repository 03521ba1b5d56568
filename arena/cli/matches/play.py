"""The command `pokearena play`: play one match locally."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING

import rich_click as click
from click.core import ParameterSource

from arena.cli import completers, output
from arena.cli.errors import FAILED, INTERRUPTED, OK, CommandError, usage_error
from arena.cli.options import (
    bounded,
    data_option,
    game_options,
    given_text,
    json_option,
    network_option,
    seats_option,
)
from arena.cli.workspace import Workspace
from arena.config import BOARDS, KEPT_MATCHES
from referee.games.game_packages import EXAMPLE_GAME

if TYPE_CHECKING:
    from arena.matches.local_match import LocalMatch
    from arena.models.match_models import MatchModels
    from arena.ratings.closed_match import PlayedGame


@click.command(
    epilog=f"Example: pokearena play {EXAMPLE_GAME} ./mybot sample:greedy -n 10 --watch or "
    "pokearena play --list"
)
@click.argument("game", metavar="GAME", required=False, shell_complete=completers.game_ids)
@click.argument("bots", metavar="BOT BOT...", nargs=-1, shell_complete=completers.players)
@click.option("--list", "listed", is_flag=True, help="Print the kept local matches and exit.")
@click.option(
    "--seed",
    metavar="TEXT",
    callback=given_text,
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
    default=KEPT_MATCHES,
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
    help="The bot for the other seat of a person's side. [default: a house bot]",
)
@click.option("--all-seatings", is_flag=True, help="With a person: play every seating, not one.")
@network_option
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
    partner: str | None,
    all_seatings: bool,
    network: bool,
    pairs: tuple[str, ...],
    allowance: int,
    bank: int,
    start: int,
    corrections: int,
    as_json: bool,
    workspace: Workspace,
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
    from arena.cli import game_options as setup
    from arena.cli.matches import local_matches, match_request
    from arena.store.match_settings import Clock, MatchSettings

    _check_options(bots, watch=watch, as_json=as_json)
    if listed:
        if game is not None:
            raise usage_error("--list takes no GAME.", "option-combination")
        local_matches.show(workspace, as_json=as_json)
        return OK
    if game is None or not bots:
        raise click.MissingParameter(param_type="argument", param_hint="BOT" if game else "GAME")
    settings = MatchSettings(
        game=game,
        options=setup.named(pairs),
        seats=seats or 0,
        boards=boards,
        clock=Clock(start, allowance, bank),
        corrections=corrections,
        faults="lenient" if lenient else "strict",
    )
    person = match_request.PersonOptions(think, partner, all_seatings)
    seed = output.random_seed() if seed is None else seed
    match = match_request.prepare(workspace, settings, bots, seed, person, network=network)
    options = _OutputOptions(watch, open_page, record, trace, keep, as_json)
    return _play_and_report(match, workspace, bots, options)


@dataclass(frozen=True, slots=True)
class _OutputOptions:
    """What the command prints and writes: its options of the same names."""

    watch: bool
    open_page: bool
    record: Path | None
    trace: Path | None
    keep: int
    as_json: bool


def _play_and_report(
    match: LocalMatch, workspace: Workspace, typed: tuple[str, ...], options: _OutputOptions
) -> int:
    """Play the match, write its files and print its results; return the exit status."""
    from arena.cli.matches import author_models, replay_page
    from arena.matches import local_match

    local_match.check_writable(match, workspace.folder, options.record)
    output.warn_without_sandbox()
    models = author_models.of_match(workspace, match)
    if options.trace is not None:
        from arena.cli.matches import message_trace

        context = click.get_current_context()
        assert context is not None
        # Ends after this function: the results are printed first.
        context.with_resource(message_trace.traced(match, options.trace))
    if not options.as_json:
        _announce(match)
    interrupted = not _play_to_end(match, workspace, models, watch=options.watch)
    files = _written_files(match, workspace, options)
    if options.as_json:
        output.document(_as_json(match, files))
    else:
        _print_results(match, explained=not interrupted)
        if files.page is not None:
            output.line(f"wrote the replay to {files.page}")
        if files.record is not None:
            name = str(files.record) if options.record else match.spec.id
            _suggest(match, typed, name, interrupted)
    if files.page is not None:
        replay_page.open_in_browser(files.page)
    _raise_failure(match, files, interrupted)
    return OK if match.complete else FAILED


@dataclass(slots=True)
class _WrittenFiles:
    """The files written after a match."""

    record: Path | None = None
    page: Path | None = None
    error: OSError | None = None
    """Why the record or the page could not be written."""


def _written_files(
    match: LocalMatch, workspace: Workspace, options: _OutputOptions
) -> _WrittenFiles:
    from arena.cli.matches import replay_page
    from arena.matches import local_match

    files = _WrittenFiles()
    try:
        files.record = local_match.write_record(
            match, workspace.folder, options.record, options.keep
        )
        if options.open_page and match.games:
            files.page = replay_page.of_local_match(match, workspace)
    except OSError as error:
        files.error = error
    return files


def _raise_failure(match: LocalMatch, files: _WrittenFiles, interrupted: bool) -> None:
    """Raise CommandError if a file was not written or the match was interrupted."""
    if match.output_error is not None:
        unwritten = match.output_error
        output.warn(f"{unwritten.filename} cannot be written: {unwritten.strerror}.")
    if files.error is not None:
        raise CommandError(
            f"the file {files.error.filename} cannot be written: {files.error.strerror}.",
            INTERRUPTED if interrupted else FAILED,
            code="cannot-write",
        )
    if interrupted:
        raise CommandError(_interruption(match), INTERRUPTED)


def _play_to_end(
    match: LocalMatch, workspace: Workspace, models: MatchModels | None, *, watch: bool
) -> bool:
    """Play the match; return False if Ctrl-C ended it."""
    from arena.cli.matches import play_progress
    from arena.matches import local_match

    try:
        if match.has_person:
            _play_with_people(match, workspace, models)
        elif watch:
            local_match.play(
                match, workspace.folder, lambda game: _print_game(match, game), models=models
            )
        else:
            with play_progress.progress_shown(match):
                local_match.play(match, workspace.folder, lambda game: None, models=models)
    except KeyboardInterrupt:
        return False
    return True


def _check_options(bots: tuple[str, ...], *, watch: bool, as_json: bool) -> None:
    """Raise CommandError if the options cannot be combined with each other or with the bots."""
    from arena.bots.bot import HUMAN

    if watch and as_json:
        raise usage_error("--watch and --json cannot be combined.", "option-combination")
    if HUMAN in bots:
        _check_person(watch, as_json)
    else:
        _check_no_person()


def _check_person(watch: bool, as_json: bool) -> None:
    from arena.cli.matches import human_terminal

    if watch or as_json:
        raise usage_error(
            f"{'--watch' if watch else '--json'} cannot be combined with a person.",
            "option-combination",
        )
    human_terminal.expect_terminal()


def _check_no_person() -> None:
    """Raise CommandError if an option was given that only concerns a person."""
    context = click.get_current_context()
    assert context is not None
    for name in ("think", "partner"):
        # A configuration file may set them for the matches that have a person.
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            raise usage_error(
                f"--{name} concerns a person at the table; add `human` to the bots, for example "
                f"pokearena play {EXAMPLE_GAME} human sample:greedy.",
                "option-combination",
            )


def _play_with_people(match: LocalMatch, workspace: Workspace, models: MatchModels | None) -> None:
    from arena.cli.matches import human_terminal
    from arena.matches import local_match

    try:
        with human_terminal.opened(match.spec, match.bots) as person:
            _until_interrupted(
                lambda: local_match.play(match, workspace.folder, person.finished, person, models),
                person.leave,
            )
            if person.has_left:
                raise KeyboardInterrupt
    finally:
        # Before the end, the seed would reveal the cards.
        output.hint(f"seed {match.seed}")


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


def _interruption(match: LocalMatch) -> str:
    number, total = len(match.games), match.spec.games
    if match.has_person and match.games and match.games[-1].faulted:
        return f"interrupted in game {number} of {total}; the record contains it up to here."
    return f"interrupted after {number} of {total} games."


def _announce(match: LocalMatch) -> None:
    from referee.games.registry import form_of

    spec = match.spec
    form = form_of(spec.game, spec.seats, spec.options)
    title = f"{form} {spec.id} · {' v '.join(spec.versions)}"
    if match.has_person:
        output.hint(f"{title} · {spec.games} game{'s' * (spec.games > 1)}")
        return
    boards = f"{spec.boards} board{'s' * (spec.boards > 1)}, {len(spec.entrants)} seatings"
    output.hint(f"{title} · seed {match.seed} · {boards}")
    if not spec.mirrored:
        output.hint("remote bots cannot be reset, so each table is played on different boards")


def _print_game(match: LocalMatch, game: PlayedGame) -> None:
    from arena.cli.matches import story
    from referee.record import read_games

    for record in read_games(game.record):
        for line in story.game_lines(
            match.spec.line(), record, match.spec.seed, output.screen().width
        ):
            output.game_line(line)
        output.line()


def _print_results(match: LocalMatch, *, explained: bool) -> None:
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
            for t in summaries(match.spec.versions, match.games)
        ],
    )
    if match.fault is not None and explained:
        line, entrant = match.fault
        output.line()
        for text in story.explain_fault(match.spec.line(), line, match.spec.versions[entrant]):
            output.game_line(text)
        played, planned = len(match.games), match.spec.games
        if played < planned:
            output.hint(f"stopped after {played} of {planned} games; --lenient plays on.")


def _suggest(match: LocalMatch, typed: tuple[str, ...], name: str, interrupted: bool) -> None:
    if match.fault is None or interrupted:
        output.next_step(f"pokearena replay {name}")
        return
    line, entrant = match.fault
    if "question" in line and not match.bots[entrant].person:
        question = f"{name}:{line['game']}:{line['decision']}"
        output.next_step(f"pokearena ask {shlex.quote(question)} {shlex.quote(typed[entrant])}")
    else:
        output.next_step(f"pokearena why {shlex.quote(name)}")


def _ms(time: float | None) -> str:
    return "–" if time is None else f"{time:.2f} ms"


def _as_json(match: LocalMatch, files: _WrittenFiles) -> dict[str, object]:
    from arena.cli.matches.play_progress import summaries

    spec = match.spec
    blamed = match.fault
    return {
        "match": spec.id,
        "game": spec.game,
        "options": dict(spec.options),
        "seats": spec.seats,
        "boards": spec.boards,
        "policy": spec.faults,
        "seed": spec.seed.hex(),
        "commitment": spec.commitment,
        "complete": match.complete,
        "bots": [tally.to_json() for tally in summaries(spec.versions, match.games)],
        "games": [
            {
                "game": game.game,
                "table": game.table,
                "board": game.board,
                "places": list(game.places),
                "scores": None if game.scores is None else list(game.scores),
                "verdicts": list(game.verdicts),
            }
            for game in match.games
        ],
        "fault": None if blamed is None else {**blamed[0], "bot": spec.versions[blamed[1]]},
        "record": None if files.record is None else str(files.record),
        "html": None if files.page is None else str(files.page),
    }
