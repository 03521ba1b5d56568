"""Check one match against its record."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from arena.ratings.closed_match import ClosedMatch
from arena.store.matches.games import recorded_game
from arena.store.matches.spec import MatchSpec
from arena.store.matches.table_plan import plan
from arena.store.schema import MatchState
from referee.numbering import game_text, number_text, seat_text
from referee.record import GameRecord, MatchRecord, RecordError, read
from referee.replay import Mismatch, game_problem, steps, verify

_EXPLAINED: Final = ("init", "timeout", "illegal", "protocol")
"""Verdicts that require a fault line in the same game.

Other verdicts may follow from a fault in another game.
"""


_NOT_STARTED: Final = "init"


@dataclass(frozen=True, slots=True)
class Task:
    """A finished match and its record.

    Attributes:
        spec: the scheduled match, without its seed.
    """

    spec: MatchSpec
    state: MatchState
    record: str


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of checking a record.

    Attributes:
        problems: one sentence for each problem; empty if the record is correct.
        result: the result of a closed match, if it can be computed.
        former: the result of a void match that was closed before.
        games: number of games dealt and replayed.
        actions: number of actions replayed.
        seed: the match's seed, if it is revealed.
    """

    match: str
    problems: tuple[str, ...] = ()
    result: ClosedMatch | None = None
    former: ClosedMatch | None = None
    games: int = 0
    actions: int = 0
    seed: bytes | None = None


def check(task: Task) -> Finding:
    """Check a match against its record. Pure, so that many matches can be checked in parallel."""
    name, problems = task.spec.id, list[str]()
    try:
        record = read(task.record)
        problems += _disagreements(task.spec, record)
        if problems:
            # The record of another match is not evidence about this one.
            return Finding(name, tuple(problems))
        if task.state is not MatchState.CLOSED:
            problems += _not_closed(task, record)
            former = _result(task.spec, record) if _was_closed(task, record) else None
            return Finding(name, tuple(problems), former=former, seed=record.seed)
        if len(record.games) != task.spec.games:
            counts = f"{len(record.games)} games in its record; it has {task.spec.games}"
            return Finding(name, (f"{name} has {counts}",))
        problems += _untrue(task.spec, record)
        # Compute the result even from an incorrect record, so that later checks can run.
        result = _result(task.spec, record)
    except RecordError as error:
        return Finding(name, (f"the record of {name} cannot be read: {error}",))
    except (KeyError, TypeError, IndexError, AttributeError, ValueError) as error:
        reasons = problems or [f"the record of {name} is incomplete or malformed: {error!r}"]
        return Finding(name, tuple(reasons))
    actions = sum(len(game.actions) for game in record.games)
    return Finding(name, tuple(problems), result, None, len(record.games), actions, record.seed)


def _disagreements(spec: MatchSpec, record: MatchRecord) -> Iterator[str]:
    """Yield the differences between the record's match line and this match."""
    expected, recorded = spec.line(), record.match
    if recorded.get("match") != spec.id:
        yield f"the record of {spec.id} is that of {recorded.get('match')}"
        return
    for name in dict.fromkeys([*expected, *recorded]):
        if name not in ("type", "format", "mirrored") and recorded.get(name) != expected.get(name):
            yield (
                f"{name} of {spec.id} is {_plain(recorded.get(name))} in its record, and "
                f"{_plain(expected.get(name))} in the tournament"
            )
    if recorded.get("mirrored", True) != expected.get("mirrored", True):
        yield f"{spec.id} is mirrored by one of its record and the tournament, not by the other"


def _plain(value: Any) -> str:
    return "missing" if value is None else str(value)


def _was_closed(task: Task, record: MatchRecord) -> bool:
    """Return whether a match was closed before an organiser voided it."""
    is_complete = len(record.games) == task.spec.games and record.seed is not None
    return task.state is MatchState.VOID and is_complete


def _not_closed(task: Task, record: MatchRecord) -> Iterator[str]:
    if record.seed is None:
        return
    if _was_closed(task, record):
        yield from _untrue(task.spec, record)
        return
    yield (
        f"{task.spec.id} is {task.state.lower()}, but its record reveals the seed, which only "
        "a match that was closed does"
    )


def game_problems(spec: MatchSpec, record: MatchRecord) -> Iterator[str]:
    """Yield the problems in games of a match, even if some of its games are missing.

    Args:
        record: some of its games, with the seed, revealed or not.
    """
    for game in record.games:
        if problem := game_problem(record, game):
            yield f"{spec.id}: {problem}"
        if game.game.get("board") != (game.number % spec.boards if spec.mirrored else game.number):
            board = number_text(game.game.get("board"))
            yield f"{spec.id}: {game_text(game.number)} was played on board {board}"
        if not 0 <= game.number < spec.games:
            yield f"{spec.id} has games 1 to {spec.games}; it has no {game_text(game.number)}"
    yield from _implausible(spec, record)


