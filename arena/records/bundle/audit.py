"""Check a bundle using only its own content: schedule, records, seeds and standings."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any, Final

from arena.formats.contract import (
    Fixture,
    Format,
    FormatEntrant,
    FormatMatch,
    FormatOver,
    MatchStatus,
    NextMatches,
    PairingStrengths,
    Step,
    WaitForMatches,
    next_round,
)
from arena.formats.ladder import LadderFormat
from arena.formats.pairing_strengths import fit_strengths
from arena.formats.registry import has_present_pairing
from arena.ladders import ladder_key
from arena.ratings import standings
from arena.ratings.closed_match import ClosedMatch, PlayedGame
from arena.ratings.meetings import Meetings
from arena.ratings.strength import fit
from arena.ratings.strength.kept_strengths import KnownStrengths, TooManyEntrants
from arena.ratings.strength.settings import StrengthSettings, with_anchors
from arena.records.bundle import evidence
from arena.records.bundle.bundle import (
    OPEN,
    Bundle,
    Scheduled,
    conclude,
    differences,
    without_strengths,
)
from arena.records.bundle.evidence import Finding, Task
from arena.store import ids
from arena.store.match_settings import TournamentPlan
from arena.store.schema import MatchState, TournamentState
from arena.store.tournaments import schedule
from arena.system import process_pool
from arena.tournaments.scheduler import format_of
from referee.games.registry import find_game
from referee.games.shared import dealing
from referee.presentation.registry import presentation_of

# Check that a schedule follows from its format by running the format again from the start, unless
# the tournament was begun with earlier pairing rules.
#
# After each step, its matches are restored with their results, until the format schedules no more.
# A format decides the same with more information as with less (arena.formats.contract), so running
# it with all results known must give the same matches at the same places. Three cases need care:
#
# - *Withdrawn entrants* had not yet withdrawn while they were still being paired. A knockout checks
#   whether an entrant has withdrawn, not when. So a withdrawal is hidden from the format until all
#   the entrant's matches are restored.
# - *A decided test (sprt)* schedules nothing more, but its next round may have been scheduled
#   before the deciding one was over. If matches remain at the end, the format is run with its
#   newest round still open; the matches it then schedules must be marked as drained.
# - *A tournament that is not closed* may lack the next matches. It has either all or none of a
#   step's matches (for a knockout: of a series).


Results = Mapping[str, tuple[PlayedGame, ...]]
"""The games of closed matches, by match id."""
_IN_SERIES: Final = "knockout"


@dataclass(frozen=True, slots=True)
class Retraced:
    """The result of retracing a schedule.

    Attributes:
        problems: one sentence for each problem.
        steps: number of calls of the format.
        drained: number of matches in progress when the decision was reached.
        last: the format's last step; None if it could not be retraced to its end.
    """

    problems: tuple[str, ...]
    steps: int
    drained: int = 0
    last: Step | None = None


def contract_match(match: Scheduled, results: Results) -> FormatMatch:
    """Return a match in the format's terms; without a known result it counts as open."""
    state = MatchStatus.OPEN
    if match.state is MatchState.CLOSED and match.match in results:
        state = MatchStatus.CLOSED
    elif match.state in (MatchState.VOID, MatchState.CANCELLED):
        state = MatchStatus.VOID
    games = results[match.match] if state is MatchStatus.CLOSED else ()
    loser = match.forfeited_by if state is MatchStatus.VOID else None
    return FormatMatch(*match.place, match.entrants, state, games, loser or "")


