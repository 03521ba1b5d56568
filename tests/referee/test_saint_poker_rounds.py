"""Saint Poker: the set-up, the river and the hands (docs/rules/saint_poker.md, S-1 to S-3)."""

from itertools import permutations

import pytest

from referee.games.contract import IllegalAction
from referee.games.shared.cards import DECK, cards
from tests.errors import has_code
from tests.referee.action_texts import action, is_legal, listed, play, saint_poker

ONE = "2C 3C 4C 5C 6C 7C 8C 9C TC JC"
TWO = "2D 3D 4D 5D 6D 7D 8D 9D TD JD"
THREE = "2H 3H 4H 5H 6H 7H 8H 9H TH JH"
FOUR = "2S 3S 4S 5S 6S 7S 8S 9S TS JS"
FIVE = "QC QD QH QS KC KD KH KS AC AD"
ALL = (ONE, TWO, THREE, FOUR, FIVE)


@pytest.mark.parametrize(("seats", "turned"), [(2, 3), (3, 2), (4, 1), (5, 0)])
def test_hands_then_the_future_river_then_the_stock(seats: int, turned: int) -> None:
    """S-1.1, S-1.3, S-1.4, S-2.1."""
    state = saint_poker(*ALL[:seats], middle="AH AS")
    for seat in range(seats):
        assert state.hands[seat] == cards(ALL[seat])
    beyond = [c for c in DECK if c not in " ".join(ALL[:seats]) and c not in ("AH", "AS")]
    middle = ["AH", "AS", *beyond]
    view = state.view(0)
    assert list(view.river) == middle[:turned]
    assert list(view.future) == middle[turned : 2 * turned]
    assert list(state.stock) == middle[2 * turned :]
    assert (view.round, view.phase) == (1, "river")


@pytest.mark.parametrize("seats", [2, 3, 4, 5])
def test_everyone_adds_one_card_and_the_river_has_five(seats: int) -> None:
    """S-2.2, S-7.1."""
    state = saint_poker(*ALL[:seats], middle="AH AS")
    assert state.actors == tuple(range(seats))
    before = state.river
    added = ["2C", "3D", "4H", "5S", "QD"][:seats]
    state = play(state, " / ".join(f"river {c}" for c in added))
    assert state.river == (*before, *added)
    assert len(state.river) == 5
    assert [len(hand) for hand in state.hands] == [9] * seats


@pytest.mark.parametrize("seats", [2, 3, 4, 5])
def test_then_everyone_shows_two(seats: int) -> None:
    """S-2.3."""
    state = saint_poker(*ALL[:seats], middle="AH AS")
    state = play(state, " / ".join(f"river {c}" for c in ["2C", "3D", "4H", "5S", "QD"][:seats]))
    assert (state.phase, state.actors) == ("show", tuple(range(seats)))
    shown = ["JC TC", "JD TD", "TH JH", "2S 3S", "QC QH"][:seats]
    state = play(state, " / ".join(f"show {pair}" for pair in shown))
    assert [set(pair) for pair in state.shown] == [set(cards(pair)) for pair in shown]
    assert [len(hand) for hand in state.hands] == [7] * seats


def test_a_river_card_is_one_card_of_the_hand() -> None:
    """S-2.2, S-7.3."""
    state = saint_poker(ONE, TWO)
    assert all(is_legal(state, f"river {c}") for c in ONE.split())
    for illegal in ("river 2D", "river AH", "river 1C", "pick_up 2C", "show 2C 3C"):
        assert not is_legal(state, illegal)
    assert len(listed(state)) == 10
    with pytest.raises(IllegalAction):
        play(state, "river 2D / river 2D")
    with pytest.raises(IllegalAction):
        play(state, "river 2C / river 2C")


def test_a_show_is_two_different_cards_of_the_hand() -> None:
    """S-2.3, S-7.2, S-7.3."""
    state = play(saint_poker(ONE, TWO), "river 2C / river 2D")
    assert is_legal(state, "show 3C JC")
    assert is_legal(state, "show JC 3C")
    for illegal in ("3C", "3C 3C", "3C 4C 5C", "3C 3D", "2C 3C", ""):
        assert not is_legal(state, f"show {illegal}"), illegal
    for illegal in ("river 3C", "pick_up 3C"):
        assert not is_legal(state, illegal)
    assert len(listed(state)) == 36
    shown = play(state, "show 3C JC / show 4D 5D")
    assert shown == play(state, "show JC 3C / show 5D 4D")


