"""Saint Poker: picking up, and the public cards (docs/rules/saint_poker.md, S-4, S-6)."""

from typing import Any

import pytest

from referee.games.contract import IllegalAction
from referee.games.shared.cards import cards
from tests.referee.action_texts import action, is_legal, listed, play, saint_poker

ONE = "2C 3C 4C 5C 6C 7C 8C 9C TC JC"
TWO = "2D 3D 4D 5D 6D 7D 8D 9D AD AH"
THREE = "2H 3H 4H 5H 6H 7H 8H 9H TH JH"
FOUR = "2S 3S 4S 5S 6S 7S 8S 9S TS JS"
FIVE = "QC QD QH QS KC KD KH KS AC AS"


def compared() -> Any:
    """Return the end of a first round of three seats, in which seat 1 has the best hand."""
    state = saint_poker(ONE, TWO, THREE, middle="KS AS KC KD KH QS QC QD QH")
    state = play(state, "river 2C / river 2D / river 6H")
    state = play(state, "show 3C 4C / show AD AH / show 3H 7H")
    assert state.order[0] == 1
    return state


def test_from_the_worst_hand_to_the_best_and_once_again() -> None:
    """S-4.1, S-4.2."""
    state = compared()
    worst_first = list(reversed(state.order))
    turns = []
    while state.phase == "pick_up":
        (seat,) = state.actors
        turns.append(seat)
        state = state.play({seat: listed(state)[0]})
    assert turns == worst_first + worst_first


def test_only_cards_on_the_table_can_be_picked_up() -> None:
    """S-4.1, S-7.3."""
    state = compared()
    lying = cards("KS AS 2C 2D 6H 3C 4C AD AH 3H 7H")
    assert {choice.card for choice in listed(state)} == set(lying)
    for card in lying:
        assert is_legal(state, f"pick_up {card}")
    for illegal in (
        "pick_up KC",
        "pick_up 5C",
        "pick_up QS",
        "pick_up 1C",
        "river 2C",
        "show 2C 2D",
    ):
        assert not is_legal(state, illegal), illegal
        with pytest.raises(IllegalAction):
            play(state, illegal)
    state = play(state, "pick_up AS")
    assert not is_legal(state, "pick_up AS")
    assert len(listed(state)) == 10


def test_shown_cards_can_be_picked_up_by_their_seat() -> None:
    """S-4.1."""
    state = compared()
    assert state.actors == (state.order[-1],)
    card = state.shown[state.order[-1]][0]
    state = play(state, f"pick_up {card}")
    assert card in state.hands[state.order[-1]]


def test_five_cards_are_left_and_out_of_the_game() -> None:
    """S-4.3, S-2.5."""
    state = play(
        compared(),
        *("pick_up AS", "pick_up KS", "pick_up 2C", "pick_up 2D", "pick_up 3C", "pick_up 4C"),
    )
    assert (state.round, state.phase) == (2, "river")
    (done,) = state.view(0).rounds
    assert set(done.discards) == set(cards("6H AD AH 3H 7H"))
    everywhere = [*state.river, *state.future, *state.stock, *(c for h in state.hands for c in h)]
    assert not set(done.discards) & set(everywhere)
    assert [len(hand) for hand in state.hands] == [9, 9, 9]


def test_the_future_river_becomes_the_river_and_another_is_turned_up() -> None:
    """S-2.1, S-1.4."""
    state = compared()
    assert state.future == cards("KC KD")
    while state.round == 1:
        state = state.play({s: listed(state, s)[0] for s in state.actors})
    assert (state.river, state.future) == (cards("KC KD"), cards("KH QS"))
    while state.round == 2:
        state = state.play({s: listed(state, s)[0] for s in state.actors})
    assert (state.river, state.future) == (cards("KH QS"), cards("QC QD"))


