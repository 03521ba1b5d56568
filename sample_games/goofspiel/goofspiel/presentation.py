"""Present Goofspiel: the prize, the hands and the bids."""

from collections.abc import Mapping

from goofspiel.game import GoofspielState, GoofspielView
from referee.games.contract import Action
from referee.games.shared.cards import RANK
from referee.presentation.contract import Presentation
from referee.presentation.elements import (
    OpenCards,
    Players,
    PrivateCards,
    TableRendering,
    TrickCell,
    TrickTable,
    face_up,
)

Views = Mapping[int, GoofspielView]


class GoofspielPresentation(Presentation):
    """Presentation of Goofspiel."""

    clip = 21
    short_rules = (
        "Each round all seats bid a card at the same time. The highest bid wins the prize, which "
        "counts its rank; equal highest bids win nothing. The highest score wins."
    )

    def render(self, public: GoofspielView, hands: Views, players: Players) -> TableRendering:
        """Return the rendering of a position; the whole game is one chapter."""
        return TableRendering(
            chapter=0,
            heading=f"Round {len(public.rounds) + bool(public.prizes)} of 6",
            facts=("a prize that nobody wins is added to the next one",) * public.carry,
            seats=tuple(
                players.seat(seat, (), (_hand(public, hands, seat),))
                for seat in range(len(players.names))
            ),
            centre=(OpenCards("prizes", "prize", face_up(public.prizes)), _bids(public, players)),
        )

    def hidden(self, state: GoofspielState) -> tuple[OpenCards, ...]:
        return (OpenCards("stock", "prizes face down", face_up(state.stock)),)

    def phrase(self, action: Action) -> str:
        return f"bids {action.card}"


def _hand(public: GoofspielView, hands: Views, seat: int) -> PrivateCards:
    cards = face_up(public.left[seat].cards)
    return PrivateCards("hand", "hand", seat, cards if seat in hands else None, cards)


def _bids(public: GoofspielView, players: Players) -> TrickTable:
    columns = []
    for done in public.rounds:
        ranks = [RANK[bid] for bid in done.bids]
        best = max(ranks) if ranks.count(max(ranks)) == 1 else 0
        bids = (TrickCell(face_up((bid,)), won=RANK[bid] == best) for bid in done.bids)
        columns.append((TrickCell(face_up(done.prizes)), *bids))
    names = ("prize", *players.names)
    rows = tuple((name, tuple(column[row] for column in columns)) for row, name in enumerate(names))
    return TrickTable("bids", "bids", tuple(str(n + 1) for n in range(len(columns))), rows)