def test_every_seat_chooses_exactly_once() -> None:
    """S-2.2, S-2.3."""
    state = saint_poker(ONE, TWO, THREE)
    moves = {seat: listed(state, seat)[0] for seat in state.actors}
    for wrong in ({0: moves[0]}, {}, {**moves, 3: moves[0]}):
        with pytest.raises(IllegalAction, check=has_code("not-their-turn")):
            state.play(wrong)


def worth(river: str, *shown: str, ties: tuple[int, ...] | None = None) -> tuple[int, ...]:
    """Return the order of two to five hands that are shown with this river in round 1."""
    seats = len(shown)
    turned = {2: 3, 3: 2, 4: 1, 5: 0}[seats]
    laid = river.split()
    hands = [f"{card} {pair}".split() for card, pair in zip(laid[turned:], shown, strict=True)]
    named = {*laid, *(c for hand in hands for c in hand)}
    rest = [c for c in DECK if c not in named]
    for hand in hands:
        while len(hand) < 10:
            hand.append(rest.pop())
    middle = " ".join(laid[:turned])
    state = saint_poker(
        *map(" ".join, hands), middle=middle, ties=None if ties is None else {1: ties}
    )
    state = play(state, " / ".join(f"river {card}" for card in laid[turned:]))
    assert state.river == cards(river)
    state = play(state, " / ".join(f"show {pair}" for pair in shown))
    assert state.scores == tuple(int(seat == state.order[0]) for seat in range(seats))
    return tuple(state.order)


def test_a_straight_flush_below_beats_four_of_a_kind() -> None:
    """S-3.1, S-3.2, S-3.3: the check of the rules page."""
    assert worth("2S 3S 4S 5S 9D", "9C 9H", "AS 6H") == (1, 0)
    assert worth("2S 3S 4S 9C 9D", "9S 9H", "AS 5S") == (1, 0)
    assert worth("2S 3S 4S 5S 9D", "AS 6H", "6S 7C") == (1, 0)


def test_a_hand_can_use_none_one_or_both_shown_cards() -> None:
    """S-3.1."""
    neither, single, both = "2C 3D", "QS 3H", "9C 9D"
    assert worth("TS JS KS AS 9H", single, both) == (0, 1)
    assert worth("TS JS QS KS AS", neither, both, ties=(0, 1)) == (0, 1)
    assert worth("TS JS QS KS AS", neither, both, ties=(1, 0)) == (1, 0)
    assert worth("2S JS 9S KD AD", both, "AC 7D") == (0, 1)


def test_the_better_category_wins() -> None:
    """S-3.2."""
    assert worth("7S 6S JH JD AD", "AC AH", "JS JC") == (1, 0)  # full house, four of a kind
    assert worth("7S 6S JH JD AD", "AC AH", "KS QS") == (0, 1)  # full house, a pair
    assert worth("7S 6S 5S JD AD", "AC AH", "9C 8D") == (1, 0)  # three of a kind, straight
    assert worth("7S 6S 5S JD AD", "2S 3S", "9C 8D") == (0, 1)  # flush, straight
    assert worth("7S 6S 5S AS AD", "2S 3S", "AC 7D") == (1, 0)  # flush, full house
    assert worth("7S 6S 5H JD AD", "JC AC", "KC KD") == (0, 1)  # two pairs, a pair
    assert worth("7S 6S 2H JD AD", "KC 9C", "3C 3D") == (1, 0)  # high card, a pair


def test_kickers_decide() -> None:
    """S-3.3."""
    assert worth("7S 7D 2H JD AD", "KC 3C", "QC TC") == (0, 1)
    assert worth("7S 7D 2H JD 9D", "KC 3C", "KH 4C", ties=(1, 0)) == (1, 0)
    assert worth("7S 7D 2H JD 9D", "KC TC", "KH 4C") == (0, 1)


def test_three_to_five_hands_are_put_in_order() -> None:
    """S-3.2, S-2.4."""
    assert worth("7S 6S 5S JD AD", "AC AH", "9C 8D", "2S 3S") == (2, 1, 0)
    assert worth("7S 6S 5S JD AD", "AC AH", "9C 8D", "2S 3S", "KC QC") == (2, 1, 0, 3)
    assert worth("7S 6S 5S JD AD", "AC AH", "9C 8D", "2S 3S", "KC QC", "JC 2H") == (2, 1, 0, 4, 3)


