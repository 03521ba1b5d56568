"""Pouku: the points of a set of yaku and of fields (docs/rules/pouku.md, U-2, U-4 to U-6)."""

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from referee.games.pouku.packing import Packing
from referee.games.pouku.scores import GoingOut, held_code, lying_code, owed
from referee.games.pouku.yaku import Values
from referee.games.shared.cards import DECK, Card
from tests.examples import examples
from tests.referee.pouku_by_hand import POINTS, best_worth, dearest, every_yaku, fits

Groups = list[tuple[Card, ...]]


def dealt(*groups: str) -> Groups:
    """Return cards of these ranks with different suits: ``dealt("3 3", "3 4")``."""
    suits = {rank: iter("CDHS") for rank in "23456789TJQKA"}
    return [tuple(Card(rank + next(suits[rank])) for rank in group.split()) for group in groups]


def offer(hand: str, fields: str, kept: str = "", point: str = "Q", **points: int) -> GoingOut:
    """Return the cards for going out, from cards of these ranks."""
    held, lying, aside, turned = dealt(hand, fields, kept, point)
    return GoingOut(Values(**points), held, lying, aside, turned[0])


def yaku_ranks(offered: GoingOut) -> list[str]:
    return sorted("".join(card[0] for card in yaku.cards) for yaku in offered.yaku())


def cost(fields: str, point: str = "Q", **points: int) -> int:
    lying, turned = dealt(fields, point)
    return owed(Values(**points), lying, turned[0])


@pytest.mark.parametrize(
    ("fields", "worth"),
    [
        ("7 7", 1),
        ("7 7 7", 3),
        ("7 7 7 7", 7),
        ("4 5 6 7", 2),
        ("4 5 6 7 8", 3),
        ("A 2 3 4", 2),
        ("J Q K A", 2),
        ("2 3 4 5 6 7 8 9 T J K A", 9),  # from the ace to the jack
        ("2 3 4", 0),
        ("Q K A 2", 0),
        ("K A 2 3", 0),
        ("2 2 3 3", 2),
    ],
)
def test_a_yaku_has_the_worth_of_the_rules(fields: str, worth: int) -> None:
    """U-2.1, U-2.2."""
    assert cost(fields, "8") == worth + 2 * fields.count("8")
    by_hand, *rest = fields.split()
    assert offer(by_hand, " ".join(rest), point="8").worth() == cost(fields, "8")


def test_a_straight_has_thirteen_cards_at_most_and_one_ace() -> None:
    """U-2.2."""
    lying = "A 2 3 4 5 6 7 8 9 T J Q K"
    assert [len(yaku.cards) for yaku in offer("A", lying, point="8").yaku()] == [13, 2]
    assert cost("A 2 3 4 5 6 7 8 9 T J Q K A", point="8") == 11 + 1 + 2  # and the pair of aces


def test_every_card_of_the_point_cards_rank_counts_once_in_a_yaku_or_not() -> None:
    """U-2.3: in the hand, in the fields, among the kept."""
    assert offer("Q 2", "4 4", point="Q").worth() == 1 + 2
    assert offer("5 2", "4 4", point="Q").worth() == 1
    assert offer("5 2", "4 4 Q", point="Q").worth() == 1 + 2
    assert offer("4 5 6", "7 7 2 2", point="4").worth() == 2 * 2 + 1 + 2  # a four in two straights
    assert offer("5 5", "9", kept="Q Q Q", point="Q").worth() == 3 + 1 + 6


def test_four_yaku_count_one_more() -> None:
    """U-2.4."""
    assert offer("9", "3 3 4 4 7 7").worth() == 3
    assert offer("9", "3 3 4 4 7 7 8 8").worth() == 4 + 1
    assert offer("9", "3 3 4 4 7 7 8 8", four_yaku=5).worth() == 4 + 5


def test_the_kept_yaku_is_one_of_the_four() -> None:
    """U-2.4, U-5.4."""
    assert offer("9", "3 3 4 4 7 7", kept="8 8").worth() == 4 + 1


def test_a_bonus_that_is_large_may_be_worth_fewer_points() -> None:
    """U-2.4, U-1.4."""
    plain = offer("2 K", "7 7 7 7 8 8 9 9")
    assert plain.worth() == 9
    rich = offer("2 K", "7 7 7 7 8 8 9 9", four_yaku=9)
    assert rich.worth() == 4 + 9
    assert yaku_ranks(rich) == ["77", "77", "88", "99"]


