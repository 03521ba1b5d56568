"""Saint Poker (docs/rules/saint_poker.md): eight rounds of hold'em without betting."""

from collections.abc import Mapping
from typing import ClassVar

from referee.games.contract import Game, Option, Options
from referee.games.saint_poker.actions import PickUp, River, SaintPokerView, Show
from referee.games.saint_poker.from_view import seen
from referee.games.saint_poker.state import FUTURE, SaintPokerState
from referee.games.shared.cards import DECK, in_order
from referee.games.shared.dealing import Chance

HAND = 10


class SaintPoker(Game):
    """Saint Poker's entry in the registry."""

    id = "saint_poker"
    title = "Saint Poker"
    seats = (2, 3, 4, 5)
    options: ClassVar[Mapping[str, Option]] = {}
    view_type = SaintPokerView
    action_types = (River, Show, PickUp)

    def _start(self, luck: Chance, seats: int, options: Options) -> SaintPokerState:
        deck = luck.shuffled("deck", 0, DECK)
        dealt, turned = HAND * seats, FUTURE[seats]
        river = deck[dealt : dealt + turned]
        return SaintPokerState(
            luck=luck,
            rounds=(),
            points=(0,) * seats,
            phase="river",
            river=river,
            future=deck[dealt + turned : dealt + 2 * turned],
            stock=deck[dealt + 2 * turned :],
            hands=tuple(in_order(deck[HAND * s : HAND * (s + 1)]) for s in range(seats)),
            known=((),) * seats,
            shown=(),
            order=(),
            picked=(),
            lying=river,
        )

    def from_view(
        self, view: SaintPokerView, seat: int | None, options: Options, luck: Chance
    ) -> SaintPokerState:
        return seen(view, seat, luck)
