"""Poke: the set-up and the draw (docs/rules/poke.md, P-1, P-2)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.games.contract import IllegalAction
from referee.games.poke import Poke
from referee.games.shared.cards import DECK, cards
from referee.games.shared.dealing import Arranged, Seeded
from tests.referee.action_texts import action, is_legal, listed, play, poke

ACES = "AS KS QS JS 9S"
TWOS = "2D 3D 4D 5D 7C"
STOCK = "8C 8D 8H 8S 6C 6D 6H 6S TC TD TH TS JC JD JH"


def test_the_first_ten_cards_are_dealt_hand_by_hand_whoever_deals() -> None:
    """P-1.3."""
    for dealer in (0, 1):
        state = poke(ACES, TWOS, STOCK, dealer)
        assert set(state.hands[0]) == set(cards(ACES))
        assert set(state.hands[1]) == set(cards(TWOS))
        assert state.stock[:3] == cards("8C 8D 8H")
        assert len(state.stock) == 42


@pytest.mark.parametrize("dealer", [0, 1])
def test_the_seed_draws_the_first_dealer(dealer: int) -> None:
    """P-1.2."""
    state = Poke().start(Arranged(numbers={("dealer", 0): dealer}))
    assert state.view(0).dealer == state.view(1).dealer == dealer


@given(st.binary(min_size=32, max_size=32))
def test_the_deal_passes_every_deal_across_legs_too(seed: bytes) -> None:
    """P-1.2, P-1.4."""
    state = Poke().start(Seeded(seed))
    while state.actors:
        (seat,) = state.actors
        state = state.play({seat: next(iter(state.legal(seat)))})
    dealers = [deal.dealer for deal in state.view(0).deals]
    first = Seeded(seed).below("dealer", 0, 2)
    assert dealers == [(first + number) % 2 for number in range(len(dealers))]


def test_every_deal_has_the_whole_pack() -> None:
    """P-1.3, P-2.4."""
    pack = (*cards("AC AD AH AS KC"), *(c for c in DECK if c[0] not in "AK"), *cards("KD KH KS"))
    state = poke(ACES, TWOS, dealer=1, later={1: pack})
    state = play(state, "stand", "stand")
    while len(state.deals) == 0:
        (seat,) = state.actors
        state = state.play({seat: listed(state)[0]})
    assert state.hands == (cards("KC AC AD AH AS"), cards("2C 2D 2H 2S 3C"))
    assert len(state.stock) == 42


def test_the_non_dealer_finishes_all_his_draws_before_the_dealer_begins() -> None:
    """P-2.1."""
    state = poke(ACES, TWOS, STOCK, dealer=0)
    assert state.actors == (1,)
    state = play(state, "draw 2D")
    assert state.actors == (1,)
    state = play(state, "stand")
    assert state.actors == (0,)
    state = play(state, "draw 9S", "draw 8D", "stand")
    assert (state.phase, state.actors) == ("lead", (1,))


def test_a_draw_discards_1_to_3_different_cards_of_the_hand() -> None:
    """P-2.2, P-8.3."""
    state = poke(ACES, TWOS, STOCK)
    for legal in ("stand", "draw AS", "draw AS KS", "draw AS KS QS", "draw 9S AS JS"):
        assert is_legal(state, legal), legal
    for illegal in ("draw", "draw AS KS QS JS", "draw AS AS", "draw 2D", "draw AS 2D", "draw 8C"):
        assert not is_legal(state, illegal), illegal
        with pytest.raises(IllegalAction):
            play(state, illegal)
    assert len(listed(state)) == 1 + 5 + 10 + 10


def test_only_drawing_and_standing_are_actions_of_the_draw() -> None:
    """P-2.2."""
    state = poke(ACES, TWOS, STOCK)
    assert not is_legal(state, "lead AS")
    assert not is_legal(state, "answer AS")


def test_the_drawn_cards_come_from_the_top_of_the_stock_one_for_one() -> None:
    """P-2.2."""
    state = play(poke(ACES, TWOS, STOCK), "draw KS 9S QS")
    assert set(state.hands[0]) == set(cards("AS JS 8C 8D 8H"))
    state = play(state, "draw JS")
    assert set(state.hands[0]) == set(cards("AS 8S 8C 8D 8H"))
    state = play(state, "draw 2D 3D")
    assert set(state.hands[1]) == set(cards("6C 6D 4D 5D 7C"))


def test_a_drawn_card_can_be_discarded_again() -> None:
    """P-2.3."""
    state = play(poke(ACES, TWOS, STOCK), "draw 9S", "draw 8C")
    assert set(state.hands[0]) == set(cards("AS KS QS JS 8D"))
    assert state.view(0).discards == cards("9S 8C")


def test_discards_are_out_of_the_deal() -> None:
    """P-2.4."""
    state = play(poke(ACES, TWOS, STOCK), "draw KS 9S QS", "stand", "draw 2D 3D 4D", "stand")
    assert not set(cards("KS 9S QS 2D 3D 4D")) & {*state.stock, *state.hands[0], *state.hands[1]}
    with pytest.raises(IllegalAction):
        play(state, "lead KS")


@pytest.mark.parametrize(
    ("turns", "multiplier"),
    [
        (("stand",), 1),
        (("draw AS", "stand"), 2),
        (("draw AS KS QS", "stand"), 2),
        (("draw AS", "draw KS"), 4),
        (("draw AS KS QS", "draw JS 9S"), 4),
    ],
)
def test_the_draws_of_the_non_dealer_double_and_redouble(
    turns: tuple[str, ...], multiplier: int
) -> None:
    """P-2.5, P-2.7, P-2.8."""
    state = play(poke(ACES, TWOS, STOCK, dealer=1), *turns)
    assert state.actors == (1,)
    assert state.phase == "draw"
    assert state.view(0).multipliers == state.view(1).multipliers == (multiplier, 1)


@pytest.mark.parametrize(
    ("turns", "multiplier"),
    [
        (("stand",), 1),
        (("draw AS", "stand"), 1),
        (("draw AS KS QS", "stand"), 1),
        (("draw AS", "draw KS", "stand"), 2),
        (("draw AS", "draw KS", "draw QS"), 4),
        (("draw AS KS QS", "draw JS 9S", "draw 8C 8D 8H"), 4),
    ],
)
def test_the_dealers_first_draw_is_free_and_the_others_double_and_redouble(
    turns: tuple[str, ...], multiplier: int
) -> None:
    """P-2.6, P-2.7, P-2.8."""
    state = play(poke(ACES, TWOS, STOCK, dealer=0), "stand", *turns)
    assert (state.phase, state.actors) == ("lead", (1,))
    assert state.view(0).multipliers == state.view(1).multipliers == (multiplier, 1)


def test_a_multiplier_can_be_seen_while_the_draw_goes_on() -> None:
    """P-2.7, P-7.1."""
    state = play(poke(ACES, TWOS, STOCK, dealer=1), "draw AS")
    assert state.view(1).multipliers == (2, 1)
    state = play(state, "draw KS", "draw 2D")
    assert state.view(1).multipliers == (4, 1)
    state = play(state, "draw 3D")
    assert state.view(1).multipliers == (4, 2)


def test_the_longest_draw_uses_25_cards() -> None:
    """P-2.9."""
    state = poke(ACES, TWOS, STOCK, dealer=1)
    for _ in range(5):
        (seat,) = state.actors
        state = state.play({seat: listed(state)[-1]})
    assert state.phase == "lead"
    assert len(state.stock) == 52 - 25
    assert [drawn.cards for drawn in state.drawn] == [3] * 5


def test_the_number_of_drawn_cards_is_public_and_their_faces_hidden() -> None:
    """P-7.1, P-7.2, P-7.3, P-7.4."""
    state = play(poke(ACES, TWOS, STOCK, dealer=1), "draw KS 9S", "stand", "draw 2D")
    mine, other = state.view(0), state.view(1)
    seen = [(drawn.seat, drawn.cards) for drawn in other.drawn]
    assert seen == [(drawn.seat, drawn.cards) for drawn in mine.drawn] == [(0, 2), (0, 0), (1, 1)]
    assert mine.discards == cards("9S KS")
    assert other.discards == cards("2D")
    for view, hidden in ((mine, cards("2D 3D 4D 5D 7C 8H")), (other, cards("AS QS JS 9S 8C 8D"))):
        assert not [c for c in hidden if c in repr(view)]


def test_discards_are_not_shown_after_the_deal() -> None:
    """P-7.3."""
    state = play(poke(ACES, TWOS, STOCK, dealer=1), "draw KS", "stand", "stand")
    while len(state.deals) == 0:
        (seat,) = state.actors
        state = state.play({seat: listed(state)[0]})
    for seat in (0, 1):
        assert "KS" not in repr((state.view(seat).deals, state.view(seat).discards))


def test_the_order_in_a_draw_does_not_matter() -> None:
    """P-8.2."""
    state = poke(ACES, TWOS, STOCK)
    assert play(state, "draw KS 9S QS") == play(state, "draw QS KS 9S")


def test_standing_is_listed_first_in_the_draw() -> None:
    """P-8.4."""
    state = poke(ACES, TWOS, STOCK)
    assert listed(state)[0] == action("stand")
    assert listed(play(state, "draw AS"))[0] == action("stand")
