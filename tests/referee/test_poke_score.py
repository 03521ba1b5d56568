"""Poke: the score of a deal, the leg and the rubber (docs/rules/poke.md, P-5, P-6)."""

from dataclasses import replace
from typing import Any

import pytest

from referee.games.poke import Poke
from tests.referee.action_texts import play, poke

HIGH = "AS KS QS JS 2C"
LOW = "9D 8D 7H 5D 3C"


def four_to_one(state: Any) -> Any:
    """Play a deal in which seat 0 leads HIGH against LOW, takes four tricks and loses the last."""
    for led in ("AS 9D", "KS 8D", "QS 7H", "JS 5D", "2C 3C"):
        lead, answer = led.split()
        state = play(state, f"lead {lead}", f"answer {answer}")
    return state


def for_hands(seat_0: str, seat_1: str) -> tuple[int, int]:
    """Return the score of the poker hands in a deal in which nobody drew."""
    state = play(poke(seat_0, seat_1, must_beat=False), "stand", "stand")
    while not state.deals:
        (seat,) = state.actors
        state = state.play({seat: next(iter(state.legal(seat)))})
    (deal,) = state.deals
    sweep = [250 if below == 5 else 0 for below in deal.below]
    return deal.above[0] - sweep[0], deal.above[1] - sweep[1]


def test_tricks_score_below_the_line_times_the_opponents_multiplier() -> None:
    """P-5.1, P-5.6: the check of the rules page."""
    state = poke("AS KS QS JS 4C", "9D 8D 7H 5D 6C", "6H 3C 2C", dealer=0)
    state = play(state, "draw 6C", "draw 6H", "draw 4C", "stand")
    assert state.multipliers == (1, 4)
    state = play(state, "lead 3C", "answer JS")
    state = play(state, "lead AS", "answer 9D", "lead KS", "answer 8D", "lead QS", "answer 7H")
    state = play(state, "lead 2C", "answer 5D")
    (deal,) = state.deals
    assert deal.below == (16, 1)
    assert deal.above == (0, 0)
    assert state.view(0).below == (16, 1)


def test_both_multipliers_count_each_for_the_other() -> None:
    """P-5.1."""
    state = poke("AS KS QS JS 4C", "9D 8D 7H 5D 6C", "4H 2C 6S 6H 3C", dealer=1)
    state = play(state, "draw 4C", "draw 4H", "draw 6C", "draw 6S", "draw 6H")
    assert state.multipliers == (4, 4)
    (deal,) = four_to_one(state).deals
    assert deal.below == (16, 4)


@pytest.mark.parametrize("must_beat", [True, False])
def test_all_five_tricks_score_250_above_the_line(must_beat: bool) -> None:
    """P-5.2."""
    state = play(poke("AS KS QS JS 9C", "8D 7H 5D 4D 2C", must_beat=must_beat), "stand", "stand")
    for led in ("AS 2C", "KS 4D", "QS 5D", "JS 7H", "9C 8D"):
        lead, answer = led.split()
        state = play(state, f"lead {lead}", f"answer {answer}")
    (deal,) = state.deals
    assert (deal.below, deal.above) == ((5, 0), (250, 0))


def test_the_one_who_did_not_lead_can_take_all_five() -> None:
    """P-5.2, P-5.6: nothing above the line is multiplied."""
    state = play(poke("8D 7H 5D 4D 2C", "AS KS QS JS 6C", "3H 3S"), "draw 5D", "draw 3H", "stand")
    state = play(state, "lead 2C", "answer 6C")
    for led in ("AS 3S", "KS 4D", "QS 7H", "JS 8D"):
        lead, answer = led.split()
        state = play(state, f"lead {lead}", f"answer {answer}")
    (deal,) = state.deals
    assert (deal.below, deal.above) == ((0, 20), (0, 250 + 100))


@pytest.mark.parametrize(
    ("hand", "points"),
    [
        ("AC KC 9D 5H 3S", 0),
        ("2C 2D 6H 8S TC", 50),
        ("2C 2D 3H 3S TC", 100),
        ("2C 2D 2S 8S TC", 200),
        ("AC 2D 3H 4S 5C", 300),
        ("TC JC QD KC AC", 300),
        ("2C 3C 4C 5C 7C", 400),
        ("2C 2D 2S 8S 8C", 500),
        ("2C 2D 2H 2S 8C", 600),
        ("AC 2C 3C 4C 5C", 750),
        ("9H TH JH QH KH", 750),
        ("TS JS QS KS AS", 1000),
    ],
)
def test_the_better_hand_alone_scores(hand: str, points: int) -> None:
    """P-5.3, P-5.4."""
    left = (c for c in ("KS", "QH", "9S", "8H", "4S", "3D") if c not in hand)
    worse = " ".join(c for c, _ in zip(left, range(5), strict=False))
    assert for_hands(hand, worse) == (points, 0)
    assert for_hands(worse, hand) == (0, points)


