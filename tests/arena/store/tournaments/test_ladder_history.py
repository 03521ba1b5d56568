"""Test the stored summaries of ladders: they never change what is paired."""

import random
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import Engine, delete, select, update

from arena.formats.contract import (
    FormatEntrant,
    FormatMatch,
    MatchStatus,
    NextMatches,
    WaitForMatches,
)
from arena.formats.ladder import LadderFormat
from arena.formats.ladder_summary import LadderSummary
from arena.formats.strength_estimate import estimate_many
from arena.ratings.closed_match import FINISHED, ClosedGame
from arena.store import schema
from arena.store.access.audit_log import COMMAND_LINE
from arena.store.bots import versions
from arena.store.database import reading, writing
from arena.store.matches import corrections, listing, transitions
from arena.store.tournaments import ladder_history, tournaments
from arena.store.tournaments.ladder_history import LadderHistory
from arena.tournaments import scheduler
from arena.tournaments.scheduler import Scheduler
from tests.arena.poke_plan import poke_plan


def entrant_list(count: int) -> list[FormatEntrant]:
    return [
        FormatEntrant(f"bot{number}@1", joined=0 if number < 6 else 3) for number in range(count)
    ]


def closed(fixture: FormatMatch, dice: random.Random) -> FormatMatch:
    order = list(range(1, len(fixture.entrants) + 1))
    dice.shuffle(order)
    games = tuple(
        ClosedGame(number, tuple(order), None, (FINISHED,) * len(order), (0,) * len(order))
        for number in range(2)
    )
    state = MatchStatus.VOID if dice.random() < 0.1 else MatchStatus.CLOSED
    closed_games = games if state is MatchStatus.CLOSED else ()
    return FormatMatch(fixture.round, fixture.number, fixture.entrants, state, closed_games)


def played_rounds(rules: LadderFormat, rounds: int) -> list[FormatMatch]:
    """Return all matches of some rounds of a ladder of eight bots."""
    dice = random.Random(5)
    matches: list[FormatMatch] = []
    for _ in range(rounds):
        step = rules.next(entrant_list(8), matches)
        assert isinstance(step, NextMatches)
        matches += [
            closed(FormatMatch(fixture.round, fixture.number, fixture.entrants), dice)
            for fixture in step.fixtures
        ]
    return matches


@pytest.mark.parametrize("sides", [2, 3])
def test_a_round_paired_from_a_stored_summary_is_the_same(sides: int) -> None:
    rules = LadderFormat(sides=sides, adaptive=50, placement=2)
    entrants, matches = entrant_list(8), played_rounds(rules, 12)
    expected = rules.next(entrants, matches)
    for first in range(11):
        summary = LadderSummary()
        summary.add(rules, entrants, [match for match in matches if match.round < first])
        read = LadderSummary.read(summary.stored(rules, entrants), rules, entrants)
        assert read == summary
        later = [match for match in matches if match.round >= first]
        assert rules.resume(entrants, read, later) == expected


def test_a_summary_of_other_settings_or_entrants_is_not_used() -> None:
    rules, entrants = LadderFormat(), entrant_list(8)
    summary = LadderSummary()
    summary.add(rules, entrants, played_rounds(rules, 3))
    data = summary.stored(rules, entrants)
    assert LadderSummary.read(data, LadderFormat(placement=3), entrants) is None
    assert LadderSummary.read(data, rules, entrants[::-1]) is None
    assert LadderSummary.read(data, rules, entrants[:7]) is None
    assert LadderSummary.read(data, rules, [*entrants, FormatEntrant("new@1", joined=9)]) == summary


@pytest.mark.parametrize("length", [0, 3, 4, 40])
def test_a_shortened_summary_is_not_used(length: int) -> None:
    rules, entrants = LadderFormat(), entrant_list(8)
    summary = LadderSummary()
    summary.add(rules, entrants, played_rounds(rules, 3))
    assert LadderSummary.read(summary.stored(rules, entrants)[:length], rules, entrants) is None


