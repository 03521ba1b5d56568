"""Pokino: playing runs (docs/rules/pokino.md, K-2, K-5, K-7, K-13)."""

import pytest

from referee.games.contract import IllegalAction
from referee.games.pokino.actions import Run
from referee.games.pokino.runs import LISTED, NUMBER, points
from tests.referee.pokino_table import action, is_legal, listed, play, rich, started, with_table

TWO = "8S 8H 8C TS TH"
ROUND = "0,0 1,0 1,1 0,1 0,0"


def test_cards_match_the_numbers_of_their_ranks() -> None:
    """K-5.2."""
    ranks = {"K": 0, "A": 1, "T": 10, "J": 11, "Q": 12} | {str(n): n for n in range(2, 10)}
    for card, number in NUMBER.items():
        assert number == ranks[card[0]]
    assert len(NUMBER) == 52


def test_the_example_of_the_spoke() -> None:
    """K-5.1, K-5.3, K-5.4: 6 4 A Q 6 is a run of five cards, four borders; it needs two sixes."""
    state = rich(started("6S 4D AC QH 6C", TWO))
    assert is_legal(state, f"run 6S 4D AC QH 6C along {ROUND}")
    assert is_legal(state, f"run 6C 4D AC QH 6S along {ROUND}")
    assert not is_legal(state, f"run 6S 4D AC QH 6S along {ROUND}")
    after = play(
        state.but(hands=(("6S", "6C", "4D", "AC", "QH", "9S"), state.hands[1])),
        f"run 6S 4D AC QH 6C along {ROUND}",
    )
    assert after.layout.ground.borders == {}
    assert len(after.layout.tokens) == 4
    assert after.scores[0] == 10


def test_a_run_is_two_cards_or_more_that_match_in_order() -> None:
    """K-5.1, K-5.2, K-13.4."""
    state = rich(started("6S 4D AC QH 9C", TWO))
    assert is_legal(state, "run 6S 4D along 0,0 1,0")
    for illegal in (
        "run 6S along 0,0",
        "run along",
        "run 4D 6S along 0,0 1,0",
        "run 6S 4D AC along 0,0 1,0",
        "run 6S along 0,0 1,0",
        "run 6S 9C along 0,0 1,0",
        "run 6H 4D along 0,0 1,0",  # not held
        "run 6S 4D along 0,0 5,5",
        "run 6S 6S along 0,0 0,0",
        "run 6S AC along 0,0 1,1",  # a corner
        "run 6S 4D along 0,0 1000000,0",
    ):
        assert not is_legal(state, illegal), illegal
        with pytest.raises(IllegalAction):
            play(state, illegal)


def test_the_middle_of_a_domino_is_not_a_step() -> None:
    """K-5.3, K-2.2."""
    state = rich(started("6S KD 4D 5H 9C", TWO))
    assert not is_legal(state, "run 6S KD along 0,0 -1,0")
    assert not is_legal(state, "run KD 6S 4D along -1,0 0,0 1,0")
    assert is_legal(state, "run 6S 4D along 0,0 1,0")


def test_a_run_and_its_reverse_are_two_actions_and_so_are_other_cards_of_a_rank() -> None:
    """K-13.3."""
    state = rich(started("6S 6D 4D 9H 9C", TWO))
    runs = listed(state, Run)
    assert {(run.cards, len(run.path)) for run in runs} >= {
        (("6S", "4D"), 2),
        (("4D", "6S"), 2),
        (("6D", "4D"), 2),
        (("4D", "6D"), 2),
    }
    assert len(runs) == 4
    assert state.legal(0).complete


def test_a_run_costs_a_bead_a_card() -> None:
    """K-5.5: a run of three with two beads is refused."""
    state = started("6S 4D AC QH 9C", TWO).but(beads=(2, 1))
    assert not is_legal(state, "run 6S 4D AC along 0,0 1,0 1,1")
    assert is_legal(state, "run 6S 4D along 0,0 1,0")
    state = state.but(beads=(3, 1))
    assert play(state, "run 6S 4D AC along 0,0 1,0 1,1").beads == (0, 1)