@pytest.mark.parametrize("ties", list(permutations(range(3))))
def test_the_permutation_of_the_round_orders_ties(ties: tuple[int, ...]) -> None:
    """S-3.4."""
    assert worth("TS JS QS KS AS", "2C 3C", "4D 5D", "9H 9D", ties=ties) == ties


@pytest.mark.parametrize("ties", list(permutations(range(4))))
def test_the_permutation_orders_only_those_that_are_tied(ties: tuple[int, ...]) -> None:
    """S-3.4: the check of the rules page, seats 0 and 3."""
    order = worth("7S 6S 5S JD AD", "AC KH", "KC QC", "2C 2D", "AH KS", ties=ties)
    best = (0, 3) if ties.index(0) < ties.index(3) else (3, 0)
    assert order == (*best, 2, 1)


def test_without_ties_the_permutation_does_not_matter() -> None:
    """S-3.4."""
    for ties in permutations(range(2)):
        assert worth("7S 6S 5S JD AD", "AC AH", "9C 8D", ties=ties) == (1, 0)


def test_the_permutation_of_a_round_is_that_of_its_number() -> None:
    """S-3.4."""
    tied = saint_poker(
        "9C 9D 2C 3C 4C 5C 6C 7C 8C TC",
        "9H 9S 2D 3D 4D 5D 6D 7D 8D TD",
        middle="AH KH QH AD KD QD AC",
        ties={1: (1, 0), 2: (0, 1)},
    )
    state = play(tied, "river 2C / river 2D", "show 9C 9D / show 9H 9S")
    assert state.order == (1, 0)
    state = play(state, "pick_up 9C", "pick_up 9H", "pick_up 9D", "pick_up 9S")
    state = play(state, "river 3C / river 3D", "show 9C 9D / show 9H 9S")
    assert state.order == (0, 1)
    assert state.scores == (2, 1)


def test_the_first_scores_the_number_of_the_round() -> None:
    """S-2.4, S-5.1."""
    state = saint_poker(ONE, TWO)
    for number in range(1, 9):
        before = state.scores
        while not state.order:
            state = state.play({s: listed(state, s)[-1] for s in state.actors})
        gained = [now - then for now, then in zip(state.scores, before, strict=True)]
        assert gained == [number if seat == state.order[0] else 0 for seat in (0, 1)]
        while state.order and state.actors:
            state = state.play({s: listed(state, s)[0] for s in state.actors})


def test_choices_are_hidden_until_all_are_made() -> None:
    """S-2.2, S-2.3, S-6.4: a position holds no choice of some."""
    state = saint_poker(ONE, TWO, THREE)
    assert state.actors == (0, 1, 2)
    state = play(state, "river 2C / river 2D / river 2H")
    assert state.actors == (0, 1, 2)
    for seat in range(3):
        view = state.view(seat)
        assert (view.shown, view.order) == ((), ())
        assert view.river[2:] == cards("2C 2D 2H")


def test_a_view_has_the_table_and_only_the_hand_of_its_seat() -> None:
    """S-6.1, S-6.3."""
    state = saint_poker(ONE, TWO, THREE, middle="AH AS KC KD KS")
    state = play(state, "river 2C / river 2D / river 2H", "show 3C 4C / show 3D 4D / show 3H 4H")
    for seat, hand in enumerate((ONE, TWO, THREE)):
        view = state.view(seat)
        assert view.river == cards("AH AS 2C 2D 2H")
        assert view.future == cards("KC KD")
        assert [pair.cards for pair in view.shown] == [
            cards("3C 4C"),
            cards("3D 4D"),
            cards("3H 4H"),
        ]
        assert view.hand_sizes == (7, 7, 7)
        assert view.hand == cards(hand)[3:]
        others = {"5C", "5D", "5H"} - {hand.split()[3]}
        assert not [c for c in (*others, "KS") if c in repr(view)]


def test_the_lowest_cards_are_listed_first() -> None:
    """S-7.4."""
    state = saint_poker(
        "AS KS QS JS TS 3H 3D 2S 2D 2H", TWO.replace("2D", "AC").replace("3D", "AD")
    )
    assert listed(state, 0)[0] == action("river 2D")
    state = play(state, "river AS / river AC")
    assert listed(state, 0)[0] == action("show 2D 2H")
