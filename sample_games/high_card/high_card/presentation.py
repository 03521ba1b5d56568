"""Present High Card: the hands and the cards played."""

from collections.abc import Mapping

from high_card.game import HighCardState, HighCardView
from referee.games.contract import Action
from referee.games.shared.cards import Card
from referee.presentation.contract import Presentation
from referee.presentation.elements import (
    FRESH,
    CardGroup,
    OpenCards,
    Players,
    PrivateCards,
    TableRendering,
    face_up,
    faces,
)

Views = Mapping[int, HighCardView]


class HighCardPresentation(Presentation):
    """Presentation of High Card."""

    clip = 3
    short_rules = (
        "Each seat has three cards. Seat 0 leads a card, seat 1 answers with any card, and the "
        "higher rank scores a point. The higher score wins."
    )

    def render(self, public: HighCardView, hands: Views, players: Players) -> TableRendering:
        """Return the rendering of a position; the whole game is one chapter."""
        led = faces((Card(public.led),), FRESH) if public.led else ()
        return TableRendering(
            chapter=0,
            heading=f"{len(public.played) // 2} tricks played",
            facts=(),
            seats=tuple(
                players.seat(seat, (), (_hand(public, hands, seat),))
                for seat in range(len(players.names))
            ),
            centre=(
                OpenCards("led", "led", CardGroup(led)),
                OpenCards("played", "played", face_up(public.played)),
            ),
        )

    def hidden(self, state: HighCardState) -> tuple[OpenCards, ...]:
        return (OpenCards("stock", "stock", face_up(state.stock)),)

    def phrase(self, action: Action) -> str:
        return f"plays {action.card}"


def _hand(public: HighCardView, hands: Views, seat: int) -> PrivateCards:
    view = hands.get(seat)
    opened = None if view is None else face_up(view.hand)
    return PrivateCards("hand", "hand", seat, opened, CardGroup(backs=public.hand_sizes[seat]))
