"""Rebuild a position of Pouku from a view."""

from referee.games.pouku.actions import PoukuView
from referee.games.pouku.state import PoukuForm, PoukuState, is_over
from referee.games.shared.cards import DECK, Hand
from referee.games.shared.dealing import Chance


def seen(view: PoukuView, seat: int | None, form: PoukuForm, luck: Chance) -> PoukuState:
    """Return a position consistent with a view; ``luck`` deals the hidden cards."""
    fields = tuple(field.cards for field in view.fields)
    kept = tuple(keep.cards for keep in view.kept)
    hands: dict[int, Hand] = {} if seat is None else {seat: view.hand}
    over = is_over(view.deal, view.scores, form.points)
    if over and not view.deals[-1].void:
        hands[view.deals[-1].winner] = view.deals[-1].hand
    open_cards = {view.point_card, *(c for lying in (*fields, *kept) for c in lying)}
    open_cards.update(c for hand in hands.values() for c in hand)
    unseen = tuple(c for c in DECK if c not in open_cards)
    for other, size in enumerate(view.hand_sizes):
        if other not in hands:
            hands[other], unseen = unseen[:size], unseen[size:]
    drawn = view.drawn if view.turn == seat or over else hands[view.turn][0]
    return PoukuState(
        luck=luck,
        form=form,
        deals=view.deals,
        totals=view.scores,
        dealer=view.dealer,
        turn=view.turn,
        point_card=view.point_card,
        stock=unseen,
        hands=tuple(hands[s] for s in range(form.seats)),
        drawn=drawn,
        fields=fields,
        kept=kept,
        turns=view.turns,
    ).redeal(seat, luck)
