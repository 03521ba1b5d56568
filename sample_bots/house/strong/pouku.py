"""Search of Pouku: to the end of the deal, rated by the totals."""

from plan import Position

from referee.games.contract import Action
from referee.games.pouku.actions import Discard, GoOut
from referee.games.pouku.state import PoukuState
from referee.games.shared.cards import RANK, Card

Hand = tuple[Card, ...]

CLOSE = 15.0
"""A lead that nearly decides a game."""
KEEPS = 6
"""Number of keeps that are searched."""
SAME, NEAR, POINT = 3, 1, 4
"""Value of a card for each other card of its rank, for each rank at most two away, and if it has
the rank of the point card."""


class PoukuPlan:
    """Search plan of Pouku."""

    def playouts(self, state: PoukuState) -> int:
        return 72

    def candidates(self, state: PoukuState, seat: int) -> list[Action]:
        first = self.move(state, seat)
        discards: dict[str, Action] = {_kind(state, first): first}
        for action in state.legal(seat):
            if not getattr(action, "keep", ()):
                discards.setdefault(_kind(state, action), action)
        keeps: dict[str, Action] = {}
        for action in state.legal(seat):
            if keep := getattr(action, "keep", ()):
                rest = tuple(c for c in state.hands[seat] if c not in keep)
                if action.card == _needed_least(state, seat, rest):
                    keeps.setdefault(_kind(state, action), action)
        longest = sorted(keeps.values(), key=lambda action: len(action.keep), reverse=True)
        return [*discards.values(), *longest[:KEEPS]]

    def move(self, state: PoukuState, seat: int) -> Action:
        if state.offer(seat).reaches(state.needed):
            return GoOut()
        return Discard(_needed_least(state, seat, state.hands[seat]))

    def over(self, root: PoukuState, state: PoukuState) -> bool:
        return len(state.deals) > len(root.deals)

    def value(self, at: Position, state: PoukuState) -> float:
        return at.against(state.totals, CLOSE)


def _kind(state: PoukuState, action: Action) -> str:
    """Return a key that is the same for actions which differ only in suits."""
    if isinstance(action, GoOut):
        return "go out"
    taken = [sorted(c[0] for c in field if c in action.keep) for field in state.fields]
    return repr((type(action), action.card[0], sorted(c[0] for c in action.keep), taken))


def _needed_least(state: PoukuState, seat: int, cards: Hand) -> Card:
    """Return the card that fits least to the other cards and the reference fields."""
    ranks = [RANK[c] for c in (*state.hands[seat], *state.reference(seat))]
    point = state.point_card[0]

    def worth(card: Card) -> tuple[int, int]:
        rank = RANK[card]
        near = sum([place in ranks for place in (rank - 2, rank - 1, rank + 1, rank + 2)])
        return SAME * ranks.count(rank) + NEAR * near + POINT * (card[0] == point), rank

    return min(cards, key=worth)