@pytest.mark.parametrize(("seats", "left"), [(2, 5), (3, 4), (4, 3), (5, 2)])
def test_a_future_river_is_turned_up_in_round_8_too(seats: int, left: int) -> None:
    """S-2.1: the check of the rules page, 27 of 32 with two seats, none of 2 with five."""
    state = saint_poker(*[ONE, TWO, THREE, FOUR, FIVE][:seats])
    while state.actors:
        state = state.play({s: listed(state, s)[0] for s in state.actors})
    assert state.round == 8
    assert len(state.stock) == left
    assert len(state.view(0).future) == {2: 3, 3: 2, 4: 1, 5: 0}[seats]


@pytest.mark.parametrize("seats", [2, 3])
def test_hands_shrink_by_one_per_round_without_pick_up_after_the_eighth(seats: int) -> None:
    """S-1.2, S-2.5, S-4.4, S-5.1."""
    state = saint_poker(*[ONE, TWO, THREE][:seats])
    for number in range(1, 9):
        assert state.round == number
        assert [len(hand) for hand in state.hands] == [11 - number] * seats
        picks = 0
        while state.round == number and state.actors:
            picks += state.phase == "pick_up"
            state = state.play({s: listed(state, s)[0] for s in state.actors})
        assert picks == (0 if number == 8 else 2 * seats)
    assert (state.phase, state.actors, state.picked) == ("over", (), ())
    assert [len(hand) for hand in state.hands] == [0] * seats
    assert sum(state.scores) == 36
    assert len(state.lying) == 5 + 2 * seats


def test_a_card_picked_up_is_known_until_it_is_played() -> None:
    """S-6.1, S-6.2."""
    state = play(compared(), "pick_up AS")
    taker = state.order[-1]
    for seat in range(3):
        view = state.view(seat)
        assert [(picked.seat, picked.card) for picked in view.picked] == [(taker, "AS")]
        assert [known.cards for known in view.known] == [
            ("AS",) if seat == taker else () for seat in range(3)
        ]
    while state.round == 1:
        state = state.play({s: listed(state, s)[0] for s in state.actors})
    assert "AS" in state.view(1 - taker if taker < 2 else 0).known[taker].cards
    choices = {s: action("river AS") if s == taker else listed(state, s)[0] for s in range(3)}
    state = state.play(choices)
    assert "AS" not in state.view(0).known[taker].cards
    assert "AS" in state.view(0).river


def test_a_card_picked_up_is_known_until_it_is_shown() -> None:
    """S-6.2."""
    state = play(compared(), "pick_up AS")
    taker = state.order[-1]
    while state.phase != "show":
        state = state.play({s: listed(state, s)[0] for s in state.actors})
    known = state.view(0).known[taker].cards
    assert len(known) in (1, 2)
    assert "AS" in known
    other = next(c for c in state.hands[taker] if c != "AS")
    shown = {s: listed(state, s)[0] for s in range(3)} | {taker: action(f"show AS {other}")}
    assert "AS" not in state.play(shown).view(0).known[taker].cards


def test_finished_rounds_are_public() -> None:
    """S-6.1."""
    state = play(
        compared(),
        *("pick_up AS", "pick_up KS", "pick_up 2C", "pick_up 2D", "pick_up 3C", "pick_up 4C"),
    )
    views = [state.view(seat) for seat in range(3)]
    assert len({view.rounds for view in views}) == 1
    (done,) = views[0].rounds
    assert done.river == cards("KS AS 2C 2D 6H")
    assert [pair.cards for pair in done.shown] == [cards("3C 4C"), cards("AD AH"), cards("3H 7H")]
    assert done.order[0] == 1
    taken = [picked.card for picked in done.picked]
    assert taken == list(cards("AS KS 2C 2D 3C 4C"))
    assert len({view.scores for view in views}) == 1
    assert views[0].scores == (0, 1, 0)


def test_the_lowest_card_on_the_table_is_listed_first() -> None:
    """S-7.4."""
    state = compared()
    assert listed(state)[0] == action("pick_up 2C")
    assert listed(play(state, "pick_up 2C"))[0] == action("pick_up 2D")
