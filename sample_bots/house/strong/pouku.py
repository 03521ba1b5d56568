"""Search of Pouku: to the end of the deal, rated by the totals."""

from plan import Position

from referee.games.contract import Action
from referee.games.pouku.actions import Discard, GoOut
from referee.games.pouku.state import PoukuState
from referee.games.shared.cards import RANK, Card

Hand = tuple[Card, ...]

PLAYOUTS = 72
DECISIVE_LEAD = 15.0
"""A lead in points that nearly decides a game."""
MAX_SEARCHED_KEEPS = 6
SAME_RANK, NEAR_RANK, POINT_RANK = 3, 1, 4
"""Usefulness of a card for each other card of its rank, for each rank at most two away, and if it
has the rank of the point card."""


class PoukuPlan:
    """Search plan of Pouku."""

    analysis_playouts = 40_000

    def playouts(self, state: PoukuState) -> int:
        return PLAYOUTS

    def candidates(self, state: PoukuState, seat: int) -> list[Action]:
        """Return the discards, and the longest keeps with the least useful discard."""
        usual = self.move(state, seat)
        discards: dict[str, Action] = {_key_without_suits(state, usual): usual}
        for action in state.legal(seat):
            if not getattr(action, "keep", ()):
                discards.setdefault(_key_without_suits(state, action), action)
        keeps: dict[str, Action] = {}
        for action in state.legal(seat):
            if keep := getattr(action, "keep", ()):
                rest = tuple(card for card in state.hands[seat] if card not in keep)
                if action.card == _least_useful(state, seat, rest):
                    keeps.setdefault(_key_without_suits(state, action), action)
        longest = sorted(keeps.values(), key=lambda action: len(action.keep), reverse=True)
        return [*discards.values(), *longest[:MAX_SEARCHED_KEEPS]]

    def move(self, state: PoukuState, seat: int) -> Action:
        if state.offer(seat).reaches(state.needed):
            return GoOut()
        return Discard(_least_useful(state, seat, state.hands[seat]))

    def over(self, root: PoukuState, state: PoukuState) -> bool:
        return len(state.deals) > len(root.deals)

    def value(self, at: Position, state: PoukuState) -> float:
        return at.rating(state.totals, DECISIVE_LEAD)


def _key_without_suits(state: PoukuState, action: Action) -> str:
    """Return a key that is the same for actions which differ only in suits."""
    if isinstance(action, GoOut):
        return "go out"
    taken = [sorted(c[0] for c in field if c in action.keep) for field in state.fields]
    return repr((type(action), action.card[0], sorted(c[0] for c in action.keep), taken))


def _least_useful(state: PoukuState, seat: int, cards: Hand) -> Card:
    """Return the card that fits least to the other cards and the reference fields."""
    ranks = [RANK[c] for c in (*state.hands[seat], *state.reference(seat))]
    point_rank = state.point_card[0]

    def usefulness(card: Card) -> tuple[int, int]:
        rank = RANK[card]
        near = sum([other in ranks for other in (rank - 2, rank - 1, rank + 1, rank + 2)])
        is_point = card[0] == point_rank
        value = SAME_RANK * ranks.count(rank) + NEAR_RANK * near + POINT_RANK * is_point
        return value, rank

    return min(cards, key=usefulness)