class Retracing:
    """Retraces a schedule by running its format again.

    Args:
        entries: the entrants in the order of their seeds.
        closed: whether the tournament is closed, so that its schedule must be complete.
        in_series: whether the format schedules independent series, as a knockout does.
        strengths: the strengths from which the rounds of a ladder were paired.
    """

    def __init__(
        self,
        rules: Format,
        entries: Sequence[FormatEntrant],
        matches: Iterable[Scheduled],
        results: Results,
        closed: bool,
        in_series: bool,
        strengths: Mapping[int, PairingStrengths] | None = None,
    ) -> None:
        self._rules, self._entries = rules, entries
        self._strengths = strengths or {}
        self._unused_strengths = set(self._strengths)
        self._strength_problems: list[str] = []
        self._results, self._closed, self._in_series = results, closed, in_series
        # In canonical order, so that the latest replay of a match stays.
        ordered = sorted(matches, key=lambda match: (match.round, match.number))
        self._remaining = {match.place: match for match in ordered}
        self._replays: dict[tuple[int, int], list[Scheduled]] = {}
        for match in ordered:
            self._replays.setdefault(match.place, []).append(match)
        self._remaining_matches = Counter(
            name for match in self._remaining.values() for name in match.entrants
        )
        self._unknown = [
            match
            for match in self._remaining.values()
            if match.state is MatchState.CLOSED and match.match not in results
        ]
        self._restored: list[FormatMatch] = []
        self._drained = self._steps = 0

    def retrace(self, report_progress: Callable[[int], None] = lambda done: None) -> Retraced:
        """Retrace the schedule to its end or to the first discrepancy.

        Args:
            report_progress: called after each step with the number of restored matches.
        """
        try:
            problems, last = self._follow(report_progress)
        except (ArithmeticError, ValueError) as error:
            problems, last = [f"the format cannot continue: {error}"], None
        return Retraced(tuple(problems), self._steps, self._drained, last)

    def _follow(self, report_progress: Callable[[int], None]) -> tuple[list[str], Step | None]:
        while True:
            step = self._next_step(self._restored)
            draining = False
            if isinstance(step, FormatOver) and self._remaining:
                earlier = self._next_step(self._newest_open())
                draining = isinstance(earlier, NextMatches) and all(
                    self._scheduled_at(earlier.fixtures)
                )
                step = earlier if draining else step
            if not isinstance(step, NextMatches):
                return list(self._rest(step)), step
            problems = [*self._strength_problems, *self._compare(step.fixtures)]
            matches = [match for match in self._scheduled_at(step.fixtures) if match is not None]
            number = step.fixtures[0].round
            if matches and step.strengths is not None and number not in self._strengths:
                problems.append(f"the strengths from which round {number} was paired are missing")
            if problems:
                return problems, None
            if not matches:
                return list(self._rest(step)), step
            self._restore(matches)
            self._drained += len(matches) if draining else 0
            report_progress(len(self._restored))

    def _next_step(self, matches: Sequence[FormatMatch]) -> Step:
        self._steps += 1
        entries = [
            replace(entry, withdrawn=None) if self._remaining_matches[entry.name] else entry
            for entry in self._entries
        ]
        number = next_round(matches)
        used = self._strengths.get(number)
        if not isinstance(self._rules, LadderFormat):
            return self._rules.next(entries, matches)
        matches = self._with_late(matches, number)
        if used is None:
            return self._rules.next(entries, self._without_open_replays(matches, number))
        then = [self._at(match, used.seq) for match in matches]
        return self._rules.next(
            entries, then, lambda meetings: self._checked_strengths(number, used, meetings)
        )

    def _with_late(self, matches: Sequence[FormatMatch], number: int) -> list[FormatMatch]:
        """Mark the open matches, except replays, for which a round of the schedule did not wait."""
        has_round = any(match.round == number for match in self._remaining.values())
        before = number - 1 if has_round else number - 2
        return [
            replace(match, state=MatchStatus.LATE)
            if match.state is MatchStatus.OPEN
            and match.round < before
            and len(self._replays[match.place]) == 1
            else match
            for match in matches
        ]

    def _without_open_replays(
        self, matches: Sequence[FormatMatch], number: int
    ) -> Sequence[FormatMatch]:
        """Return the matches before a round of even matches, for which results do not matter.

        A replay that is open now was scheduled after the round, if the round has matches.
        """
        if all(match.round != number for match in self._remaining.values()):
            return matches
        return [
            replace(match, state=MatchStatus.VOID)
            if match.state is MatchStatus.OPEN and len(self._replays[match.place]) > 1
            else match
            for match in matches
        ]

    def _at(self, match: FormatMatch, seq: int) -> FormatMatch:
        """Return a restored match as it was after an event: corrections of results came later."""
        for scheduled in reversed(self._replays[match.place]):
            if scheduled.counted_at(seq) and scheduled.match in self._results:
                games = self._results[scheduled.match]
                return replace(match, state=MatchStatus.CLOSED, games=games, forfeited_by="")
        if match.is_open:
            return match
        return replace(match, state=MatchStatus.VOID, games=())

    def _checked_strengths(
        self, number: int, used: PairingStrengths, meetings: Meetings
    ) -> Mapping[str, int]:
        """Return the stored strengths of a round if they are within a step of the computed ones."""
        computed = fit_strengths(meetings)
        self._unused_strengths.discard(number)
        for name in sorted(computed.keys() | used.values.keys()):
            stored, expected = used.values.get(name), computed.get(name)
            if stored is None or expected is None or abs(stored - expected) > 1:
                self._strength_problems.append(
                    f"round {number} was paired from the strength {stored} of {name}; it follows "
                    f"from the results as {expected}"
                )
        return computed if self._strength_problems else used.values

    def _newest_open(self) -> list[FormatMatch]:
        newest = max((match.round for match in self._restored), default=0)
        return [
            replace(match, state=MatchStatus.OPEN, games=(), forfeited_by="")
            if match.round == newest
            else match
            for match in self._restored
        ]

    def _compare(self, fixtures: Sequence[Fixture]) -> Iterator[str]:
        """Yield the differences between the schedule and the matches of the format's step."""
        # All matches of a step are stored in one transaction.
        for _, together in groupby(fixtures, key=lambda f: f.entrants if self._in_series else None):
            expected = list(together)
            scheduled = self._scheduled_at(expected)
            if not any(scheduled) and not self._closed:
                continue
            for fixture, match in zip(expected, scheduled, strict=True):
                yield from _difference(fixture, match)

    def _scheduled_at(self, fixtures: Iterable[Fixture]) -> list[Scheduled | None]:
        """Return the remaining scheduled matches at the places of these fixtures."""
        return [self._remaining.get((fixture.round, fixture.number)) for fixture in fixtures]

    def _restore(self, matches: Iterable[Scheduled]) -> None:
        for match in matches:
            del self._remaining[match.place]
            self._remaining_matches.subtract(match.entrants)
            self._restored.append(contract_match(match, self._results))

    def _rest(self, step: Step) -> Iterator[str]:
        """Yield the problems if the format schedules none of the remaining matches."""
        if self._remaining and self._unknown and isinstance(step, WaitForMatches):
            yield (
                f"the schedule cannot be followed beyond {self._unknown[0].words}, whose result "
                "is unknown"
            )
            return
        for match in self._remaining.values():
            yield f"{match.words} is not a match of the format"
        for number in sorted(self._unused_strengths):
            yield f"round {number} was not paired from strengths"
        if self._closed and not isinstance(step, FormatOver) and not self._unknown:
            yield f"the tournament is closed, but its format has not finished: {step.why}"


