"""Rebuild a position of Pokex from a view."""

from referee.games.pokex.actions import PokexPlayed, PokexView
from referee.games.pokex.state import FORMS, PokexState
from referee.games.shared.cards import DECK_WITH_JOKERS, Hand
from referee.games.shared.dealing import Chance


def seen(view: PokexView, seat: int | None, luck: Chance) -> PokexState:
    """Return a position consistent with a view; ``luck`` deals the hidden cards."""
    seats = next(seats for seats, form in FORMS.items() if form.centre == len(view.centre))
    played = [*(play for trick in view.tricks for play in trick.played), *view.played]
    known = {*view.hand, *view.centre, *(c for play in played for c in play.cards)}
    unseen = tuple(c for c in DECK_WITH_JOKERS if c not in known)
    hands: list[Hand] = []
    for other in range(seats):
        size = 0 if other == seat else _left(other, FORMS[seats].hand, played)
        hands.append(view.hand if other == seat else unseen[:size])
        unseen = unseen[size:]
    return PokexState(
        luck=luck,
        deals=view.deals,
        points=view.points,
        dealer=view.dealer,
        phase=view.phase,
        hands=tuple(hands),
        centre=view.centre,
        row=_row(view, seats),
        aside=unseen,
        auction=view.auction,
        bid=view.bid,
        declarer=view.declarer,
        wild_rank=view.wild_rank,
        played=view.played,
        tricks=view.tricks,
        taken=view.taken,
    ).redeal(seat, luck)


def _left(seat: int | None, dealt: int, played: list[PokexPlayed]) -> int:
    return dealt - sum(len(play.cards) for play in played if play.seat == seat)


def _row(view: PokexView, seats: int) -> Hand:
    """Return the centre cards in the order of the tricks, with face-down ones last."""
    if view.phase in ("bid", "name"):
        return ()
    if seats == 4:
        return view.centre
    up = (*(c for trick in view.tricks for c in trick.centre), *view.turned)
    return (*up, *(c for c in view.centre if c not in up))