@given(place=st.integers(0, 10_000), bit=st.integers(0, 7))
def test_a_summary_with_a_changed_bit_is_not_used(place: int, bit: int) -> None:
    rules, entrants = LadderFormat(), entrant_list(8)
    summary = LadderSummary()
    summary.add(rules, entrants, played_rounds(rules, 1))
    data = bytearray(summary.stored(rules, entrants))
    data[place % len(data)] ^= 1 << bit
    assert LadderSummary.read(bytes(data), rules, entrants) is None


def test_many_entrants_have_the_same_estimates() -> None:
    rules = LadderFormat()
    summary = LadderSummary()
    summary.add(rules, entrant_list(8), played_rounds(rules, 30))
    columns = {
        number: (row.opponents, row.scores, row.games) for number, row in summary.scored.items()
    }
    expected = summary.strengths(())
    for number, estimate in estimate_many(8, columns).items():
        assert estimate.mean == pytest.approx(expected[summary.names[number]].mean, abs=1e-12)
        assert estimate.precision == pytest.approx(expected[summary.names[number]].precision)


@given(seed=st.integers(0, 1000), matches=st.integers(1, 200))
def test_entrants_that_have_not_met_do_their_steps_at_once(seed: int, matches: int) -> None:
    dice, rules = random.Random(seed), LadderFormat()
    entrants = [FormatEntrant(f"bot{number}@1") for number in range(30)]
    fixtures = [
        FormatMatch(0, number, tuple(each.name for each in dice.sample(entrants, 2)))
        for number in range(matches)
    ]
    summary = LadderSummary()
    summary.add(rules, entrants, [closed(fixture, dice) for fixture in fixtures])
    columns = {
        number: (row.opponents, row.scores, row.games) for number, row in summary.scored.items()
    }
    expected = summary.strengths(())
    estimated = estimate_many(30, columns)
    assert estimated.keys() == columns.keys()
    for number, estimate in estimated.items():
        assert estimate.mean == pytest.approx(expected[summary.names[number]].mean, abs=1e-12)
        assert estimate.precision == pytest.approx(expected[summary.names[number]].precision)


RULES = LadderFormat(batch=2)


def begin(store: Engine, settings: Mapping[str, int] | None = None) -> str:
    """Begin a ladder of four bots with two matches a round; return its id."""
    for bot in range(4):
        versions.add_version(store, f"bot{bot}", "1", f"{bot:064x}", f"/bots/{bot}", {"run": ["x"]})
    plan = poke_plan(name="open", options={}, format="ladder", settings=settings or {"batch": 2})
    return scheduler.begin(store, plan, [f"bot{bot}@1" for bot in range(4)]).id


def play(store: Engine, advancing: Scheduler, rounds: int) -> None:
    """Void the due matches of some rounds; a void match counts in the turns."""
    for _ in range(rounds):
        for match in transitions.due(store):
            transitions.void(store, match, "for a test")
        advancing.advance()


def stored_rows(store: Engine) -> list[int]:
    with reading(store) as connection:
        return list(connection.execute(select(schema.ladder_summaries.c.matches)).scalars())


def test_a_scheduler_that_starts_reads_only_what_the_stored_summary_lacks(
    store: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ladder_history, "FEWEST", 1)
    ladder = begin(store)
    play(store, Scheduler(store), 6)
    (summed,) = stored_rows(store)
    entries = tournaments.find_tournament(store, ladder).entries
    starting = LadderHistory(store, ladder, RULES)
    later = starting.matches(entries)
    every = LadderHistory(store, ladder, RULES)
    with writing(store) as connection:
        connection.execute(delete(schema.ladder_summaries))
    assert starting.summary.matches == summed > 0
    assert (
        len(later) + summed
        == len(every.matches(entries))
        == len(listing.matches(store, tournament=ladder))
    )


