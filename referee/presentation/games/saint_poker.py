"""Present Saint Poker: the river, cards shown and picked up, the rounds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from referee.games.contract import Action
from referee.games.saint_poker.actions import (
    River,
    SaintPokerCards,
    SaintPokerPicked,
    SaintPokerView,
    Show,
)
from referee.games.shared.cards import Card, in_order
from referee.games.shared.poker import best_hand
from referee.presentation.contract import Presentation
from referee.presentation.elements import (
    FRESH,
    GONE,
    WON,
    Badge,
    CardGroup,
    FaceUpCard,
    OpenCards,
    Players,
    PrivateCards,
    PublicAction,
    ScoreTable,
    TableRendering,
    category,
    face_up,
    known_faces,
)

_ASKED = {
    "river": "a card each for the river",
    "show": "two cards each to show",
    "pick_up": "picking up, the worst hand first",
    "over": "the game is over",
}
_ORDINALS = ("best hand", "2nd best", "3rd best", "4th best", "5th best")


def _river(public: SaintPokerView, gone: frozenset[Card], last: str) -> tuple[FaceUpCard, ...]:
    """Return the river; cards added by the last action are marked."""
    turned = len(public.river) - len(public.hand_sizes) if public.phase == "show" else 99
    return tuple(
        FaceUpCard(card, (GONE,) * (card in gone) + (FRESH,) * (n >= turned or card == last))
        for n, card in enumerate(public.river)
    )


def _badges(public: SaintPokerView, seat: int) -> list[Badge]:
    if not public.order:
        return []
    place = public.order.index(seat)
    return [Badge(_ORDINALS[place], "plain" if place else "good")]


def _areas(
    public: SaintPokerView,
    hands: Mapping[int, SaintPokerView],
    seat: int,
    gone: frozenset[Card],
) -> list[OpenCards | PrivateCards]:
    known, size = public.known[seat].cards, public.hand_sizes[seat]
    view = hands.get(seat)
    last = public.picked[-1].card if public.picked else ""
    opened = None if view is None else CardGroup(known_faces(view.hand, known, last))
    closed = CardGroup(known_faces(in_order(known), known, last), size - len(known))
    areas: list[OpenCards | PrivateCards] = [PrivateCards("hand", "hand", seat, opened, closed)]
    areas.append(OpenCards("shown", "shown", _shown(public, seat, gone)))
    return areas


def _shown(public: SaintPokerView, seat: int, gone: frozenset[Card]) -> CardGroup:
    if not public.shown:
        return CardGroup()
    pair = public.shown[seat].cards
    fresh = (FRESH,) if not public.picked else ()
    won = (WON,) if public.order and public.order[0] == seat else ()
    lying = tuple(FaceUpCard(card, (*won, *fresh, *((GONE,) * (card in gone)))) for card in pair)
    return CardGroup(lying, note=category(best_hand((*public.river, *pair))))


def _pad(public: SaintPokerView, players: Players) -> ScoreTable:
    """Return the rounds with their value and the seat of the best hand."""
    seats = len(players.names)
    rows = [_row(number, done.order, seats) for number, done in enumerate(public.rounds, 1)]
    if public.order:
        rows.append(_row(public.round, public.order, seats))
    foot = ("score", *map(str, public.scores))
    return ScoreTable("scores", "rounds", ("round", *players.names), tuple(rows), (foot,))


def _row(number: int, order: tuple[int, ...], seats: int) -> tuple[str, ...]:
    won = (f"+{number}" if order[0] == seat else "·" for seat in range(seats))
    return (str(number), *won)


def _actions(
    seats: int,
    river: Sequence[Card],
    shown: Sequence[SaintPokerCards],
    picked: Sequence[SaintPokerPicked],
) -> Iterator[PublicAction]:
    """Yield the actions of a round; the last cards of its river were added by seat."""
    for seat, card in enumerate(river[-seats:]):
        yield PublicAction(seat, f"adds {card} to the river")
    for seat, pair in enumerate(shown):
        yield PublicAction(seat, f"shows {' '.join(pair.cards)}")
    for pick in picked:
        yield PublicAction(pick.seat, f"picks up {pick.card}")


class SaintPokerPresentation(Presentation):
    """Presentation of Saint Poker."""

    clip = 36
    seconds = 0.2
    target_rate = 55_000
    summary = (
        "Eight rounds of hold'em without betting: add a card to the river, show two, pick two up."
    )
    aim = "The best poker hand of a round scores its number. Most points after eight rounds win."
    terms = (
        ("river", "The five cards in the middle that count for everybody."),
        ("future river", "The open cards with which the next river begins."),
    )
    short_rules = """\
Eight rounds of poker without betting; round r scores r points. Cards are rank then suit; ranks
from 2 up to A.
- In a round, everyone first adds one card of the hand to the river, which then has five cards;
  then everyone shows two cards of the hand. Both are chosen at the same time.
- The best five cards of the river and the two shown count, as in poker. The best hand scores
  the points of the round. Exact ties are broken by a random order of the round.
- Then, in rounds 1 to 7, from the worst hand to the best, each takes one card of the river or
  of those shown by anybody, and then each one more in the same order. The five cards left leave
  the game.
- The future river lies open: it begins the river of the next round. Most points win."""
    tasks = (
        ("river", "add a card of your hand to the river"),
        ("show", "show two cards of your hand"),
        ("pick_up", "take a card that lies on the table"),
    )
    hidden_cards = (("stock", "stock"),)
    control_areas = ("hand", "river", "shown")

    def render(
        self, public: SaintPokerView, hands: Mapping[int, SaintPokerView], players: Players
    ) -> TableRendering:
        """Return the rendering of a position; a chapter is a round."""
        gone = frozenset(picked.card for picked in public.picked)
        last = public.picked[-1].card if public.picked else ""
        future = (
            (OpenCards("future", "next river", face_up(public.future)),) if public.future else ()
        )
        return TableRendering(
            chapter=public.round - 1,
            heading=f"Round {public.round} of 8 · {_ASKED[public.phase]}",
            facts=(f"the round is worth {public.round}",),
            seats=tuple(
                players.seat(seat, _badges(public, seat), _areas(public, hands, seat, gone))
                for seat in range(len(players.names))
            ),
            centre=(OpenCards("river", "river", CardGroup(_river(public, gone, last))), *future),
            below=(_pad(public, players),),
        )

    def phrase(self, action: Action) -> str:
        match action:
            case River(card):
                return f"adds {card} to the river"
            case Show(cards):
                return f"shows {' '.join(cards)}"
        return f"picks up {action.card}"

    def history(self, public: SaintPokerView) -> Sequence[PublicAction]:
        seats = len(public.hand_sizes)
        rounds = [_actions(seats, done.river, done.shown, done.picked) for done in public.rounds]
        river = () if public.phase == "river" else public.river
        return PublicAction.numbered([*rounds, _actions(seats, river, public.shown, public.picked)])

    def rules_now(self, view: SaintPokerView) -> Sequence[str]:
        if view.phase == "pick_up":
            return ("S-4", "S-6.2")
        return ("S-2.1", "S-2.2", "S-2.3") if view.phase == "river" else ("S-2.3", "S-2.4", "S-3")


PRESENTATION = SaintPokerPresentation