def _difference(fixture: Fixture, match: Scheduled | None) -> Iterator[str]:
    pair = " v ".join(fixture.entrants)
    if match is None:
        yield f"round {fixture.round}, match {fixture.number} ({pair}) is missing"
    elif match.entrants != fixture.entrants:
        yield f"{match.words} is {' v '.join(match.entrants)}, where the format pairs {pair}"
    elif match.why != fixture.why:
        yield f"{match.words} has the reason {match.why!r}; the format gives {fixture.why!r}"


ReportProgress = Callable[[str, int, int], None]
"""Receives a description of the step, the number of matches done, and their total."""


@dataclass(frozen=True, slots=True)
class Audit:
    """The result of checking a bundle.

    Attributes:
        problems: one sentence for each problem; empty if the bundle is correct.
        matches: number of matches in each state.
        reasons: number of void or cancelled matches for each reason.
        games: number of games dealt and replayed.
        actions: number of actions replayed.
        seeds: number of seeds that were revealed and compared with their commitments.
        seeded: number of match seeds that follow from the tournament's seed; None if it is secret.
        steps: number of calls of the format.
        drained: number of matches in progress when the format decided.
        pairing_checked: whether the pairings were computed again; not if the tournament was begun
            with an earlier version of the pairing rules.
    """

    problems: tuple[str, ...]
    matches: Counter[MatchState]
    reasons: Counter[str]
    games: int
    actions: int
    seeds: int
    seeded: int | None
    steps: int
    drained: int
    pairing_checked: bool


