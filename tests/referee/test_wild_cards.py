"""Hands with wild cards (X-6), compared with a search over all cards that they may represent."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from referee.games.shared.cards import DECK, DECK_WITH_JOKERS, RANKS, Card, cards
from referee.games.shared.poker import Category, best_hand
from referee.games.shared.wild_cards import WildValue, is_wild, wild_hand
from tests.examples import examples
from tests.recount.five_cards import NAMES, best_worth


def value(text: str, wild_rank: str = "") -> WildValue:
    return wild_hand(cards(text, DECK_WITH_JOKERS), wild_rank)


CALLED = [
    ("AS AD 7C KS X1", "7", Category.FOUR_OF_A_KIND, (14, 13), 3),
    ("7S 7D 7C 7H X1", "7", Category.FIVE_OF_A_KIND, (14,), 0),
    ("7S 7D X2 2H X1", "7", Category.FIVE_OF_A_KIND, (2,), 1),
    ("2S 2D 2C 2H X1", "", Category.FIVE_OF_A_KIND, (2,), 4),
    ("2S 3S X1 X2 6S", "", Category.STRAIGHT_FLUSH, (6,), 3),
    ("TS JS X1 X2 QS", "", Category.STRAIGHT_FLUSH, (14,), 3),
    ("AS 2S 3S 5S X1", "", Category.STRAIGHT_FLUSH, (5,), 4),
    ("AS KS 7C 7D X1", "7", Category.STRAIGHT_FLUSH, (14,), 2),
    ("AS 8S 7C 7D X1", "7", Category.FOUR_OF_A_KIND, (14, 8), 2),
    ("KS KD 9C 9H X1", "", Category.FULL_HOUSE, (13, 9), 4),
    ("AS 9S 5S 2S X1", "", Category.FLUSH, (14, 14, 9, 5, 2), 4),
    ("9S 5S 2S X1 X2", "", Category.FLUSH, (14, 14, 9, 5, 2), 3),
    ("2S 3D 4C 5H X1", "", Category.STRAIGHT, (6,), 4),
    ("AS 2D 4C 5H X1", "", Category.STRAIGHT, (5,), 4),
    ("AS KD 2C 5H X1", "", Category.PAIR, (14, 13, 5, 2), 4),
    ("AS KD 5H X1 X2", "", Category.THREE_OF_A_KIND, (14, 13, 5), 3),
    ("3S 3D AH KC X1", "", Category.THREE_OF_A_KIND, (3, 14, 13), 4),
    ("AS KD QH JC X1", "", Category.STRAIGHT, (14,), 4),
]


@pytest.mark.parametrize(("hand", "wild_rank", "category", "ranks", "natural"), CALLED)
def test_a_hand_has_the_category_of_the_rules(
    hand: str, wild_rank: str, category: Category, ranks: tuple[int, ...], natural: int
) -> None:
    """X-6.1, X-6.2, X-6.3, X-3.2."""
    assert value(hand, wild_rank) == WildValue(category, ranks, natural)


LADDER = [
    ("AS KD QH JC 9S", "KS QD JH TC 8S"),
    ("2S 2D 3H 4C 5S", "AS KD QH JC 9S"),
    ("2S 2D 3H 3C 4S", "AS AD KH QC JS"),
    ("2S 2D 3H 4C X1", "AS AD KH KC QS"),
    ("AS 2D 3H 4C X1", "AS AD AH KC QS"),
    ("2S 3S 4S 7S X1", "AS KD QH JC TS"),
    ("2S 2D 3H 3C X1", "AS KS QS 9S X1"),
    ("2S 2D 2H 3C X1", "AS AD KH KC X1"),
    ("AS 2S 3S 4S X1", "AS AD AH KC X1"),
    ("2S 2D 2H X2 X1", "TS JS QS KS X1"),
]


@pytest.mark.parametrize(("better", "worse"), LADDER)
def test_each_category_beats_the_best_of_the_next(better: str, worse: str) -> None:
    """X-6.1."""
    assert value(better) > value(worse)


def test_four_aces_lose_to_five_of_a_kind() -> None:
    """X-6.1, X-6.2."""
    assert value("AS AD 7C KS X1", "7") < value("2S 2D 7H 7D X1", "7")


def test_of_two_equal_full_houses_the_one_without_a_wild_card_wins() -> None:
    """X-6.4."""
    assert value("KS KD KH 9S 9D", "7") > value("KC KD 9C 9H 7S", "7")
    assert value("KS KD KH 9S 9D", "7")[:2] == value("KC KD 9C 9H 7S", "7")[:2]


def test_a_wild_card_that_stands_for_itself_counts_as_wild() -> None:
    """X-6.4."""
    assert value("9S 9D 4H 4C 4S", "9")[:2] == (Category.FIVE_OF_A_KIND, (4,))
    assert value("5S 6D 7H 8C 9S", "9") < value("5D 6H 7C 8S 9S", "K")


def test_the_wild_card_of_a_flush_is_a_second_ace() -> None:
    """X-6.2, X-6.3."""
    assert value("AS 9S 5S 2S X1") > value("AD KD 9D 5D 2D")
    assert value("AS 9S 5S 2S X1") > value("AD KD QD JD 9D")


def test_suits_never_break_ties_and_straights_do_not_wrap_around() -> None:
    """X-6.3."""
    assert value("AS KS QS JS 9S") == value("AD KD QD JD 9D")
    assert value("KS AD 2H 3C X1").category is Category.PAIR


def test_the_cards_of_the_wild_rank_and_the_jokers_are_wild() -> None:
    """X-3.1, X-3.2."""
    wild = [c for c in DECK_WITH_JOKERS if is_wild(c, "T")]
    assert wild == ["TC", "TD", "TH", "TS", "X1", "X2"]
    assert [c for c in DECK_WITH_JOKERS if is_wild(c, "")] == ["X1", "X2"]


fives = st.lists(st.sampled_from(DECK_WITH_JOKERS), min_size=5, max_size=5, unique=True)
ranks = st.sampled_from(["", *RANKS])


def by_search(hand: list[Card], wild_rank: str) -> WildValue:
    """Return the best of all cards that the wild cards may represent."""
    natural = [card for card in hand if card[0] not in ("X", wild_rank)]
    category, ranks = best_worth(natural, ["X1"] * (len(hand) - len(natural)))
    # The recount numbers ranks from 0, and straights by their lowest ones.
    lowest = 5 if NAMES[category].startswith("straight") else 2
    return WildValue(Category(category), tuple(rank + lowest for rank in ranks), len(natural))


def with_wild(number: int) -> st.SearchStrategy[list[Card]]:
    """Draw hands with this number of wild cards when sevens are wild."""
    wild = [c for c in DECK_WITH_JOKERS if is_wild(c, "7")]
    natural = [c for c in DECK if not is_wild(c, "7")]
    return st.tuples(
        st.lists(st.sampled_from(wild), min_size=number, max_size=number, unique=True),
        st.lists(st.sampled_from(natural), min_size=5 - number, max_size=5 - number, unique=True),
    ).map(lambda both: [*both[0], *both[1]])


def close(number: int) -> st.SearchStrategy[list[Card]]:
    """Draw the same with one suit or few ranks more often than by chance."""
    few = [c for c in DECK if c[0] in "25AK"]
    wild = [c for c in DECK_WITH_JOKERS if is_wild(c, "7")][:number]
    pools = [[c for c in DECK if c[1] == "S" and c[0] != "7"], few]
    return st.sampled_from(pools).flatmap(
        lambda pool: st.lists(
            st.sampled_from(pool), min_size=5 - number, max_size=5 - number, unique=True
        ).map(lambda natural: [*wild, *natural])
    )


@settings(max_examples=examples(400), deadline=None)
@given(st.one_of(*(draw(number) for number in range(3) for draw in (with_wild, close))))
def test_up_to_two_wild_cards_are_worth_the_best_of_all_substitutions(hand: list[Card]) -> None:
    """X-6.1 to X-6.3."""
    assert wild_hand(hand, "7") == by_search(hand, "7")


@pytest.mark.long
@settings(max_examples=examples(15), deadline=None)
@given(st.one_of(with_wild(3), close(3)))
def test_three_wild_cards_are_worth_the_best_of_all_substitutions(hand: list[Card]) -> None:
    """X-6.1 to X-6.3."""
    assert wild_hand(hand, "7") == by_search(hand, "7")


@settings(max_examples=examples(300), deadline=None)
@given(fives, ranks)
def test_any_hand_is_worth_the_best_of_all_substitutions(hand: list[Card], wild_rank: str) -> None:
    """X-6.1 to X-6.4."""
    assert wild_hand(hand, wild_rank) == by_search(hand, wild_rank)


@settings(max_examples=examples(100), deadline=None)
@given(st.lists(fives, min_size=2, max_size=4), ranks)
def test_hands_are_ordered_as_by_search(hands: list[list[Card]], wild_rank: str) -> None:
    """X-6.3, X-6.4."""
    for lower, higher in pairwise(sorted(hands, key=lambda hand: by_search(hand, wild_rank))):
        assert wild_hand(lower, wild_rank) <= wild_hand(higher, wild_rank)


@given(st.lists(st.sampled_from(DECK), min_size=5, max_size=5, unique=True))
def test_without_wild_cards_hands_have_their_usual_value(hand: list[Card]) -> None:
    """X-6.3."""
    assert wild_hand(hand, "")[:2] == best_hand(hand)


@given(fives, ranks)
def test_the_order_of_the_cards_does_not_matter(hand: list[Card], wild_rank: str) -> None:
    """X-6.1."""
    assert wild_hand(hand[::-1], wild_rank) == wild_hand(sorted(hand), wild_rank)
