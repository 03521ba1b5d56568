"""Pokex: the tricks of four and of two (docs/rules/pokex.md, X-4 to X-6)."""

from typing import Any

import pytest

from referee.games.contract import IllegalAction
from referee.games.shared.cards import cards
from tests.referee.action_texts import is_legal, listed, play, pokex

HANDS = (
    "2C 4C 6C 8C TC QC 2D 4D 6D 8D TD QD",
    "3C 5C 7C 9C JC KC 3D 5D 7D 9D JD KD",
    "2H 4H 6H 8H TH QH 2S 4S 6S 8S TS QS",
    "3H 5H 7H 9H JH KH 3S 5S 7S 9S JS KS",
)
CENTRE = "AS AC X1 AD AH X2"
TWO = (
    "2C 4C 6C 8C TC QC 2D 4D 6D 8D TD QD 2H 4H 6H 8H TH QH",
    "3C 5C 7C 9C JC KC 3D 5D 7D 9D JD KD 3H 5H 7H 9H JH KH",
)
TWELVE = "2S 3S 4S 5S 6S 7S 8S 9S TS JS QS KS"
ORDER = "KS 2S QS 3S JS 4S TS 5S 9S 6S 8S 7S"


def four(*calls: str, **other: Any) -> Any:
    return play(pokex(*HANDS, **{"centre": CENTRE, **other}), *calls)


def two(*calls: str, dealer: int = 1) -> Any:
    return play(pokex(*TWO, centre=TWELVE, order=ORDER, dealer=dealer), *calls)


def lowest(state: Any, turns: int) -> Any:
    for _ in range(turns):
        state = state.play({state.actors[0]: listed(state)[0]})
    return state


@pytest.mark.parametrize(
    ("calls", "leader"),
    [
        (["bid 6", "name 7"], 3),
        (["pass", "bid 6", "name 7"], 0),
        (["pass", "pass", "bid 6", "name 7"], 1),
        (["pass", "pass", "pass", "bid 6", "name 7"], 2),
        (["pass"] * 4, 0),
    ],
)
def test_the_declarers_right_plays_first_to_every_trick_of_four(
    calls: list[str], leader: int
) -> None:
    """X-4.3."""
    state = four(*calls)
    for _ in range(6):
        for turn in range(4):
            assert state.actors == ((leader + turn) % 4,)
            state = lowest(state, 1)
    assert state.view(0).deal == 1


def test_without_a_declarer_the_dealers_left_plays_first() -> None:
    """X-4.3, X-5.3."""
    for dealer in range(4):
        state = play(pokex(*HANDS, centre=CENTRE, dealer=dealer), *["pass"] * 4)
        assert state.actors == ((dealer + 1) % 4,)
        assert lowest(state, 4).actors == ((dealer + 1) % 4,)
    for dealer in range(2):
        assert two("pass", "pass", dealer=dealer).actors == (1 - dealer,)
        assert lowest(two("pass", "pass", dealer=dealer), 6).actors == (1 - dealer,)


def test_a_trick_is_played_for_the_next_card_of_the_row() -> None:
    """X-4.1."""
    state = four(*["pass"] * 4)
    turned = []
    for _ in range(5):
        turned.append(state.turned)
        state = lowest(state, 4)
        assert state.view(2).tricks[-1].centre == turned[-1]
    assert [*turned, state.turned] == [(c,) for c in CENTRE.split()]


def test_any_two_cards_of_the_hand_can_be_played() -> None:
    """X-4.2, X-9.2, X-9.3."""
    state = four(*["pass"] * 4)
    assert len(listed(state)) == 66
    assert is_legal(state, "play QD 2C")
    assert play(state, "play QD 2C") == play(state, "play 2C QD")
    for wrong in ("play 2C 2C", "play 2C 3C", "play 2C", "pass"):
        assert not is_legal(state, wrong)
        with pytest.raises(IllegalAction):
            play(state, wrong)
    assert set(state.hands[0]) - set(play(state, "play QD 2C").hands[0]) == {"QD", "2C"}


def test_the_hand_of_a_side_is_its_four_cards_and_the_centre_card() -> None:
    """X-4.4, X-6.5."""
    state = four(*["pass"] * 4)
    state = play(state, "play 2C 2D", "play KC KD", "play 2H 2S", "play 3H 5S")
    trick = state.view(1).tricks[0]
    assert trick.taken == (1, 0)  # four twos beat two kings
    assert [(laid.seat, set(laid.cards)) for laid in trick.played] == [
        (0, {"2C", "2D"}),
        (1, {"KC", "KD"}),
        (2, {"2H", "2S"}),
        (3, {"3H", "5S"}),
    ]
    state = play(state, "play 4C 6D", "play 3C 5D", "play 4H 8S", "play KH KS")
    assert state.view(1).taken == (1, 1)  # kings beat fours


def test_a_wild_card_in_the_centre_is_wild_for_both() -> None:
    """X-6.2."""
    state = four(*["pass"] * 4, centre="X1 AC AS AD AH X2")
    state = play(state, "play QC QD", "play KC KD", "play 2H 4S", "play 3S 5H")
    assert state.view(0).taken == (0, 1)  # three kings beat three queens


SUITS = tuple(" ".join(rank + suit for rank in "23456789TJQK") for suit in "CDHS")
"""A hand of clubs, of diamonds, of hearts, of spades."""
EQUAL = ["play 2C 4C", "play 2D 4D", "play 6H 8H", "play 6S 8S"]
"""The plays that make the sides equal if the centre has the only wild card."""