def audit(bundle: Bundle, report_progress: ReportProgress = lambda what, done, of: None) -> Audit:
    """Check a bundle.

    Args:
        report_progress: receives the progress; see `ReportProgress`.
    """
    problems = [
        *_invalid_settings(bundle),
        *_duplicates(bundle.matches),
        *_unknown_entrants(bundle),
    ]
    if problems:
        # Invalid plans, duplicate matches and unknown entrants prevent the remaining checks.
        return _audit(bundle, problems, [], Retraced((), 0), 0)
    problems += _states(bundle)
    problems += _replayed(bundle)
    problems += _absent_entrants(bundle)
    problems += _wrong_ids(bundle)
    problems += _record_files(bundle)
    seeded, problems_of_seeds = _seeds(bundle)
    problems += problems_of_seeds
    findings = list(_check_records(bundle, report_progress))
    problems += [problem for finding in findings for problem in finding.problems]
    results = {finding.match: finding.result for finding in findings if finding.result is not None}
    retraced = Retraced((), 0)
    if _has_present_pairing(bundle):
        former = {finding.match: finding.former for finding in findings if finding.former}
        retraced = _retrace(bundle, {**results, **former}, report_progress)
    problems += retraced.problems
    problems += _conclusion(bundle, results, retraced)
    return _audit(bundle, problems, findings, retraced, seeded)


def _audit(
    bundle: Bundle,
    problems: Iterable[str],
    findings: Iterable[Finding],
    retraced: Retraced,
    seeded: int | None,
) -> Audit:
    findings = list(findings)
    gone = (MatchState.VOID, MatchState.CANCELLED)
    return Audit(
        problems=tuple(problems),
        matches=Counter(match.state for match in bundle.matches),
        reasons=Counter(
            match.reason or "the tournament was cancelled"
            for match in bundle.matches
            if match.state in gone
        ),
        games=sum(finding.games for finding in findings),
        actions=sum(finding.actions for finding in findings),
        seeds=sum(finding.seed is not None for finding in findings),
        seeded=seeded,
        steps=retraced.steps,
        drained=retraced.drained,
        pairing_checked=_has_present_pairing(bundle),
    )


def _has_present_pairing(bundle: Bundle) -> bool:
    plan = bundle.tournament.plan
    return has_present_pairing(plan.format, plan.settings)


def _invalid_settings(bundle: Bundle) -> Iterator[str]:
    """Yield problems with the game, options, seats, boards and format settings."""
    plan = bundle.tournament.plan
    try:
        rules = find_game(plan.game)
        settled = rules.settle(plan.options)
        older = {name: rules.options[name].default for name in settled if rules.options[name].later}
        if settled != {**older, **plan.options}:
            yield f"options of {plan.game} are missing: {plan.options}"
        rules.check_seats(plan.seats, settled)
        if plan.boards < 1:
            yield f"a match must have at least 1 board, not {plan.boards}"
        format_of(plan)
    except ValueError as error:
        yield str(error)


