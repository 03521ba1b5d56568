"""A position of Pokex made up from what one seat sees of it."""

from referee.cards import DECK_WITH_JOKERS
from referee.dealing import Chance
from referee.games.pokex.actions import Hand, PokexPlayed, PokexView
from referee.games.pokex.state import FORMS, PokexState


def seen(view: PokexView, seat: int, luck: Chance) -> PokexState:
    """A position that looks like this to the seat; what it cannot know is dealt by ``luck``."""
    seats = next(seats for seats, form in FORMS.items() if form.centre == len(view.centre))
    played = [*(one for trick in view.tricks for one in trick.played), *view.played]
    known = {*view.hand, *view.centre, *(c for one in played for c in one.cards)}
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


def _left(seat: int, dealt: int, played: list[PokexPlayed]) -> int:
    """How many cards a seat still holds."""
    return dealt - sum(len(one.cards) for one in played if one.seat == seat)


def _row(view: PokexView, seats: int) -> Hand:
    """The centre cards as the tricks meet them, those that are not turned up yet last."""
    if view.phase in ("bid", "name"):
        return ()
    if seats == 4:
        return view.centre
    up = (*(c for trick in view.tricks for c in trick.centre), *view.turned)
    return (*up, *(c for c in view.centre if c not in up))
