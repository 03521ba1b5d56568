"""Pouku: keeps and their visibility (docs/rules/pouku.md, U-5, U-7.4, U-9, U-10)."""

from typing import Any

from referee.games.pouku.actions import Discard, Give
from referee.games.shared.cards import cards
from tests.referee.action_texts import is_legal, listed, play, pouku


def ready_to_keep(stock: str = "2S 3S", **more: Any) -> Any:
    """Return four seats with fields that allow keeps; seat 0 has sevens."""
    hands = ("7C 8C", "4C 5C", "6C 2C", "QC QD")
    return pouku("AC", hands, ("7H KH", "7D 9D", "7S JH", "9H TC"), stock, **more)


def test_a_keep_is_one_card_of_the_hand_and_field_cards_one_yaku() -> None:
    """U-5.1."""
    state = ready_to_keep()
    assert is_legal(state, "discard 2S keep 7C 7D")
    assert is_legal(state, "discard 8C keep 7D 7C 7S")
    for wrong in (
        "discard 2S keep 7D 7S",  # no hand card
        "discard 2S keep 7C 8C 9D TC JH",  # two yaku
        "discard 2S keep 7C",  # no field card
        "discard 2S keep 7C 9D",  # no yaku
        "discard 2S keep 7C 7D 9D",
        "discard 2S keep 8C 9D TC",  # three cards are not a straight
        "discard 2S keep 8C 9D 9H TC JH",
        "discard 2S keep 7C 7H",  # a card of the seat's field
        "discard 7C keep 7C 7D",  # the card is discarded
        "discard 7D keep 7C 7D",
        "discard 2S keep 7C 7D 7D",
        "discard 2S keep 7C 5C",  # a card of another hand
        "discard 2S keep 7C ZZ",
    ):
        assert not is_legal(state, wrong), wrong


def test_a_keep_takes_cards_of_two_others_at_most() -> None:
    """U-5.1."""
    state = ready_to_keep()
    assert is_legal(state, "discard 2S keep 8C 9H TC JH")
    assert not is_legal(state, "discard 2S keep 8C 9D TC JH")
    three_sevens = pouku(
        "AC",
        ("7C 8C", "4C 5C", "6C 2C", "QC QD"),
        ("2H KH", "7D 9D", "7S JH", "7H TC"),
        "2S",
    )
    assert is_legal(three_sevens, "discard 2S keep 7C 7D 7H")
    assert not is_legal(three_sevens, "discard 2S keep 7C 7D 7H 7S")


def test_the_cards_leave_their_fields_and_the_hand_is_one_smaller() -> None:
    """U-5.2."""
    state = play(ready_to_keep(), "discard 2S keep 7C 7D 7S")
    assert state.fields == tuple(map(cards, ("7H KH 2S", "9D", "JH", "9H TC")))
    assert state.kept[0] == cards("7C 7D 7S")
    assert state.hands[0] == cards("8C")
    while state.turn != 0:
        state = state.play({state.turn: listed(state)[0]})
    assert len(state.hands[0]) == 2
    state = state.play({0: listed(state)[0]})
    assert len(state.hands[0]) == 1


def test_a_seat_can_keep_once_per_deal() -> None:
    """U-5.1."""
    state = play(ready_to_keep("2S 3S 4S 5S 8S"), "discard 2S keep 7C 7D")
    assert (state.view(0).may_keep, state.view(1).may_keep) == (False, True)
    state = play(state, "discard 3S", "discard 4S", "discard QC")
    assert state.turn == 0
    assert "9H" in state.fields[3]
    assert not is_legal(state, "discard 8S keep 8C 9H TC JH")
    assert all(not getattr(choice, "keep", ()) for choice in listed(state))


def test_the_order_of_the_cards_of_a_keep_does_not_matter() -> None:
    """U-10.2."""
    kept = play(ready_to_keep(), "discard 2S keep 7C 7D 7S")
    assert kept == play(ready_to_keep(), "discard 2S keep 7S 7C 7D")


def test_a_team_keeps_once_and_may_take_of_the_teammates_field() -> None:
    """U-7.4."""
    hands = ("7C 2D 3D", "4C 5C 2H", "8C 2C 3C", "6D 6H 6S")
    state = pouku("AC", hands, ("KH KD", "9D TD", "7D 8D", "9H 8H"), "2S 3S 4S 5S", teams=True)
    state = play(state, "discard 2S keep 7C 7D")
    assert [state.view(seat).may_keep for seat in range(4)] == [False, True, False, True]
    assert [len(hand) for hand in state.hands] == [2, 4, 3, 3]
    state = play(state, "discard 2H")
    assert not is_legal(state, "discard 4S keep 8C 8D")
    assert not is_legal(state, "discard 4S keep 8C 8H")
    assert all(not getattr(choice, "keep", ()) for choice in listed(state))


def test_keeps_and_discards_are_public() -> None:
    """U-9.1."""
    state = play(ready_to_keep(), "discard 2S keep 7C 7D", "discard 3S")
    for seat in range(4):
        view = state.view(seat)
        assert view.point_card == "AC"
        assert tuple(field.cards for field in view.fields) == state.fields
        assert tuple(kept.cards for kept in view.kept) == state.kept
        assert (view.stock, view.hand_sizes) == (len(state.stock), (1, 2, 3, 2))
        assert [(t.seat, t.discard, t.field, t.keep) for t in view.turns] == [
            (0, "2S", 0, cards("7C 7D")),
            (1, "3S", 1, ()),
        ]
        assert view.scores == (0, 0, 0, 0)
        assert view.hand == state.hands[seat]
        assert view.drawn == (state.drawn if seat == 2 else "")


def test_a_forced_action_is_still_a_question() -> None:
    """U-10.1: a seat has at least two cards when it receives a question."""
    state = play(ready_to_keep(), "discard 2S keep 7C 7D")
    while state.turn != 0:
        state = play(state, f"discard {state.drawn}")
    assert len(listed(state)) == 2


def test_a_long_list_of_keeps_is_a_sample_of_all_kinds() -> None:
    """U-10.3."""
    state = pouku("AC", ("7C 7D", "2C 3C", "4C 5C"), ("2D 2H", "7S 8S", "9S TS"), "7H")
    fields = ((), cards("5D 5H 6C 6D 6H 8C 8D"), cards("8S 9C 9D 9H TC TD TH"))
    state = state.but(fields=fields)
    legal = state.legal(0)
    assert not legal.complete
    keeps = {choice.keep for choice in legal if isinstance(choice, Discard) and choice.keep}
    assert len(keeps) == 60
    ranks = {"".join(sorted({card[0] for card in keep})) for keep in keeps}
    assert ranks == {"5678", "6789", "789T", "56789", "6789T", "56789T"}
    assert Discard(cards("7D")[0], cards("7C 6H 8S 9H")) in legal
    assert Give(cards("7D")[0], cards("7C 6H 8S 9H")) not in legal
