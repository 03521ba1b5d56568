"""The notation of cards (rules README), and packs in a given order."""

import pytest

from referee.games.shared.cards import (
    DECK,
    DECK_WITH_JOKERS,
    JOKERS,
    RANK,
    SUIT,
    card,
    cards,
    deck_of,
    in_order,
)
from tests.errors import has_code


def test_the_deck_has_every_card_once_twos_first_and_clubs_before_spades() -> None:
    assert len(DECK) == len(set(DECK)) == 52
    assert DECK[:5] == ("2C", "2D", "2H", "2S", "3C")
    assert DECK[-4:] == ("AC", "AD", "AH", "AS")


def test_a_card_is_a_rank_and_a_suit() -> None:
    assert card("TD") == "TD"
    assert (RANK[card("2C")], RANK[card("TD")], RANK[card("AS")]) == (2, 10, 14)
    assert [SUIT[c] for c in cards("2C 2D 2H 2S")] == [0, 1, 2, 3]


@pytest.mark.parametrize("text", ["", "A", "10S", "as", "SA", "1S", "X1", " AS", "AS ", "ＡＳ"])
def test_text_that_is_not_a_card_is_refused(text: str) -> None:
    with pytest.raises(ValueError, check=has_code("not-a-card")):
        card(text)


def test_cards_in_order_begin_with_the_lowest() -> None:
    assert in_order(cards("AS 2H TD 2C TS")) == cards("2C 2H TD TS AS")


def test_a_pack_arranged_by_hand_has_every_card_once() -> None:
    deck = deck_of(cards("AS AH"), cards("2S"))
    assert deck[:4] == cards("AS AH 2S 2C")
    assert sorted(deck) == sorted(DECK)


def test_a_pack_arranged_with_a_card_twice_is_refused() -> None:
    with pytest.raises(ValueError, check=has_code("card-twice")):
        deck_of(cards("AS AH"), cards("AS"))


def test_a_pack_arranged_with_an_invalid_card_is_refused() -> None:
    with pytest.raises(ValueError, check=has_code("not-a-card")):
        deck_of(("1S",))  # type: ignore[arg-type]


def test_a_pack_with_jokers_has_them_behind_the_52() -> None:
    assert list(DECK_WITH_JOKERS) == [*DECK, "X1", "X2"]
    assert in_order(cards("X2 AS X1 2C", DECK_WITH_JOKERS)) == ("2C", "AS", "X1", "X2")
    deck = deck_of(JOKERS[1:], cards("2D"), deck=DECK_WITH_JOKERS)
    assert deck[:3] == ("X2", "2D", "2C")
    assert deck[-2:] == ("AS", "X1")
    assert sorted(deck) == sorted(DECK_WITH_JOKERS)


def test_there_are_two_jokers() -> None:
    with pytest.raises(ValueError, check=has_code("not-a-card")):
        card("X3", DECK_WITH_JOKERS)