def test_its_borders_are_closed_to_all_its_owner_included() -> None:
    """K-2.3, K-5.6: after a run of three is paid, its two borders are closed."""
    state = rich(started("6S 4D AC QH 9C", "6C 4C AD QD 9D", deck="6H 4H AH"))
    after = play(state, "run 6S 4D AC along 0,0 1,0 1,1")
    assert "6S" not in after.hands[0]
    assert after.runs[0].seat == 0
    assert after.runs[0].cards == ("6S", "4D", "AC")
    assert [(t.x, t.y, t.second_x, t.second_y) for t in after.layout.tokens] == [
        (0, 0, 1, 0),
        (1, 0, 1, 1),
    ]
    assert not is_legal(after, "run 6C 4C along 0,0 1,0")
    assert not is_legal(after, "run 4C AD along 1,0 1,1")
    assert is_legal(after, "run AD QD along 1,1 0,1")
    again = play(after, "pass")
    assert again.turn == 0
    assert not is_legal(
        again.but(hands=(("6H", "4H", "9C"), again.hands[1])), "run 6H 4H along 0,0 1,0"
    )


def test_a_border_is_crossed_once_in_a_run() -> None:
    """K-5.4."""
    state = rich(started("6S 6C 4D 4C 9C", TWO))
    assert not is_legal(state, "run 6S 4D 6C along 0,0 1,0 0,0")
    assert not is_legal(state, "run 6S 4D 6C 4C along 0,0 1,0 0,0 1,0")


def test_squares_and_dominoes_can_be_repeated() -> None:
    """K-5.4: the borders of one square, crossed one after the other, with a card each time."""
    laid = ("3-8 at 0,0 up", "4-8 at 1,0 right", "5-8 at 0,1 down", "4-5 at 1,1 right")
    state = rich(with_table(started("3S 3C 4D 5C 4H", TWO), *laid))
    assert is_legal(state, "run 3S 4D 4H 5C 3C along 0,0 1,0 1,1 0,1 0,0")


def test_two_dominoes_may_have_two_borders() -> None:
    """K-2.2."""
    state = rich(with_table(started("2S 3C 4D 5C 9H", TWO), "2-3 at 0,0 right", "4-5 at 0,1 right"))
    assert is_legal(state, "run 2S 4D along 0,0 0,1")
    after = play(state, "run 2S 4D along 0,0 0,1", "pass")
    assert is_legal(after, "run 3C 5C along 1,0 1,1")


@pytest.mark.parametrize(
    ("cards", "scored"),
    [
        (2, 5),
        (3, 5),
        (4, 5),
        (5, 10),
        (6, 15),
        (7, 20),
        (8, 35),
        (9, 55),
        (10, 90),
        (11, 90),
        (26, 90),
    ],
)
def test_points_by_length(cards: int, scored: int) -> None:
    """K-7.1."""
    assert points(cards) == scored


def test_the_score_is_the_sum_of_the_runs() -> None:
    """K-7.1, K-7.2."""
    state = rich(started("6S 4D AC QH 9C", TWO))
    after = play(state, "run 6S 4D along 0,0 1,0", "pass", "run AC QH along 1,1 0,1")
    assert after.scores == (10, 0)
    assert after.place_keys == ((0, 10), (0, 0))


def test_runs_are_listed_from_the_shortest_up_after_the_dominoes() -> None:
    """K-13.6."""
    state = rich(started("6S 4D AC QH 6C", TWO))
    kinds = [type(a) for a in listed(state)]
    assert kinds == sorted(
        kinds, key=lambda kind: ["PassTurn", "Domino", "Run"].index(kind.__name__)
    )
    lengths = [len(run.cards) for run in listed(state, Run)]
    assert lengths == sorted(lengths)
    assert set(lengths) == {2, 3, 4, 5}


def test_a_long_list_of_runs_is_marked_as_a_sample() -> None:
    """K-13.7."""
    state = rich(started("6S 4D AC QH 6C", TWO))
    state = state.but(hands=(tuple(c for c in NUMBER if c[0] in "64AQ57K"), state.hands[1]))
    legal = state.legal(0)
    assert not legal.complete
    runs = listed(state, Run)
    assert 0 < len(runs) <= LISTED
    assert len({(run.path, run.cards) for run in runs}) == len(runs)
    assert all(run in legal for run in runs)
    assert max(len(run.path) for run in runs) > 3
    assert action("run 6S 4D along 0,0 1,0") in legal
