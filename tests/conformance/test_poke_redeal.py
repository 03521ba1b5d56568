"""A re-deal of Poke can produce every possible hand, and no other."""

from collections import Counter
from itertools import combinations

from referee.games.shared.cards import DECK, cards
from referee.games.shared.dealing import Seeded
from tests.referee.action_texts import play, poke

DEALINGS = 4_000


def hands_of_the_other(turns: tuple[str, ...], must_beat: bool = True) -> Counter[frozenset[str]]:
    """Count the hands that a re-deal for seat 0 gives seat 1 after these turns."""
    state = play(poke("9S 8H 5H 3C 3D", "7D 7C 4H 2C 2D", must_beat=must_beat), "stand", "stand")
    state = play(state, *turns)
    hands: Counter[frozenset[str]] = Counter()
    for number in range(DEALINGS):
        dealt = state.redeal(0, Seeded(number.to_bytes(32, "big")))
        hands[frozenset(dealt.hands[1])] += 1
    return hands


def unseen(*seen: str) -> list[str]:
    """Return the cards of the pack except seat 0's hand and these cards."""
    return [c for c in DECK if c not in cards("9S 8H 5H 3C 3D " + " ".join(seen))]


SINGLE = ("lead 9S", "answer 2C", "lead 8H", "answer 2D", "lead 5H", "answer 7D")


def test_a_seat_that_did_not_beat_an_eight_holds_no_higher_card() -> None:
    turns = (*SINGLE, "lead 7C", "answer 3C")
    hands = hands_of_the_other(turns)
    possible = {frozenset({c}) for c in unseen("2C 2D 7D 7C") if c[0] in "2345678"}
    assert set(hands) == possible
    even = DEALINGS / len(possible)
    assert all(even / 2 < times < even * 2 for times in hands.values())


def test_without_must_beat_a_seat_can_hold_any_card() -> None:
    turns = (*SINGLE, "lead 7C", "answer 3C")
    possible = {frozenset({c}) for c in unseen("2C 2D 7D 7C")}
    assert set(hands_of_the_other(turns, must_beat=False)) == possible


def test_a_beaten_lead_adds_no_information() -> None:
    hands = hands_of_the_other(("lead 9S", "answer 2C", "lead 3C 3D", "answer 7D 7C"))
    assert all(len(hand) == 2 for hand in hands)
    possible = {
        frozenset(hand)
        for hand in combinations(unseen("2C 7D 7C"), 2)
        if all(c[0] in "23456789" for c in hand)  # seat 1 did not beat the nine
    }
    assert set(hands) <= possible
    assert len(hands) > 0.95 * len(possible)


def test_a_lost_pair_excludes_pairs_but_not_single_cards() -> None:
    state = play(poke("9S 9H 5H 3C 3D", "AD KC 4H 2C 2D"), "stand", "stand")
    state = play(state, "lead 9S 9H", "answer 4H KC")
    held = set()
    for number in range(DEALINGS):
        dealt = state.redeal(0, Seeded(number.to_bytes(32, "big")))
        ranks = Counter(c[0] for c in (*dealt.hands[1], "KC", "4H"))
        assert not [rank for rank in "TJQKA" if ranks[rank] > 1]
        held |= {c[0] for c in dealt.hands[1]}
    assert held == set("23456789TJQA")


def test_a_later_lead_was_in_the_hand_that_lost_to_a_pair() -> None:
    state = play(poke("9S 9H 5H 3C 3D", "AD KC 4H 2C 2D"), "stand", "stand")
    state = play(state, "lead 9S 9H", "answer 2C 4H", "lead 3C", "answer KC", "lead AD")
    for number in range(DEALINGS // 4):
        dealt = state.redeal(0, Seeded(number.to_bytes(32, "big")))
        assert not [c for c in dealt.hands[1] if c[0] in "AK"]
