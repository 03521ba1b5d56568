"""Pouku: the list of keeps (docs/rules/pouku.md, U-10.3)."""

from collections import Counter
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.games.pouku.legal import LISTED, keeps
from referee.games.shared.cards import DECK, Card, Hand, cards
from tests.examples import quick_cases
from tests.referee.pouku_by_hand import every_yaku

Fields = tuple[Hand, ...]


def every_keep(hand: Hand, fields: Fields) -> set[frozenset[str]]:
    """Return every keep, by trying all yaku (U-5.1)."""
    pool = [*hand, *(card for field in fields for card in field)]
    return {
        yaku
        for yaku in every_yaku(pool)
        if len(yaku & set(hand)) == 1 and sum(bool(yaku & set(field)) for field in fields) <= 2
    }


def ranks(keep: Hand | frozenset[str]) -> str:
    return "".join(sorted(card[0] for card in keep))


def check_list(hand: Hand, fields: Fields, most: int = LISTED) -> None:
    every = every_keep(hand, fields)
    listed, complete = keeps(hand, fields, most)
    chosen = set(map(frozenset[str], listed))
    assert complete == (len(every) <= most)
    assert len(chosen) == len(listed) == min(most, len(every))
    assert chosen <= every
    assert all(keep[0] in hand for keep in listed)
    if not complete:
        sets = set(map(ranks, every))
        first = listed[: len(sets)]
        assert len(set(map(ranks, first))) == len(first) == min(most, len(sets))


def test_all_40_sets_of_ranks_are_among_the_60_keeps() -> None:
    """The two eights of the hand make the same straights, which once took the others' places."""
    fields = ((), cards("8H JH 9C TS 9H 4H QC 7H"), cards("AD 8D 6D 5H AS KS QS AC"))
    listed, complete = keeps(cards("8C 8S 3C"), fields)
    assert (len(listed), complete) == (60, False)
    assert len(set(map(ranks, listed[:40]))) == 40
    assert len(set(map(ranks, every_keep(cards("8C 8S 3C"), fields)))) == 40


def test_of_more_than_60_sets_of_ranks_60_are_listed_once() -> None:
    fields = ((), cards("AC 2C 3C 4C 5C 6C 7C 8C 9C TC JC QC KC"), cards("7D 8D 9D"))
    hand = cards("5H 7H 8H TH")
    listed, complete = keeps(hand, fields)
    assert not complete
    assert set(Counter(map(ranks, listed)).values()) == {1}
    assert len(set(map(ranks, every_keep(hand, fields)))) > len(listed) == 60


@given(st.permutations(DECK), st.integers(2, 4), st.integers(3, 4), st.data())
def test_the_list_has_every_set_of_ranks_before_a_second_keep_of_one(
    deck: list[Card], size: int, seats: int, data: st.DataObject
) -> None:
    left = iter(deck)
    hand = tuple(next(left) for _ in range(size))
    lengths = [data.draw(st.integers(0, 24 // seats)) for _ in range(seats - 1)]
    fields = ((), *(tuple(next(left) for _ in range(length)) for length in lengths))
    check_list(hand, fields)
    check_list(hand, fields, 7)


@pytest.mark.parametrize("hand", quick_cases(["5C 5D", "5C", "7S 8S"], 1))
def test_lists_of_all_fields_of_a_small_deck_are_as_in_the_rules(hand: str) -> None:
    """Six cards lie in all possible ways in three fields."""
    lying = cards("6C 7C 8C 9C 7D 8D")
    for number, owners in enumerate(product(range(3), repeat=len(lying))):
        fields = tuple(
            tuple(card for card, owner in zip(lying, owners, strict=True) if owner == seat)
            for seat in range(3)
        )
        check_list(cards(hand), ((), *fields), 1 + number % 8)