def _duplicates(matches: Iterable[Scheduled]) -> Iterator[str]:
    listed = list(matches)
    for name, times in Counter(match.match for match in listed).items():
        if times > 1:
            yield f"{name} is listed {times} times"
    places = Counter((match.round, match.number) for match in listed)
    for (turn, number), times in places.items():
        if times > 1:
            yield f"{times} matches are listed as match {number} of round {turn}"


def _unknown_entrants(bundle: Bundle) -> Iterator[str]:
    names = [entry.name for entry in bundle.entries]
    for name, times in Counter(names).items():
        if times > 1:
            yield f"{name} entered {times} times; each version enters a tournament once"
    for match in bundle.matches:
        for name in sorted(set(match.entrants) - set(names)):
            yield f"{name} plays in {match.words}, but has not entered the tournament"


def _states(bundle: Bundle) -> Iterator[str]:
    """Yield invalid match states.

    In a closed tournament, each match is closed, or void or cancelled with a reason.
    """
    state = bundle.tournament.state
    left = {entry.name for entry in bundle.entries if entry.withdrawn is not None}
    for match in bundle.matches:
        if match.state in OPEN and state is TournamentState.CLOSED:
            yield f"{match.words} is {match.state.lower()}, but the tournament is closed"
        if match.state is MatchState.VOID and not match.reason:
            yield f"{match.words} is void without a reason"
        if match.forfeited_by and match.state is not MatchState.VOID:
            yield f"{match.words} is forfeited, but not void"
        if match.forfeited_by and match.forfeited_by not in match.entrants:
            yield f"{match.words} is forfeited by {match.forfeited_by}, which does not play in it"
        if match.state is MatchState.CANCELLED and state is not TournamentState.CANCELLED:
            if not left.intersection(match.entrants):
                yield f"{match.words} is cancelled, although none of its entrants has withdrawn"
            elif not match.reason:
                yield f"{match.words} is cancelled without a reason"


def _replayed(bundle: Bundle) -> Iterator[str]:
    """Yield replayed matches that are not void, and replays with other entrants."""
    earlier: dict[tuple[int, int], Scheduled] = {}
    for match in sorted(bundle.matches, key=lambda match: (match.round, match.number)):
        replayed = earlier.get(match.place)
        earlier[match.place] = match
        if replayed is None:
            continue
        if replayed.state is not MatchState.VOID:
            yield f"{replayed.words} is replayed, but not void"
        if (replayed.entrants, replayed.why) != (match.entrants, match.why):
            yield (
                f"{match.words} replays {replayed.match}, but has other entrants or another reason"
            )


def _absent_entrants(bundle: Bundle) -> Iterator[str]:
    """Yield matches of entrants that have not joined yet or have already withdrawn."""
    entries = {entry.name: entry for entry in bundle.entries}
    for match in bundle.matches:
        for entry in (entries[name] for name in match.entrants):
            clause = f"{entry.name} plays in {match.words}, but"
            if match.round < entry.joined:
                yield f"{clause} joined for round {entry.joined}"
            elif not entry.plays_in(match.round):
                yield f"{clause} left before round {entry.withdrawn}"


def _wrong_ids(bundle: Bundle) -> Iterator[str]:
    """Yield match keys and ids that are not the hashes of the scheduled match."""
    agreed = bundle.tournament.plan.agreed()
    for match in bundle.matches:
        contents = [bundle.versions[name].content_hash for name in match.entrants]
        key = ids.match_key(agreed, match.round, match.number, contents)
        name = ids.match_id(bundle.tournament.id, key)
        if match.match != name:
            yield f"{match.words} has a wrong id; the id of this match is {name}"
        elif match.key != key:
            yield f"the key of {match.words} is not the hash of its settings, place and entrants"


