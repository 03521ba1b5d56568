"""Pokex: the score, the end, and the information of a seat (docs/rules/pokex.md, X-7 and X-8)."""

import re
from pathlib import Path
from typing import Any

import pytest

from referee.game_checks.random_games import texts_in
from referee.games.pokex import Pokex
from referee.games.pokex.state import declared, is_over, score_deal, triangle
from referee.games.shared.dealing import Seeded
from tests.referee.action_texts import listed, play, pokex
from tests.referee.test_pokex_tricks import HANDS, TWELVE, TWO, four, lowest

PAGE = Path(__file__).parents[2] / "docs" / "rules" / "pokex.md"

TABLE = {
    0: "0 0 0 0 0 0",
    1: "1 0 0 0 0 0",
    2: "2 3 0 0 0 0",
    3: "3 5 6 0 0 0",
    4: "4 7 9 10 0 0",
    5: "5 9 12 14 15 0",
    6: "6 11 15 18 20 21",
}
"""Points of the declarer's side: a row for the tricks taken, a column for the bid."""


@pytest.mark.parametrize("tricks", range(7))
def test_the_declarer_scores_by_the_table(tricks: int) -> None:
    """X-7.2."""
    assert " ".join(str(declared(bid, tricks)) for bid in range(1, 7)) == TABLE[tricks]


def test_the_score_table_matches_the_page() -> None:
    """X-7.2."""
    rows = re.findall(r"^  \| (\d) \| (.*) \|$", PAGE.read_text(), flags=re.MULTILINE)
    assert {int(took): row.replace(" | ", " ") for took, row in rows} == TABLE


def test_the_defenders_score_for_each_trick_one_more_than_for_the_one_before() -> None:
    """X-7.1."""
    assert [triangle(tricks) for tricks in range(7)] == [0, 1, 3, 6, 10, 15, 21]


@pytest.mark.parametrize(
    ("bid", "declarer", "taken", "points"),
    [
        (2, 0, (5, 1), (9, 1)),
        (3, 0, (2, 4), (0, 10)),
        (3, 2, (2, 4), (0, 10)),
        (3, 1, (4, 2), (10, 0)),
        (3, 3, (2, 4), (3, 9)),
        (6, 1, (0, 6), (0, 21)),
        (0, 0, (4, 2), (10, 3)),
        (0, 0, (0, 1), (0, 1)),
        (0, 0, (0, 0), (0, 0)),
    ],
)
def test_a_deal_is_scored_by_sides(
    bid: int, declarer: int, taken: tuple[int, int], points: tuple[int, int]
) -> None:
    """X-7.1, X-7.2, X-7.3."""
    assert score_deal(bid, declarer, taken) == points


def at(points: tuple[int, int], seats: int = 4) -> Any:
    """Return a game with these totals before the last trick of a deal without a declarer."""
    state: Any = pokex(*HANDS) if seats == 4 else pokex(*TWO, centre=TWELVE)
    state = play(state.but(points=points), *["pass"] * seats)
    return lowest(state, 5 * (seats if seats == 4 else 6))


@pytest.mark.parametrize("seats", [2, 4])
def test_the_game_ends_only_after_a_whole_deal(seats: int) -> None:
    """X-7.5, X-7.4."""
    state = at((32, 20), seats)
    assert state.actors
    assert state.scores == (32, 20) * (seats // 2)
    taken = state.taken
    state = lowest(state, seats if seats == 4 else 6)
    gained = [now - then for now, then in zip(state.points, (32, 20), strict=True)]
    assert sum(state.deals[-1].taken) >= sum(taken)
    assert gained == [triangle(tricks) for tricks in state.deals[-1].taken]
    assert state.actors == ()
    assert state.scores == state.points * (seats // 2)


@pytest.mark.parametrize(
    ("points", "over"),
    [
        ((33, 0), True),
        ((32, 31), False),
        ((40, 33), True),
        ((33, 33), False),
        ((41, 41), False),
        ((41, 42), True),
        ((0, 33), True),
    ],
)
def test_a_side_wins_with_33_points_and_more_than_the_other(
    points: tuple[int, int], over: bool
) -> None:
    """X-7.5."""
    assert is_over(points) is over


def test_totals_that_are_equal_are_broken_by_another_deal() -> None:
    """X-7.5."""
    state = at((33, 33))
    gave = lowest(state, 4).deals[-1].points
    tied = at((33 + gave[1], 33 + gave[0]))
    after = lowest(tied, 4)
    assert after.points[0] == after.points[1] > 33
    assert after.phase == "bid"
    assert after.view(0).deal == 1


def test_more_points_win_and_partners_share_their_place() -> None:
    """X-7.4, X-7.6."""
    state = lowest(at((40, 0)), 4)
    outcome = Pokex().outcome(state, (0, 1, 0, 1))
    assert outcome.places == (1, 2, 1, 2)
    assert outcome.scores == state.points * 2


def test_tricks_and_earlier_deals_are_public() -> None:
    """X-8.1."""
    state = lowest(four("bid 6", "name 7"), 4)
    for seat in range(4):
        view = state.view(seat)
        assert view.wild_rank == "7"
        assert [play.seat for play in view.tricks[0].played] == [3, 0, 1, 2]
        assert all(len(play.cards) == 2 for play in view.tricks[0].played)
    state = lowest(state, 20)
    for seat in range(4):
        (deal,) = state.view(seat).deals
        assert (deal.dealer, deal.bid, deal.declarer, deal.wild_rank) == (3, 6, 0, "7")
        assert [call.tricks for call in deal.auction] == [6]
        assert len(deal.tricks) == sum(deal.taken) == 6
        assert state.view(seat).points == deal.points


def test_a_seat_sees_only_its_hand() -> None:
    """X-8.2."""
    state = four()
    for seat, hand in enumerate(HANDS):
        view = state.view(seat)
        assert texts_in(view.hand) == set(hand.split())
        assert texts_in(view) & set(" ".join(HANDS).split()) == set(hand.split())


def test_the_six_that_are_set_aside_are_never_shown() -> None:
    """X-8.3."""
    state: Any = Pokex().start(Seeded(bytes(32)), 2)
    while state.actors and not state.deals:
        for seat in (0, 1):
            assert not texts_in(state.view(seat)) & set(state.aside)
        state = state.play({state.actors[0]: listed(state)[-1]})
