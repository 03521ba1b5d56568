"""Test that a schedule is rebuilt from its format, whatever the results and their order."""

import random
from collections.abc import Callable, Mapping
from dataclasses import replace

import pytest

from arena.formats import registry
from arena.formats.contract import FormatEntrant, FormatMatch, FormatOver, MatchStatus
from arena.records.bundle.audit import Retraced, Retracing
from arena.records.bundle.bundle import Scheduled
from arena.store.schema import MatchState
from tests.arena.formats.simulated_tournament import SimulatedTournament, everyone

STATES: Mapping[MatchStatus, MatchState] = {
    MatchStatus.OPEN: MatchState.PENDING,
    MatchStatus.CLOSED: MatchState.CLOSED,
    MatchStatus.VOID: MatchState.VOID,
}
FORMATS: dict[str, dict[str, object]] = {
    "round-robin": {},
    "gauntlet": {"challengers": 2},
    "swiss": {"rounds": 5},
    "knockout": {"best_of": 3},
    "ladder": {"limit": 60, "batch": 3},
    "sprt": {"batch": 3, "limit": 40, "high": 50.0},
}


def playing(name: str, seed: int, bots: int = 7) -> SimulatedTournament:
    bots = 2 if name == "sprt" else bots
    strength = {entrant.name: 0.4 * place for place, entrant in enumerate(everyone(bots + 3))}
    return SimulatedTournament(
        registry.make(name, 2, FORMATS[name]),
        everyone(bots),
        seed=seed,
        dice=random.Random(seed),
        strength=lambda entrant: strength.get(entrant, 0.0),
        void=0.05,
    )


def run_tournament(tournament: SimulatedTournament, name: str, limit: int = 300) -> bool:
    """Run a tournament in which matches end in random order and bots join and leave.

    Return whether it ended within this number of steps.
    """
    for turn in range(limit):
        step = tournament.ask()
        if isinstance(step, FormatOver) and not tournament.opened():
            return True
        # Some matches end before the next step of the format.
        for _ in range(tournament.dice.randrange(1, 5)):
            if opened := tournament.opened():
                tournament.close(tournament.dice.choice(opened))
        if tournament.dice.random() < 0.05:
            leave(tournament, tournament.dice.randrange(len(tournament.entrants)))
        if (
            name not in registry.CLOSED
            and tournament.dice.random() < 0.04
            and len(tournament.entrants) < 12
        ):
            tournament.join(f"new{turn}@1")
    return False


def leave(tournament: SimulatedTournament, place: int) -> None:
    """Withdraw an entrant and void most of its open matches, as the store voids unstarted ones."""
    if tournament.entrants[place].withdrawn is None:
        tournament.withdraw(place)
        for open_match in tournament.opened():
            match = tournament.matches[open_match]
            if tournament.entrants[place].name in match.entrants and tournament.dice.random() < 0.7:
                tournament.matches[open_match] = replace(match, state=MatchStatus.VOID)


def schedule(tournament: SimulatedTournament) -> list[Scheduled]:
    why = {(fixture.round, fixture.number): fixture.why for fixture in tournament.fixtures}
    return [
        listed(match, why[match.place])
        for match in sorted(tournament.matches, key=lambda m: m.place)
    ]


def listed(match: FormatMatch, why: str = "") -> Scheduled:
    name = f"m-{match.round}/{match.number}"
    state = STATES[match.state]
    closed = 0 if match.games else None
    return Scheduled(
        match=name,
        key="",
        round=match.round,
        number=match.number,
        why=why,
        entrants=match.entrants,
        commitment="",
        state=state,
        reason="because",
        attempts=1,
        closed=closed,
    )


def retrace(
    tournament: SimulatedTournament, name: str, matches: list[Scheduled], *, closed: bool = True
) -> Retraced:
    results = {f"m-{m.round}/{m.number}": m.games for m in tournament.matches if m.games}
    entries: list[FormatEntrant] = list(tournament.entrants)
    return Retracing(
        tournament.format,
        entries,
        matches,
        results,
        closed=closed,
        in_series=name == "knockout",
        strengths=tournament.strengths,
    ).retrace()