def test_three_pairs_and_a_point_card_beside_them_are_enough() -> None:
    """U-4.1."""
    offered = offer("3 Q", "3 4 4 7 7", point="Q")
    assert offered.worth() == 5
    assert offered.reaches(5)
    assert not offered.reaches(6)


def test_four_of_a_kind_and_a_pair_are_worth_eight() -> None:
    """U-4.7."""
    assert offer("3 3", "3 3 7 7").worth() == 8


def test_a_field_card_is_in_one_yaku_and_a_card_of_the_hand_in_several() -> None:
    """U-4.3: the hand's two serves both."""
    offered = offer("2", "2 2 3 4 5")
    assert offered.worth() == 5
    assert yaku_ranks(offered) == ["222", "2345"]


def test_no_yaku_is_contained_in_another() -> None:
    """U-4.4."""
    offered = offer("4 5 6 7", "8 9")
    assert offered.worth() == 2 + 3
    assert yaku_ranks(offered) == ["4567", "56789"]
    offered = offer("3 3 9", "3")
    assert offered.worth() == 3
    assert yaku_ranks(offered) == ["333"]


def test_two_yaku_can_share_hand_cards_if_each_has_its_own_field_card() -> None:
    """U-4.3, U-4.4."""
    assert yaku_ranks(offer("3 3 9", "3 3", four=0, three=5)) == ["333", "333"]


def test_at_most_one_yaku_uses_only_hand_cards() -> None:
    """U-4.5."""
    assert yaku_ranks(offer("4 4 4", "9")) == ["444"]
    assert offer("4 4 7 7", "9").worth() == 1
    assert offer("4 7", "5 5 9 9").worth() == 2  # any number of yaku may use only field cards


def test_four_straights_with_the_same_three_cards_of_the_hand() -> None:
    """U-2.4, U-4.3."""
    offered = offer("5 6 7", "4 8 4 8")
    assert offered.worth() == 4 * 2 + 1
    assert yaku_ranks(offered) == ["4567", "4567", "5678", "5678"]


def test_the_best_set_does_not_depend_on_the_order_of_the_cards() -> None:
    """U-4.6."""
    held, lying, turned = dealt("5 6 7", "4 8 4 8 5 5", "Q")
    first = GoingOut(Values(), held, lying, (), turned[0])
    second = GoingOut(Values(), held[::-1], lying[::-1], (), turned[0])
    assert first.yaku() == second.yaku()


def test_a_keeper_needs_another_yaku_besides_points() -> None:
    """U-5.5."""
    assert not offer("Q 2", "8 5", kept="7 7 7 7", point="Q").reaches(5)
    assert offer("5 2", "8 5", kept="7 7 7 7", point="Q").reaches(5)
    assert not offer("Q 2", "8 5", kept="7 7 7 7", point="Q").reaches(0)


def test_points_alone_suffice_if_worth_enough() -> None:
    """U-4.1: the best legal set may be an empty one."""
    assert not offer("Q 2", "8 5", point="Q").reaches(5)
    assert offer("Q 2", "8 5", point="Q").worth() == 2
    held, lying, turned = dealt("Q 2", "8 5", "Q")
    assert GoingOut(Values(point=5), held, lying, (), turned[0]).reaches(5)


@pytest.mark.parametrize(
    ("fields", "worth"),
    [
        ("2 2 3 4 5", 3),
        ("3 3 4 5 6", 3),
        ("3 3 3", 3),
        ("3 3 3 3", 7),
        ("2 2 5 5", 2),
        ("3 3 4 4 5 5 6 6", 8),
        ("5 6 7 8", 2),
        ("Q 4", 2),
        ("Q Q", 5),
        ("", 0),
        ("A A 2 3 4 J Q K", 2 + 2 + 1 + 2),
    ],
)
def test_reference_fields_have_the_cost_of_the_rules(fields: str, worth: int) -> None:
    """U-6.2."""
    assert cost(fields) == worth


def test_a_three_and_a_pair_may_share_a_card() -> None:
    """U-6.2: different names, and neither contained in the other."""
    assert cost("3 3 3 3", four=0) == 4