def test_a_summary_is_not_used_after_a_correction_or_for_other_matches(
    store: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ladder_history, "FEWEST", 1)
    ladder = begin(store)
    play(store, Scheduler(store), 6)
    entries = tournaments.find_tournament(store, ladder).entries
    with writing(store) as connection:
        table = schema.ladder_summaries
        connection.execute(update(table).values(matches=table.c.matches + 1))
    other = LadderHistory(store, ladder, RULES)
    other.matches(entries)
    assert other.summary == LadderSummary()
    play(store, Scheduler(store), 1)
    corrections.disqualify(store, ladder, "bot0@1", COMMAND_LINE, "for a test")
    corrected = LadderHistory(store, ladder, RULES)
    corrected.matches(tournaments.find_tournament(store, ladder).entries)
    assert corrected.summary == LadderSummary()


def test_old_rounds_are_summed_up_a_few_at_a_time(
    store: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    ladder = begin(store)
    advancing = Scheduler(store)
    play(store, advancing, 6)
    entries = tournaments.find_tournament(store, ladder).entries
    expected = scheduler.current_step(store, tournaments.find_tournament(store, ladder))
    monkeypatch.setattr(ladder_history, "MIN_OLD_MATCHES", 3)
    monkeypatch.setattr(ladder_history, "_MATCHES_AT_ONCE", 3)
    reading_anew = LadderHistory(store, ladder, RULES)
    later = reading_anew.matches(entries)
    assert reading_anew.summary.matches > 6
    assert RULES.resume(entries, reading_anew.summary, later) == expected


def test_a_scheduler_reads_a_long_ladder_in_several_calls_and_continues_after_a_start(
    store: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    ladder = begin(store)
    play(store, Scheduler(store), 6)
    for match in transitions.due(store):
        transitions.void(store, match, "for a test")
    expected = scheduler.current_step(store, tournaments.find_tournament(store, ladder))
    assert isinstance(expected, NextMatches)
    for name, value in {"MIN_OLD_MATCHES": 3, "_MATCHES_AT_ONCE": 3, "FEWEST": 1}.items():
        monkeypatch.setattr(ladder_history, name, value)
    monkeypatch.setattr(scheduler, "CATCH_UP_SECONDS", 0)
    counts = []
    while Scheduler(store).advance() == 0:
        counts += stored_rows(store)
    assert len(counts) >= 2
    assert counts == sorted(set(counts))
    due = [listing.find_match(store, match) for match in transitions.due(store)]
    assert [match.entrants for match in due] == [match.entrants for match in expected.fixtures]


def test_forgotten_summaries_are_stored_again(
    store: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ladder_history, "FEWEST", 1)
    ladder = begin(store)
    play(store, Scheduler(store), 4)
    ladder_history.delete_summaries(store, [ladder])
    assert stored_rows(store) == []
    play(store, Scheduler(store), 1)
    assert len(stored_rows(store)) == 1


@pytest.mark.parametrize("limit", [0, 7])
def test_a_ladder_waits_without_reading_its_matches_exactly_if_its_format_waits(
    store: Engine, limit: int
) -> None:
    ladder = begin(store, {"batch": 2, "limit": limit})
    rules = LadderFormat(batch=2, limit=limit)
    advancing, dice, waited = Scheduler(store), random.Random(3), []
    for _ in range(24):
        due = transitions.due(store)
        if due:
            transitions.void(store, dice.choice(due), "for a test")
        tournament = tournaments.find_tournament(store, ladder)
        reading_anew = LadderHistory(store, ladder, rules)
        step = rules.resume(
            tournament.entries, reading_anew.summary, reading_anew.matches(tournament.entries)
        )
        waited.append(reading_anew.is_waiting())
        assert waited[-1] == isinstance(step, WaitForMatches)
        advancing.advance()
    assert set(waited) == {True, False}
