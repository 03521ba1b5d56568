"""Rebuild a position of Poke from a view."""

from referee.games.poke.actions import PokeView
from referee.games.poke.state import NON_DEALER_DRAWS, PokeState
from referee.games.shared.cards import DECK
from referee.games.shared.dealing import Chance

HAND = 5


def seen(view: PokeView, seat: int | None, luck: Chance) -> PokeState:
    """Return a position consistent with a view; ``luck`` deals the hidden cards."""
    turn = _turn(view)
    leads = [(trick.leader, trick.lead, trick.answer) for trick in view.tricks]
    if view.lead:
        leads.append((1 - turn, view.lead, ()))
    played = {c for _, lead, answer in leads for c in (*lead, *answer)}
    unknown = tuple(c for c in DECK if c not in {*view.hand, *view.discards, *played})
    hands, discards = [view.hand, view.hand], [view.discards, view.discards]
    for other in (0, 1):
        if other != seat:
            size = HAND - sum(
                len(lead if leader == other else answer) for leader, lead, answer in leads
            )
            laid = sum(drawn.cards for drawn in view.drawn if drawn.seat == other)
            hands[other], unknown = unknown[:size], unknown[size:]
            discards[other], unknown = unknown[:laid], unknown[laid:]
    return PokeState(
        luck=luck,
        must_beat=view.must_beat,
        deals=view.deals,
        below=view.below,
        above=view.above,
        legs=view.legs,
        dealer=view.dealer,
        phase=view.phase,
        turn=turn,
        stock=unknown,
        hands=(hands[0], hands[1]),
        discards=(discards[0], discards[1]),
        drawn=view.drawn,
        tricks=view.tricks,
        led=view.lead,
    ).redeal(seat, luck)


def _turn(view: PokeView) -> int:
    """Return the seat to act; when the game is over, the winner of the last trick."""
    non_dealer = 1 - view.dealer
    if view.phase == "draw":
        draws = [drawn.cards for drawn in view.drawn if drawn.seat == non_dealer]
        return view.dealer if 0 in draws or len(draws) == NON_DEALER_DRAWS else non_dealer
    leader = view.tricks[-1].winner if view.tricks else non_dealer
    return 1 - leader if view.phase == "answer" else leader
