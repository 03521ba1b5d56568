"""Rebuild a position of Saint Poker from a view."""

from referee.games.saint_poker.actions import SaintPokerView
from referee.games.saint_poker.state import SaintPokerState
from referee.games.shared.cards import DECK, Hand
from referee.games.shared.dealing import Chance


def seen(view: SaintPokerView, seat: int | None, luck: Chance) -> SaintPokerState:
    """Return a position consistent with a view; ``luck`` deals the hidden cards."""
    known = tuple(pile.cards for pile in view.known)
    shown = tuple(pair.cards for pair in view.shown)
    taken = {picked.card for picked in view.picked}
    lying = [c for c in (*view.river, *(c for pair in shown for c in pair)) if c not in taken]
    gone = {c for done in view.rounds for c in done.discards}
    gone.update(view.hand, view.future, lying, *known)
    unseen = tuple(c for c in DECK if c not in gone)
    hands: list[Hand] = []
    for other, size in enumerate(view.hand_sizes):
        hidden = 0 if other == seat else size - len(known[other])
        hands.append(view.hand if other == seat else (*known[other], *unseen[:hidden]))
        unseen = unseen[hidden:]
    return SaintPokerState(
        luck=luck,
        rounds=view.rounds,
        points=view.scores,
        phase=view.phase,
        stock=unseen,
        future=view.future,
        river=view.river,
        hands=tuple(hands),
        known=known,
        shown=shown,
        order=view.order,
        picked=view.picked,
        lying=tuple(lying),
    ).redeal(seat, luck)