@pytest.mark.parametrize(
    ("seat_0", "seat_1", "points"),
    [
        ("TS JS QS KS AS", "9H TH JH QH KH", (1000, 0)),  # the worse hand scores nothing
        ("2C 2D 2H 2S 8C", "3C 3D 3H 3S 4C", (0, 600)),
        ("9C 9D AH 7S 3C", "9H 9S AC 7D 2D", (50, 0)),  # compared to the last card
        ("9C 9D AH 7S 3C", "9H 9S AC 7D 4D", (0, 50)),
        ("9C 9D AH 7S 3C", "9H 9S AC 7D 3D", (0, 0)),  # equal hands
        ("TS JS QS KS AS", "TH JH QH KH AH", (0, 0)),
    ],
)
def test_hands_of_one_category_are_compared(
    seat_0: str, seat_1: str, points: tuple[int, int]
) -> None:
    """P-5.3, P-5.4, P-5.5."""
    assert for_hands(seat_0, seat_1) == points


def test_the_hand_counts_independently_of_its_tricks() -> None:
    """P-5.3."""
    state = play(poke("2C 2D 6H 8S TC", "3D 7D JS KD AH"), "stand", "stand")
    for led in ("lead 2C", "answer 3D", "lead AH", "answer 2D", "lead KD", "answer 6H"):
        state = play(state, led)
    state = play(state, "lead JS", "answer TC", "lead 7D", "answer 8S")
    (deal,) = state.deals
    assert deal.below == (1, 4)
    assert deal.above == (50, 0)


def test_the_hand_that_counts_is_the_one_after_the_draw() -> None:
    """P-5.3."""
    state = play(poke("2C 2D 6H 8S TC", "3D 7D JS KD AH", "5C"), "draw 2C", "stand", "stand")
    while not state.deals:
        (seat,) = state.actors
        state = state.play({seat: next(iter(state.legal(seat)))})
    assert state.deals[0].above[0] == 0


def after_a_deal(below: tuple[int, int], **more: tuple[int, int]) -> Any:
    """Return the position after a deal that gave 4 and 1 below the line, and nothing above it."""
    before = replace(play(poke(HIGH, LOW), "stand", "stand"), below=below, **more)
    return four_to_one(before)


@pytest.mark.parametrize(
    ("before", "below", "legs", "above"),
    [
        # Below the line and legs before the deal; the same and the points above the line after it.
        (((15, 18), (0, 0)), (19, 19), (0, 0), (0, 0)),  # the leg goes on below 20
        (((16, 0), (0, 0)), (0, 0), (1, 0), (100, 0)),  # 20 win the leg
        (((20, 20), (0, 0)), (0, 0), (1, 0), (100, 0)),  # the higher of both: 24 and 21
        (((17, 21), (0, 0)), (0, 0), (0, 1), (0, 100)),
        (((10, 19), (0, 0)), (0, 0), (0, 1), (0, 100)),  # with fewer tricks in this deal
        (((16, 19), (0, 0)), (20, 20), (0, 0), (0, 0)),  # equal totals: the leg goes on
        (((30, 33), (0, 0)), (34, 34), (0, 0), (0, 0)),
        (((16, 0), (0, 1)), (0, 0), (1, 1), (100, 0)),  # one leg each does not end the rubber
        (((16, 0), (1, 0)), (0, 0), (2, 0), (100 + 750, 0)),  # the second leg ends it
        (((16, 18), (1, 0)), (0, 0), (2, 0), (100 + 750, 0)),  # points left do not count
        (((16, 0), (1, 1)), (0, 0), (2, 1), (100 + 500, 0)),
        (((0, 20), (1, 1)), (0, 0), (1, 2), (0, 100 + 500)),
    ],
)
def test_a_leg_and_a_rubber_end_as_in_the_rules(
    before: tuple[tuple[int, int], tuple[int, int]],
    below: tuple[int, int],
    legs: tuple[int, int],
    above: tuple[int, int],
) -> None:
    """P-1.4, P-6.1, P-6.2, P-6.3, P-6.4: also the checks of the rules page."""
    state = after_a_deal(before[0], legs=before[1])
    assert (state.below, state.legs, state.above) == (below, legs, above)
    is_over = 2 in legs
    assert (state.phase, len(state.actors)) == ("over" if is_over else "draw", int(not is_over))
    assert (state.deals[-1].below, state.deals[-1].above) == ((4, 1), above)


@pytest.mark.parametrize(
    ("above", "scores", "places"),
    [
        ((150 + 100, 1250 + 100), (850, 1350), (2, 1)),  # the winner of the rubber loses
        ((0, 600), (600, 600), (1, 1)),
    ],
)
def test_the_higher_total_wins_the_game(
    above: tuple[int, int], scores: tuple[int, int], places: tuple[int, int]
) -> None:
    """P-6.4, P-6.5: 850 and 1350 is the check of the rules page."""
    state = after_a_deal((16, 0), legs=(1, 1), above=above)
    assert (state.scores, state.actors) == (scores, ())
    assert Poke().outcome(state, (0, 1)).places == places


def test_totals_and_finished_deals_are_public() -> None:
    """P-7.1."""
    state = after_a_deal((16, 0))
    for seat in (0, 1):
        view = state.view(seat)
        assert (view.deal, view.below, view.above, view.legs) == (1, (0, 0), (100, 0), (1, 0))
        (deal,) = view.deals
        assert (deal.dealer, deal.below, deal.above) == (1, (4, 1), (100, 0))
        assert [(drawn.seat, drawn.cards) for drawn in deal.drawn] == [(0, 0), (1, 0)]
        assert [trick.lead for trick in deal.tricks] == [
            ("AS",),
            ("KS",),
            ("QS",),
            ("JS",),
            ("2C",),
        ]
