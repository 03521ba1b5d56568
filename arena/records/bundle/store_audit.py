"""Check the matches of a store: replay their records, and compare the stored results with them.

`arena.store.consistency` checks the structure of the rows without reading any record. This check
reads, deals and replays every committed game of matches in every state.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from arena.records import rebuilt_results
from arena.records.bundle import evidence
from arena.store import ids
from arena.store.matches import match_reasoning, raw_rows
from arena.store.matches.raw_rows import MatchRows
from arena.store.schema import MatchState
from arena.store.tournaments import schedule
from arena.system import process_pool
from referee import reasoning
from referee.games.shared import dealing
from referee.numbering import game_text
from referee.record import MatchRecord, RecordError, dump, read

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from arena.ratings.closed_match import PlayedGame
    from arena.store.matches.spec import MatchSpec

ReportProgress = Callable[[str, int, int], None]
"""Receives the name of the step, the number of matches done, and their total."""


@dataclass(frozen=True, slots=True)
class MatchAudit:
    """The check of one match.

    Attributes:
        problems: a sentence for each problem.
        repairable: whether all problems are in values that follow from the records, so that `ladder
            rebuild` corrects them.
        games: number of games dealt and replayed.
        actions: number of actions replayed.
    """

    match: str
    problems: tuple[str, ...] = ()
    repairable: bool = False
    games: int = 0
    actions: int = 0


def audit(engine: Engine, report_progress: ReportProgress, after: str = "") -> Iterator[MatchAudit]:
    """Check every match in order of the ids, on all cores; read the matches in batches.

    Args:
        engine: the store, at the newest schema version.
        report_progress: called after each match.
        after: only the matches with ids after this one, to continue an interrupted check.
    """
    number = raw_rows.count(engine, after=after)
    rows = (match for batch in raw_rows.batches(engine, after=after) for match in batch)
    for done, report in enumerate(process_pool.map_ordered(check, rows, number), 1):
        yield report
        report_progress("matches checked", done, max(done, number))


def differences(engine: Engine, tournament: str, report_progress: ReportProgress) -> Iterator[str]:
    """Yield the stored results, and the reasoning, that do not follow from the records.

    Deleted reasoning is not a difference.

    Args:
        report_progress: called after each match.
    """
    number = raw_rows.count(engine, tournament)
    rows = (match for batch in raw_rows.batches(engine, tournament) for match in batch)
    for done, match in enumerate(rows, 1):
        yield from _stored_otherwise(match)
        yield from _other_reasoning(engine, match)
        report_progress("matches compared", done, max(done, number))


def check(match: MatchRows) -> MatchAudit:
    """Check one match. Pure, so that many matches can be checked in parallel."""
    try:
        return _check(match)
    except (MemoryError, KeyboardInterrupt):
        raise
    except Exception as error:
        # A damaged row can contain anything. It must not prevent the check of other matches.
        return MatchAudit(match.id, (f"match {match.id} cannot be checked: {error!r}.",))


def _check(match: MatchRows) -> MatchAudit:
    spec = match.spec()
    problems = [*_scheduled_otherwise(match, spec), *filter(None, [match.missing])]
    played: dict[int, PlayedGame] = {}
    games = actions = 0
    for row in match.games:
        try:
            game = rebuilt_results.read_game(match, row)
            record = _record(spec, row["record"])
            problems += evidence.game_problems(spec, record)
        except (RecordError, ValueError) as error:
            problems.append(f"match {match.id}: the record of {error}")
            continue
        played[game.game] = game
        games += 1
        actions += len(record.games[0].actions)
    problems += _wrong_attempts(match)
    true = not problems and match.state is MatchState.CLOSED and match.result is not None
    rebuilt = rebuilt_results.rebuild(match) if true else None
    if rebuilt is None:
        problems += rebuilt_results.game_differences(match, played)
        problems += _without_result(match)
    else:
        problems += rebuilt.differences
    sentences = tuple(f"{problem.rstrip('.')}." for problem in dict.fromkeys(problems))
    repairable = rebuilt is not None and rebuilt.is_readable and bool(sentences)
    return MatchAudit(match.id, sentences, repairable, games, actions)


def _record(spec: MatchSpec, text: str) -> MatchRecord:
    """Return the record of a match that consists of this one game."""
    record = read(dump(spec.line()) + text)
    (game,) = record.games
    lines = 2 + len(game.actions) + len(game.faults)
    if sum(bool(line.strip()) for line in text.split("\n")) != lines:
        raise RecordError(f"{game_text(game.number)} has lines of an unknown type")
    return MatchRecord(record.match, record.games, spec.seed)


def _scheduled_otherwise(match: MatchRows, spec: MatchSpec) -> Iterator[str]:
    """Yield the differences between a match and its schedule: its id, its games, or its seed."""
    row = match.match
    key = ids.match_key(
        spec.agreed(), spec.round, spec.number, [entrant.content_hash for entrant in spec.entrants]
    )
    if key != row["key"] or ids.match_id(row["tournament"], key) != match.id:
        yield (
            f"match {match.id}: its id is not the hash of its settings (game, "
            "options, clock, policy, place, entrants)"
        )
    if (row["boards"], row["games"]) != (spec.boards, spec.games):
        yield f"match {match.id} has other boards or games than its tournament"
    secret = match.tournament["seed"]
    if secret is not None and schedule.match_seed_of(secret, row["key"]) != spec.seed:
        yield f"match {match.id}: its seed does not follow from that of the tournament"
    elif dealing.commitment(spec.seed) != spec.commitment:
        yield f"match {match.id}: its seed is not the one that was committed to"


def _without_result(match: MatchRows) -> Iterator[str]:
    if match.state is MatchState.CLOSED and match.result is None:
        yield f"match {match.id} is closed and has no result"


def _wrong_attempts(match: MatchRows) -> Iterator[str]:
    attempts = {row["attempt"] for row in (*match.games, *filter(None, [match.result]))}
    if not all(0 < attempt <= match.match["attempt"] for attempt in attempts):
        yield f"match {match.id} has games or a result of an attempt that it never had"


def _stored_otherwise(match: MatchRows) -> tuple[str, ...]:
    try:
        if match.state is MatchState.CLOSED:
            return rebuilt_results.rebuild(match).differences
        played = {row["game"]: rebuilt_results.read_game(match, row) for row in match.games}
        return tuple(rebuilt_results.game_differences(match, played))
    except Exception as error:
        # For the same reason as in `check`.
        return (f"match {match.id} cannot be compared: {error!r}",)


def _other_reasoning(engine: Engine, match: MatchRows) -> Iterator[str]:
    try:
        lines = match_reasoning.reasoning_lines(engine, match.id)
        if lines:
            text = "".join(row["record"] for row in match.games)
            record = read(dump(match.spec().line()) + text)
            yield from (f"match {match.id}: {each}" for each in reasoning.problems(record, lines))
    except Exception as error:
        # For the same reason as in `check`.
        yield f"match {match.id}: its reasoning cannot be checked: {error!r}"
