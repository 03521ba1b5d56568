"""Positions of Saint Poker in which the house bots are tested."""

from referee.games.registry import GAMES
from referee.games.saint_poker.actions import SaintPokerRound
from referee.games.saint_poker.state import SaintPokerState
from referee.games.shared.cards import DECK, cards, in_order
from referee.games.shared.dealing import Seeded


def third_king_in_round_7(points: tuple[int, int]) -> SaintPokerState:
    """Return a position of two seats in which seat 0 can show a third king.

    Args:
        points: points of both seats before the round, which is worth 7.
    """
    hand, river = in_order(cards("KC 2H 3D")), cards("KS KH 4S 7D 9C")
    others = [c for c in DECK if c not in (*hand, *river)]
    gone = [tuple(others[n : n + 5]) for n in range(0, 30, 5)]
    state = GAMES["saint_poker"].start(Seeded(bytes(32)))
    assert isinstance(state, SaintPokerState)
    return state.but(
        rounds=tuple(SaintPokerRound((), (), (0, 1), (), discards) for discards in gone),
        phase="show",
        hands=(hand, tuple(others[30:33])),
        river=river,
        future=tuple(others[33:36]),
        stock=tuple(others[36:]),
        points=points,
    )
