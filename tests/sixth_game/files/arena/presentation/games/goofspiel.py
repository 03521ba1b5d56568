"""Present Goofspiel: the prize, the hands and the bids."""

from collections.abc import Mapping

from referee.games.goofspiel import GoofspielState, GoofspielView

from arena.presentation.contract import Presentation
from arena.presentation.elements import Cell, Row, Scene, Secret, Sheet, Table, shown
from referee.games.contract import Action
from referee.games.shared.cards import RANK

Views = Mapping[int, GoofspielView]


class GoofspielPresentation(Presentation):
    """Presentation of Goofspiel."""

    clip = 21

    def render(self, public: GoofspielView, hands: Views, table: Table) -> Scene:
        """Return the scene of a position; the whole game is one chapter."""
        return Scene(
            chapter=0,
            heading=f"Round {len(public.rounds) + bool(public.prizes)} of 6",
            facts=("a prize that nobody wins is added to the next one",) * public.carry,
            seats=tuple(
                table.seat(seat, (), (_hand(public, hands, seat),))
                for seat in range(len(table.names))
            ),
            centre=(Row("prizes", "prize", shown(public.prizes)), _bids(public, table)),
        )

    def hidden(self, state: GoofspielState) -> tuple[Row, ...]:
        return (Row("stock", "prizes face down", shown(state.stock)),)

    def phrase(self, action: Action) -> str:
        return f"bids {action.card}"


def _hand(public: GoofspielView, hands: Views, seat: int) -> Secret:
    cards = shown(public.left[seat].cards)
    return Secret("hand", "hand", seat, cards if seat in hands else None, cards)


def _bids(public: GoofspielView, table: Table) -> Sheet:
    columns = []
    for done in public.rounds:
        ranks = [RANK[bid] for bid in done.bids]
        best = max(ranks) if ranks.count(max(ranks)) == 1 else 0
        bids = (Cell(shown((bid,)), won=RANK[bid] == best) for bid in done.bids)
        columns.append((Cell(shown(done.prizes)), *bids))
    names = ("prize", *table.names)
    rows = tuple((name, tuple(column[row] for column in columns)) for row, name in enumerate(names))
    return Sheet("bids", "bids", tuple(str(n + 1) for n in range(len(columns))), rows)


PRESENTATION = GoofspielPresentation