@pytest.mark.parametrize(
    "seed", [0, 1, 2, *(pytest.param(seed, marks=pytest.mark.long) for seed in range(3, 12))]
)
@pytest.mark.parametrize("name", FORMATS)
def test_an_unchanged_schedule_is_retraced(name: str, seed: int) -> None:
    tournament = playing(name, seed)
    over = run_tournament(tournament, name)
    retracing = retrace(tournament, name, schedule(tournament), closed=over)
    assert retracing.problems == ()
    assert retracing.last == tournament.format.next(tournament.entrants, tournament.matches)
    assert isinstance(retracing.last, FormatOver) is over


@pytest.mark.parametrize("name", FORMATS)
def test_a_missing_match_is_reported(name: str) -> None:
    tournament = playing(name, 1)
    over = run_tournament(tournament, name)
    every = schedule(tournament)
    assert over
    for place in range(0, len(every), 1 + len(every) // 12):
        left = every[:place] + every[place + 1 :]
        retracing = retrace(tournament, name, left)
        # An SPRT that has decided does not need its remaining open matches.
        drained = (
            isinstance(retracing.last, FormatOver) and name == "sprt" and retracing.problems == ()
        )
        assert drained or retracing.problems


@pytest.mark.parametrize("name", FORMATS)
def test_a_match_of_other_entrants_is_reported(name: str) -> None:
    tournament = playing(name, 2)
    over = run_tournament(tournament, name)
    every = schedule(tournament)
    assert over
    for place in range(0, len(every), 1 + len(every) // 12):
        pair = every[place].entrants
        forged = replace(every[place], entrants=pair[::-1])
        retracing = retrace(tournament, name, [*every[:place], forged, *every[place + 1 :]])
        assert forged.words in retracing.problems[0]


@pytest.mark.parametrize("name", FORMATS)
def test_a_partial_step_of_a_running_tournament_is_reported(name: str) -> None:
    tournament = playing(name, 3)
    over = run_tournament(tournament, name, limit=2)
    assert not over
    every = schedule(tournament)
    assert retrace(tournament, name, every, closed=False).problems == ()
    if name != "knockout":
        assert "is missing" in retrace(tournament, name, every[1:], closed=False).problems[0]
    assert retrace(tournament, name, every).problems


@pytest.mark.parametrize(
    ("forge", "is_reported"),
    [
        (lambda used: dict(list(used.items())[1:]), True),
        (lambda used: used | {"new@1": 1200}, True),
        (lambda used: {name: value + 2 for name, value in used.items()}, True),
        (lambda used: {name: value + 1 for name, value in used.items()}, False),
    ],
)
def test_strengths_that_do_not_follow_from_the_results_are_reported(
    forge: Callable[[dict[str, int]], dict[str, int]], is_reported: bool
) -> None:
    """The last digits differ between machines, so a step up or down is accepted."""
    tournament = playing("ladder", 1)
    run_tournament(tournament, "ladder")
    number, used = list(tournament.strengths.items())[-1]
    tournament.strengths[number] = replace(used, values=forge(dict(used.values)))
    problems = retrace(tournament, "ladder", schedule(tournament)).problems
    assert bool(problems) is is_reported
    assert all(problem.startswith(f"round {number} ") for problem in problems)


def test_missing_and_further_strengths_are_reported() -> None:
    tournament = playing("ladder", 1)
    run_tournament(tournament, "ladder")
    number, used = list(tournament.strengths.items())[-1]
    del tournament.strengths[number]
    assert f"round {number}" in retrace(tournament, "ladder", schedule(tournament)).problems[0]
    tournament.strengths |= {number: used, number + 7: used}
    (problem,) = retrace(tournament, "ladder", schedule(tournament)).problems
    assert f"round {number + 7} " in problem


def test_the_schedule_can_be_followed_to_the_first_unknown_result() -> None:
    tournament = playing("swiss", 4)
    assert run_tournament(tournament, "swiss")
    every = schedule(tournament)
    results = {f"m-{m.round}/{m.number}": m.games for m in tournament.matches if m.games}
    unknown = next(match for match in every if match.round == 2 and match.match in results)
    del results[unknown.match]
    retracing = Retracing(
        tournament.format, tournament.entrants, every, results, closed=True, in_series=False
    ).retrace()
    assert retracing.problems == (
        f"the schedule cannot be followed beyond {unknown.words}, whose result is unknown",
    )
