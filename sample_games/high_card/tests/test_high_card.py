"""The rules of High Card (high_card.md)."""

from dataclasses import replace

from high_card.game import HighCard, HighCardState, Play

from referee.games.shared.cards import Card
from referee.games.shared.dealing import Seeded


def position(*hands: str) -> HighCardState:
    """Return a position with these hands, such as "AS 2C"."""
    dealt = HighCard().start(Seeded(bytes(32)))
    assert isinstance(dealt, HighCardState)
    cards = tuple(tuple(map(Card, hand.split())) for hand in hands)
    return replace(dealt, hands=cards)


def test_rule_1_each_seat_has_three_cards() -> None:
    assert HighCard().start(Seeded(bytes(32))).view(0).hand_sizes == (3, 3)


def test_rule_3_the_higher_rank_scores() -> None:
    state = position("AS", "KH").play({0: Play("AS")}).play({1: Play("KH")})
    assert state.scores == (1, 0)
    assert state.actors == ()


def test_rule_3_equal_ranks_score_nothing() -> None:
    assert position("AS", "AH").play({0: Play("AS")}).play({1: Play("AH")}).scores == (0, 0)
