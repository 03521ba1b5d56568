"""One match held against its record: what the record says, and whether it can be true."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from arena.ratings.closed_match import ClosedGame, ClosedMatch
from arena.store.matches import games
from arena.store.matches.spec import MatchSpec
from arena.store.matches.table_plan import plan
from arena.store.schema import MatchState
from referee.record import GameRecord, MatchRecord, RecordError, read
from referee.replay import Mismatch, game_problem, steps, verify

_EXPLAINED: Final = ("init", "timeout", "illegal", "protocol")
"""Verdicts that stand beside a fault line in the same game (others may come from another game)."""


_NOT_STARTED: Final = "init"


@dataclass(frozen=True, slots=True)
class Task:
    """A match that is over, and its record.

    spec: what was to be played, without its seed.
    """

    spec: MatchSpec
    state: MatchState
    record: str


@dataclass(frozen=True, slots=True)
class Finding:
    """What a record came to.

    problems: in sentences; nothing if it is true. result: of a closed match, if it can be told.
    games, actions: how many were dealt and played again. seed: the match's, if it is revealed.
    """

    match: str
    problems: tuple[str, ...] = ()
    result: ClosedMatch | None = None
    games: int = 0
    actions: int = 0
    seed: bytes | None = None


def look(task: Task) -> Finding:
    """Hold a match against its record. Pure, so that many can be looked at side by side."""
    name, problems = task.spec.id, list[str]()
    try:
        record = read(task.record)
        problems += _disagreements(task.spec, record)
        if problems:
            # A record of something else says nothing about this match.
            return Finding(name, tuple(problems))
        if task.state is not MatchState.CLOSED:
            return Finding(name, tuple(_not_closed(task, record)))
        if len(record.games) != task.spec.games:
            told = f"{len(record.games)} games in its record; it has {task.spec.games}"
            return Finding(name, (f"{name} has {told}",))
        problems += _untrue(task.spec, record)
        # What it says is followed even if it is not true, so that the rest can still be checked.
        result = _result(task.spec, record)
    except RecordError as error:
        return Finding(name, (f"the record of {name} cannot be read: {error}",))
    except (KeyError, TypeError, IndexError, AttributeError, ValueError) as error:
        why = problems or [f"the record of {name} does not say what it should: {error!r}"]
        return Finding(name, tuple(why))
    actions = sum(len(game.actions) for game in record.games)
    return Finding(name, tuple(problems), result, len(record.games), actions, record.seed)


def _disagreements(spec: MatchSpec, record: MatchRecord) -> Iterator[str]:
    """Where the record's first line is not that of this match."""
    true, told = spec.line(), record.match
    if told.get("match") != spec.id:
        yield f"the record of {spec.id} is that of {told.get('match')}"
        return
    for name in dict.fromkeys([*true, *told]):
        if name not in ("type", "format", "mirrored") and told.get(name) != true.get(name):
            yield (
                f"{name} of {spec.id} is {_plain(told.get(name))} in its record, and "
                f"{_plain(true.get(name))} in the tournament"
            )
    if told.get("mirrored", True) != true.get("mirrored", True):
        yield f"{spec.id} is mirrored by one of its record and the tournament, not by the other"


def _plain(value: Any) -> str:
    return "missing" if value is None else str(value)


def _not_closed(task: Task, record: MatchRecord) -> Iterator[str]:
    if record.seed is not None:
        yield (
            f"{task.spec.id} is {task.state.lower()}, but its record reveals the seed, which only "
            "a closed match does"
        )


def game_problems(spec: MatchSpec, record: MatchRecord) -> Iterator[str]:
    """Yield why games of a match cannot be true, whether or not all its games are there.

    Args:
        spec: the match. record: some of its games, with the seed, revealed or not.
    """
    for game in record.games:
        if problem := game_problem(record, game):
            yield f"{spec.id}: {problem}"
        if game.game.get("board") != (game.number % spec.boards if spec.mirrored else game.number):
            yield f"{spec.id}: game {game.number} was played on board {game.game.get('board')}"
        if not 0 <= game.number < spec.games:
            yield f"{spec.id} has games 0 to {spec.games - 1}, and no game {game.number}"
    yield from _implausible(spec, record)


def _untrue(spec: MatchSpec, record: MatchRecord) -> Iterator[str]:
    for problem in verify(record):
        yield f"{spec.id}: {problem}"
    yield from _implausible(spec, record)


def _implausible(spec: MatchSpec, record: MatchRecord) -> Iterator[str]:
    yield from _seated_elsewhere(spec, record)
    for game in record.games:
        for problem in (*_unexplained(game), *_misplaced(record, game)):
            yield f"{spec.id}: {problem}"


def _seated_elsewhere(spec: MatchSpec, record: MatchRecord) -> Iterator[str]:
    """Games at another table, or with other bots on its seats, than the match has."""
    wanted = {
        board.game: (table.table, [spec.versions[entrant] for entrant in table.seating])
        for table in plan(spec)
        for board in table.boards
    }
    for game in record.games:
        told = game.game.get("table"), game.game.get("seating")
        if game.number in wanted and told != wanted[game.number]:
            table, seating = wanted[game.number]
            yield (
                f"{spec.id}: game {game.number} is told of table {told[0]} with {told[1]}; "
                f"it belongs to table {table} with {seating}"
            )


def _unexplained(game: GameRecord) -> Iterator[str]:
    """Verdicts that no fault stands beside, and faults that have had no consequence."""
    said = {(line["seat"], line["verdict"]) for line in game.faults}
    for seat, verdict in enumerate(game.result["verdicts"]):
        if verdict in _EXPLAINED and (seat, verdict) not in said:
            yield f"game {game.number}: seat {seat} has the verdict {verdict}, and no fault says so"
        if verdict == "finished" and any(seat == faulted for faulted, _ in said):
            yield f"game {game.number}: seat {seat} faulted, and is told to have finished"


def _misplaced(record: MatchRecord, game: GameRecord) -> Iterator[str]:
    """Faults at decisions that were not open to the seat.

    Where a fault ends the game it is at a question nobody has answered; where others play on, the
    referee has answered it.
    """
    faults = [line for line in game.faults if line["verdict"] != _NOT_STARTED]
    if not faults or record.seed is None:
        return
    stood_in = {(act["seat"], act["decision"]) for act in game.actions if act.get("by")}
    if game.result["scores"] is None:
        try:
            *_, last = steps(record.match, game, record.seed)
        except Mismatch:
            return  # which is said already
        actors = sorted(last.state.actors)
        stood_in |= {(seat, last.decision + place) for place, seat in enumerate(actors)}
    for line in faults:
        if (line["seat"], line["decision"]) not in stood_in:
            yield (
                f"game {game.number}: seat {line['seat']} is said to have faulted at decision "
                f"{line['decision']}, which was not open to it"
            )


def _result(spec: MatchSpec, record: MatchRecord) -> ClosedMatch:
    return ClosedMatch(
        spec.id,
        spec.round,
        spec.number,
        spec.versions,
        tuple(_games(spec.versions, record.games)),
    )


def _games(entrants: tuple[str, ...], played: Iterable[GameRecord]) -> Iterator[ClosedGame]:
    for game in played:
        told = games.read(game.text, entrants)
        yield ClosedGame(told.game, told.places, told.scores, told.verdicts, told.faults)