@pytest.mark.parametrize(
    ("calls", "taken"),
    [
        (["bid 6", "name A"], (1, 0)),
        (["pass", "bid 6", "name A"], (0, 1)),
        (["pass", "pass", "bid 6", "name A"], (1, 0)),
        (["pass", "pass", "pass", "bid 6", "name A"], (0, 1)),
        (["pass"] * 4, (0, 0)),
    ],
)
def test_the_declarers_side_takes_a_trick_that_is_tied(
    calls: list[str], taken: tuple[int, int]
) -> None:
    """X-6.5."""
    state = play(pokex(*SUITS, centre=CENTRE), *calls)
    first = state.actors[0]
    state = play(state, *EQUAL[first:], *EQUAL[:first])
    assert state.view(0).tricks[0].taken == taken


def test_of_equal_hands_the_one_with_fewer_wild_cards_takes_the_trick() -> None:
    """X-6.4."""
    state = play(pokex(*SUITS, centre=CENTRE), "bid 6", "name 8")
    state = play(state, "play QS TS", "play KC JC", "play KD JD", "play QH 8H")
    assert state.view(0).declarer == 0
    assert state.view(0).tricks[0].taken == (0, 1)  # a straight up to the ace; the other has an 8


def test_two_play_one_card_at_a_time_by_turns() -> None:
    """X-5.2, X-5.3."""
    state = two("bid 6", "name 5")
    for _ in range(6):
        assert len(state.turned) == 2
        for turn in range(6):
            assert state.actors == ((1 + turn) % 2,)
            assert len(state.view(0).played) == turn
            state = lowest(state, 1)
    assert state.view(0).deal == 1


def test_the_order_of_the_twelve_is_drawn_and_two_are_turned_up_for_each_trick() -> None:
    """X-5.1, X-8.3."""
    state = pokex(*TWO, centre=TWELVE, order=ORDER)
    assert state.view(0).turned == ()
    state = play(state, "bid 6")
    assert state.view(0).turned == ()
    state = play(state, "name 5")
    assert state.view(0).turned == state.view(1).turned == ("KS", "2S")
    up = []
    for _ in range(5):
        up += state.turned
        state = lowest(state, 6)
    assert " ".join([*up, *state.turned]) == ORDER
    assert state.view(0).centre == cards(TWELVE)


def test_the_hand_of_two_is_three_cards_and_the_two_turned_up() -> None:
    """X-5.4, X-9.3."""
    state = two("bid 6", "name 5")
    assert not is_legal(state, "play 2C")
    assert not is_legal(state, "play 3C 3D")
    state = play(state, "play 3C", "play QC", "play 3D", "play QD", "play 3H", "play QH")
    assert state.view(0).tricks[0].centre == ("KS", "2S")
    assert state.view(0).tricks[0].taken == (1, 0)  # three queens beat three threes
    state = play(state, "play KC", "play TC", "play KD", "play TD", "play JC", "play TH")
    assert state.view(0).tricks[1].centre == ("QS", "3S")
    assert state.view(0).tricks[1].taken == (1, 0)  # three tens beat two kings


@pytest.mark.parametrize(
    ("calls", "dealer", "taken"),
    [
        (["bid 6", "name 2"], 1, (1, 0)),
        (["bid 6", "name 2"], 0, (0, 1)),
        (["pass", "pass"], 0, (0, 0)),
        (["pass", "pass"], 1, (0, 0)),
    ],
)
def test_with_two_seats_a_tie_goes_to_the_declarer_or_to_no_one(
    calls: list[str], dealer: int, taken: tuple[int, int]
) -> None:
    """X-6.5."""
    mine = "3C 5C 7C 2C 4C 6C 8C 9C TC JC QC KC AC 2D 3D 4D 5D 6D"
    theirs = "3H 5H 7H 2H 4H 6H 8H 9H TH JH QH KH AH 2S 3S 4S 5S 6S"
    twelve = "9S JS 7D 8D 9D TD JD QD KD AD 7S 8S"
    state = play(pokex(mine, theirs, centre=twelve, order=twelve, dealer=dealer), *calls)
    plays = [("play 3C", "play 3H"), ("play 5C", "play 5H"), ("play 7C", "play 7H")]
    for pair in plays:
        state = play(state, *(pair if state.actors == (0,) else pair[::-1]))
    assert state.view(0).tricks[0].taken == taken


def test_the_lowest_cards_are_listed_first_and_wild_ones_last() -> None:
    """X-9.4, X-9.1."""
    hand = "2C 2D 3C 7C 7D 9H KS AS X1 X2 4C 4D"
    others = (
        "5C 5D 5H 5S 6C 6D 6H 6S 8C 8D 8H 8S",
        "9C 9D 9S TC TD TH TS JC JD JH JS QC",
        "QD QH QS KC KD KH AC AD AH 2H 2S 3D",
    )
    state = play(pokex(hand, *others), "bid 6", "name 7", "play 2H 2S")
    first = listed(state)
    assert first[0].cards == ("2C", "2D")
    assert first[1].cards == ("2C", "3C")
    assert first[-1].cards == ("X1", "X2")
    assert first[10].cards == ("2C", "X2")
    assert first[7].cards == ("2C", "7C")
    assert first[6].cards == ("2C", "AS")