@st.composite
def tables(draw: st.DrawFn) -> dict[str, int]:
    """Draw a table of points: the default one, or a random one."""
    if draw(st.booleans()):
        return dict(POINTS)
    most = draw(st.sampled_from([1, 3, 9]))
    return {name: draw(st.integers(0, most)) for name in POINTS}


@st.composite
def cards_of_few_ranks(draw: st.DrawFn) -> tuple[list[str], list[str], list[str]]:
    """Draw a hand, fields and a pile with few ranks, which often contain yaku."""
    ranks = draw(st.integers(3, 13))
    first = draw(st.integers(0, 12))
    pack = [("23456789TJQKA" * 2)[first + n] + suit for n in range(ranks) for suit in "CDHS"]
    mixed = draw(st.permutations(pack))
    size, lying = draw(st.integers(1, 4)), draw(st.integers(0, 8))
    if draw(st.integers(0, 3)) == 0 and ranks > 3:
        start = draw(st.integers(0, ranks - 4))
        hand = [pack[4 * (start + n)] for n in range(4)]
    else:
        hand = list(mixed[:size])
    rest = [card for card in mixed if card not in hand]
    return hand, rest[:lying], rest[lying : lying + 5]


TOO_MANY = 24
"""With more yaku than this, not every set is tried."""


def fixed_points(cards: Sequence[str], rank: str, points: dict[str, int]) -> int:
    return points["point"] * sum(card[0] == rank for card in cards)


@settings(max_examples=examples(400), deadline=None)
@given(cards_of_few_ranks(), tables(), st.booleans(), st.data())
def test_the_best_set_is_the_best_of_all_legal_sets(
    lying: tuple[list[str], list[str], list[str]],
    points: dict[str, int],
    keeps: bool,
    data: st.DataObject,
) -> None:
    """U-2, U-4: against every set of every yaku, condition by condition."""
    hand, fields, pile = lying
    pool = every_yaku([*hand, *fields])
    if len(pool) > TOO_MANY:
        return
    possible = every_yaku(pile) if keeps else []
    kept = sorted(data.draw(st.sampled_from(possible))) if possible else []
    turned = data.draw(st.sampled_from("23456789TJQKA")) + "S"
    held, near, aside = (tuple(map(Card, cards)) for cards in (hand, fields, kept))
    offered = GoingOut(Values(**points), held, near, aside, turned)
    best = best_worth(hand, fields, kept, turned, points)
    if best is None:
        assert not offered.reaches(0)
        return
    assert offered.worth() == best
    for needed in (best - 1, best, best + 1, 5, 8):
        assert offered.reaches(needed) == (best >= needed)
    chosen = [frozenset(yaku.cards) for yaku in offered.yaku()]
    assert not kept or chosen.pop() == frozenset(kept)
    for number, yaku in enumerate(chosen):
        assert yaku in pool
        assert fits(yaku, chosen[:number], hand)
    counted = offered.yaku()
    bonus = points["four_yaku"] if len(counted) > 3 else 0
    fixed = fixed_points([*hand, *fields, *kept], turned[0], points)
    assert sum(yaku.worth for yaku in counted) + bonus + fixed == best


@settings(max_examples=examples(300), deadline=None)
@given(cards_of_few_ranks(), tables(), st.sampled_from("23456789TJQKA"))
def test_the_most_expensive_set_is_the_maximum_of_all_payable_sets(
    lying: tuple[list[str], list[str], list[str]], points: dict[str, int], rank: str
) -> None:
    """U-6.2: against every set of every yaku, condition by condition."""
    fields = [*lying[0], *lying[1]]
    if len(every_yaku(fields)) > TOO_MANY:
        return
    cards = tuple(map(Card, fields))
    assert owed(Values(**points), cards, rank + "S") == dearest(fields, rank + "S", points)


@settings(max_examples=examples(200, 20))
@given(st.permutations(DECK), st.integers(2, 4), st.integers(0, 20))
def test_separate_runs_score_as_much_as_one_search_of_all_ranks(
    deck: list[Card], held: int, lying: int
) -> None:
    packing = Packing(Values())
    code = held_code(deck[:held]) + lying_code(deck[held : held + lying])
    ((at_once, _),) = packing.climb(code, 0, False).values()
    assert next(packing.sets(code, 0, False))[0] == at_once