def _untrue(spec: MatchSpec, record: MatchRecord) -> Iterator[str]:
    for problem in verify(record):
        yield f"{spec.id}: {problem}"
    yield from _implausible(spec, record)


def _implausible(spec: MatchSpec, record: MatchRecord) -> Iterator[str]:
    yield from _seated_elsewhere(spec, record)
    for game in record.games:
        for problem in (
            *_unexplained(game),
            *_misplaced(record, game),
            *_miscounted(record, game),
        ):
            yield f"{spec.id}: {problem}"


def _seated_elsewhere(spec: MatchSpec, record: MatchRecord) -> Iterator[str]:
    """Yield games with another table number or seating than the match plan has."""
    planned = {
        board.game: (table.table, [spec.versions[entrant] for entrant in table.seating])
        for table in plan(spec)
        for board in table.boards
    }
    for game in record.games:
        recorded = game.game.get("table"), game.game.get("seating")
        if game.number in planned and recorded != planned[game.number]:
            table, seating = planned[game.number]
            yield (
                f"{spec.id}: {game_text(game.number)} is recorded at table "
                f"{number_text(recorded[0])} with "
                f"{recorded[1]}; it belongs to table {table + 1} with {seating}"
            )


def _unexplained(game: GameRecord) -> Iterator[str]:
    """Yield verdicts without the required fault, and faults without a consequence."""
    faults = {(line["seat"], line["verdict"]) for line in game.faults}
    for seat, verdict in enumerate(game.result["verdicts"]):
        where = f"{game_text(game.number)}: {seat_text(seat)}"
        if verdict in _EXPLAINED and (seat, verdict) not in faults:
            yield f"{where} has the verdict {verdict} without a fault"
        if verdict == "finished" and any(seat == faulted for faulted, _ in faults):
            yield f"{where} faulted, but has the verdict finished"


def _misplaced(record: MatchRecord, game: GameRecord) -> Iterator[str]:
    """Yield faults at decisions that were not open to the seat.

    A fault that ends the game must be at an unanswered question. If the game continues, the referee
    has answered that question.
    """
    faults = [line for line in game.faults if line["verdict"] != _NOT_STARTED]
    if not faults or record.seed is None:
        return
    open_decisions = {(act["seat"], act["decision"]) for act in game.actions if act.get("by")}
    if game.result["scores"] is None:
        try:
            *_, last = steps(record.match, game, record.seed)
        except Mismatch:
            return  # already reported
        actors = sorted(last.state.actors)
        open_decisions |= {(seat, last.decision + place) for place, seat in enumerate(actors)}
    for line in faults:
        if (line["seat"], line["decision"]) not in open_decisions:
            yield (
                f"{game_text(game.number)}: {seat_text(line['seat'])} faulted at decision "
                f"{number_text(line['decision'])}, which was not open to it"
            )


def _miscounted(record: MatchRecord, game: GameRecord) -> Iterator[str]:
    """Yield counts of corrections and default actions that the lines do not confirm.

    Corrections of a question that a bot did not answer have no line.
    """
    allowed: int = record.match.get("corrections", 0)
    nothing = [0] * len(game.result["verdicts"])
    corrections, defaults = list(nothing), list(nothing)
    for line in game.actions:
        tries = line.get("corrections", 0)
        corrections[line["seat"]] += tries
        defaults[line["seat"]] += line.get("default", False)
        if not 0 <= tries <= allowed:
            yield (
                f"{game_text(game.number)}: decision {number_text(line['decision'])} has {tries} "
                f"corrections; {allowed} were allowed"
            )
    is_broken_off = game.result["scores"] is None
    for seat, counted in enumerate(game.result.get("corrections", nothing)):
        is_out = game.result["verdicts"][seat] != "finished"
        most = allowed if is_broken_off or is_out else 0
        if not 0 <= counted - corrections[seat] <= most:
            where = f"{game_text(game.number)}: the corrections of {seat_text(seat)}"
            yield f"{where} are not {counted}"
    if game.result.get("defaults", nothing) != defaults:
        yield f"{game_text(game.number)}: its default actions are not those of its lines"


def _result(spec: MatchSpec, record: MatchRecord) -> ClosedMatch:
    return ClosedMatch(
        spec.id,
        spec.round,
        spec.number,
        spec.versions,
        tuple(recorded_game(game, spec.versions).result_only() for game in record.games),
    )
