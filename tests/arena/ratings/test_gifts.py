"""Test the search for gifts at tables of three and more: false alarms, and detected gifts."""

import random
from collections.abc import Callable, Sequence
from itertools import combinations
from math import erfc, exp, sqrt

import pytest

from arena.formats.round_robin import round_robin, seatings
from arena.ratings.closed_match import FINISHED, ClosedMatch, PlayedGame
from arena.ratings.collusion import Gift, gifts
from tests.examples import examples

Favour = Callable[[Sequence[str]], dict[str, float]]
"""Return the changes of strength at a table, by name."""
STRENGTHS = {f"bot{number}@1": 0.25 * number for number in range(8)}


def nobody(_: Sequence[str]) -> dict[str, float]:
    return {}


def giving(giver: str, taker: str, cost: float, gain: float) -> Favour:
    def favour(names: Sequence[str]) -> dict[str, float]:
        return {giver: -cost, taker: gain} if giver in names and taker in names else {}

    return favour


def places(strengths: Sequence[float], luck: random.Random) -> tuple[int, ...]:
    """Draw places from the Plackett-Luce model."""
    # The order of exponential times with these rates has this distribution.
    times = [luck.expovariate(exp(strength)) for strength in strengths]
    return tuple(sorted(times).index(time) + 1 for time in times)


def tournament(
    seed: int, favour: Favour, sides: int = 4, boards: int = 2, cycles: int = 1
) -> list[ClosedMatch]:
    """Play a round robin of eight over mirrored boards, with random luck per board and seat."""
    luck = random.Random(seed)
    names = list(STRENGTHS)
    matches = []
    for number, pairing in enumerate(round_robin(len(names), sides, cycles)):
        table = tuple(names[entrant] for entrant in pairing.entrants)
        favoured = favour(table)
        strengths = [STRENGTHS[name] + favoured.get(name, 0.0) for name in table]
        cards = [[luck.gauss(0, 1) for _ in table] for _ in range(boards)]
        games = []
        for turn, seating in enumerate(seatings(sides)):
            for board in range(boards):
                by_seat = [strengths[seating[seat]] + cards[board][seat] for seat in range(sides)]
                ended = places(by_seat, luck)
                by_entrant = tuple(ended[seating.index(entrant)] for entrant in range(sides))
                games.append(
                    PlayedGame(
                        turn * boards + board, by_entrant, None, (FINISHED,) * sides, (0,) * sides
                    )
                )
        matches.append(ClosedMatch(f"m{number}", pairing.round, number, table, tuple(games)))
    return matches


def alone(gift: Gift) -> float:
    """Return the p-value of one pair, not corrected for the number of pairs."""
    return erfc(gift.z / sqrt(2)) / 2


def null(sides: int, runs: int) -> tuple[list[float], int]:
    """Simulate tournaments without gifts.

    Returns all uncorrected p-values, and the number of tournaments with a line below 0.05.
    """
    chances, marked = [], 0
    for seed in range(runs):
        ranked = gifts(tournament(seed, nobody, sides, cycles=2 if sides == 3 else 1))
        assert len(ranked) == 8 * 7
        chances += [alone(gift) for gift in ranked]
        marked += ranked[0].chance < 0.05
    return chances, marked


def test_without_giving_p_values_are_uniform() -> None:
    chances, marked = null(4, 40)
    for level in (0.05, 0.25, 0.5, 0.75, 0.95):
        share = sum(chance < level for chance in chances) / len(chances)
        assert abs(share - level) < 0.03
    assert marked <= 6


@pytest.mark.long
@pytest.mark.parametrize(
    "sides", [3, *(pytest.param(n, marks=pytest.mark.repetition) for n in (4, 5))]
)
def test_without_giving_gains_follow_the_null_distribution(sides: int) -> None:
    runs = examples(500, 150)
    chances, marked = null(sides, runs)
    for level in (0.001, 0.01, 0.05, 0.25, 0.5, 0.75, 0.95):
        share = sum(chance < level for chance in chances) / len(chances)
        # Lines of one tournament are correlated, so the limit is three errors of a tenth of the
        # lines.
        assert abs(share - level) < 3 * sqrt(level * (1 - level) / (len(chances) / 10))
    assert marked / runs < 0.05 + 3 * sqrt(0.05 * 0.95 / runs)


@pytest.mark.parametrize("cost", [0.0, 0.8])
def test_giver_and_taker_are_identified(cost: float) -> None:
    ranked = gifts(tournament(1, giving("bot5@1", "bot2@1", cost, 0.8), cycles=4))
    first, second = ranked[:2]
    assert (first.giver, first.taker) == ("bot5@1", "bot2@1")
    assert first.chance < 0.01 < second.chance
    assert first.gain > 0.05


def test_mutual_gifts_are_reported_in_both_directions() -> None:
    ranked = gifts(tournament(2, giving("bot6@1", "bot1@1", -0.7, 0.7), cycles=4))
    marked = {(gift.giver, gift.taker) for gift in ranked if gift.chance < 0.01}
    assert marked == {("bot6@1", "bot1@1"), ("bot1@1", "bot6@1")}


def test_strength_alone_is_not_reported() -> None:
    strong = {"bot0@1": 2.0, "bot1@1": 2.0}
    ranked = gifts(tournament(3, lambda _: strong, cycles=4))
    assert ranked[0].chance > 0.05


def test_a_gain_against_the_giver_is_not_a_gift() -> None:
    # A bot that is always last gives every opponent a win, but no place that a third bot had.
    ranked = gifts(tournament(4, lambda _: {"bot0@1": -10.0}, cycles=4))
    assert ranked[0].chance > 0.05


def test_pairs_that_always_or_rarely_meet_are_not_judged() -> None:
    matches = tournament(5, nobody, cycles=3)
    together = [m for m in matches if {"bot0@1", "bot1@1"} <= set(m.entrants)]
    apart = [m for m in matches if not {"bot0@1", "bot1@1"} & set(m.entrants)]
    judged = {(gift.giver, gift.taker) for gift in gifts(together + apart)}
    assert ("bot0@1", "bot1@1") not in judged
    assert ("bot2@1", "bot3@1") in judged


def test_matches_of_two_sides_have_no_gifts() -> None:
    matches = [
        ClosedMatch(
            f"m{number}",
            number,
            0,
            pair,
            (PlayedGame(0, (1, 2), None, (FINISHED, FINISHED), (0, 0)),),
        )
        for number, pair in enumerate(list(combinations(STRENGTHS, 2)) * 10)
    ]
    assert gifts(matches) == ()


def test_the_order_of_matches_does_not_matter() -> None:
    matches = tournament(6, nobody)
    assert gifts(matches) == gifts(matches[::-1])
