"""Rebuild a position of Pokino from a view."""

from referee.games.pokino.actions import PokinoView, Tiles
from referee.games.pokino.layout import PokinoLayout
from referee.games.pokino.state import PokinoState, Variants
from referee.games.shared.cards import DECK, Card, Hand
from referee.games.shared.dealing import Chance
from referee.games.shared.dominoes import DOMINOES


def seen(view: PokinoView, seat: int | None, luck: Chance) -> PokinoState:
    """Return a position consistent with a view; ``luck`` deals the hidden cards."""
    hands, deck = _cards(view, seat)
    dominoes, poke = _dominoes(view, seat)
    return PokinoState(
        luck=luck,
        variants=Variants(view.greed, view.pokino_up, view.tear_down_the_walls, view.territory),
        turn=view.turn,
        over=view.over,
        pokino=view.pokino,
        idle=view.idle,
        layout=PokinoLayout(view.layout, view.tokens),
        removed=view.removed,
        runs=view.runs,
        beads=view.beads,
        hands=hands,
        known=tuple(known.cards for known in view.known),
        dominoes=dominoes,
        deck=deck,
        poke=poke,
        turns=view.turns,
    ).redeal(seat, luck)


def _cards(view: PokinoView, seat: int | None) -> tuple[tuple[Hand, ...], Hand]:
    top: Hand = (Card(view.deck_top),) if view.deck_top else ()
    played = {c for run in view.runs for c in run.cards}
    known = {c for held in view.known for c in held.cards}
    unseen = [c for c in DECK if c not in {*view.hand, *top, *played, *known}]
    hands = []
    for other, (size, held) in enumerate(zip(view.hand_sizes, view.known, strict=True)):
        if other == seat:
            hands.append(view.hand)
            continue
        more = size - len(held.cards)
        hands.append((*held.cards, *unseen[:more]))
        unseen = unseen[more:]
    return tuple(hands), (*top, *unseen)


def _dominoes(view: PokinoView, seat: int | None) -> tuple[tuple[Tiles, ...], Tiles]:
    """Return consistent dominoes of all seats and the poke."""
    laid = {tile.domino for tile in view.layout}
    unseen = [d for d in DOMINOES if d not in {*view.dominoes, *laid, *view.removed}]
    held = []
    for other, number in enumerate(view.domino_counts):
        if other == seat:
            held.append(view.dominoes)
            continue
        held.append(tuple(unseen[:number]))
        unseen = unseen[number:]
    return tuple(held), tuple(unseen)