def _record_files(bundle: Bundle) -> Iterator[str]:
    """Yield missing records of finished matches, and superfluous records."""
    over = {match.match: match for match in bundle.matches if match.over}
    recorded = set(bundle.records)
    for match in bundle.matches:
        if match.over and match.match not in recorded:
            yield f"the record is missing of {match.words}"
    for name in sorted(recorded - over.keys()):
        if any(match.match == name for match in bundle.matches):
            yield f"there is a record of {name}, which is not over"
        else:
            yield f"there is a record of {name}, which the tournament does not have"


def _seeds(bundle: Bundle) -> tuple[int | None, list[str]]:
    """Return the number of seeds derived from the tournament's, and sentences on the others."""
    seed = bundle.tournament.seed
    if seed is None:
        return None, []
    problems_of_seeds = [
        f"the seed of {match.words} does not follow from the tournament's"
        for match in bundle.matches
        if dealing.commitment(schedule.match_seed_of(seed, match.key)) != match.commitment
    ]
    return len(bundle.matches) - len(problems_of_seeds), problems_of_seeds


def _check_records(bundle: Bundle, report_progress: ReportProgress) -> Iterator[Finding]:
    over = [match for match in bundle.matches if match.over and match.match in bundle.records]
    tasks = (Task(bundle.spec(match), match.state, bundle.records[match.match]) for match in over)
    for done, finding in enumerate(process_pool.map_ordered(evidence.check, tasks, len(over)), 1):
        yield finding
        report_progress("matches played again", done, len(over))


def _strength_settings(stored: Mapping[str, Any], plan: TournamentPlan) -> StrengthSettings:
    """Return the settings with which the stored strengths were fitted.

    Only the weighting has changed since the first version. Other differences are findings.
    """
    settings = with_anchors(ladder_key.anchors_of(plan.settings))
    written = stored.get("strength")
    weighting = written.get("weighting") if isinstance(written, dict) else None
    return replace(settings, weighting="pairs") if weighting == "pairs" else settings


def _retrace(
    bundle: Bundle, results: dict[str, ClosedMatch], report_progress: ReportProgress
) -> Retraced:
    plan = bundle.tournament.plan
    return Retracing(
        format_of(plan),
        bundle.entries,
        bundle.matches,
        {name: match.games for name, match in results.items()},
        closed=bundle.tournament.state is TournamentState.CLOSED,
        in_series=plan.format == _IN_SERIES,
        strengths=bundle.strengths,
    ).retrace(lambda done: report_progress("matches paired again", done, len(bundle.matches)))


def _conclusion(
    bundle: Bundle, results: dict[str, ClosedMatch], retraced: Retraced
) -> Iterator[str]:
    """Yield the differences between the stored standings and those computed from the records."""
    if bundle.standings is None:
        yield "the standings are missing"
        return
    unknown = [
        match
        for match in bundle.matches
        if match.state is MatchState.CLOSED and match.match not in results
    ]
    if unknown:
        yield f"the standings cannot be computed again without the result of {unknown[0].words}"
        return
    plan = bundle.tournament.plan
    clip = presentation_of(plan.game).clip
    stored: Any = dict(bundle.standings)
    strength = _strength_settings(stored, plan)
    entrants = bundle.tournament.entrants
    # Smaller ladders are fitted without SciPy, so that they have all strengths.
    is_unfitted = "unfitted" in stored and len(entrants) > fit.MAX_DENSE_ENTRANTS
    known = KnownStrengths() if is_unfitted else None
    try:
        fitted = standings.of_matches(results.values(), clip, entrants, strength, known=known)
    except TooManyEntrants as error:
        yield f"the standings cannot be computed again: {error}"
        return
    computed: Any = conclude(plan, fitted.table, retraced.last)
    # Convert to the form in a file, where tuples are lists.
    stored, computed = json.loads(json.dumps(stored)), json.loads(json.dumps(computed))
    if retraced.last is None:
        stored.pop("decision", None)
        computed.pop("decision")
    if is_unfitted:
        stored, computed = map(without_strengths, (stored, computed))
    for clause in differences(stored, computed):
        yield f"standings: {clause}"
