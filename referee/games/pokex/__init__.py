"""Pokex (docs/rules/pokex.md): poker hands as tricks, with a bid on how many."""

from collections.abc import Mapping
from typing import ClassVar

from referee.games.contract import Game, Option, Options
from referee.games.pokex.actions import Bid, NameWild, PassBid, PlayCard, PlayPair, PokexView
from referee.games.pokex.from_view import seen
from referee.games.pokex.state import PokexState
from referee.games.shared.dealing import Chance


class Pokex(Game):
    """Pokex's entry in the registry."""

    id = "pokex"
    title = "Pokex"
    seats = (4, 2)
    options: ClassVar[Mapping[str, Option]] = {}
    view_type = PokexView
    action_types = (PassBid, Bid, NameWild, PlayPair, PlayCard)

    def sides(self, seats: int, options: Options) -> tuple[int, ...]:
        """Return the sides: seats opposite each other are partners."""
        return tuple(seat % 2 for seat in range(seats))

    def _start(self, luck: Chance, seats: int, options: Options) -> PokexState:
        empty = PokexState(
            luck=luck,
            deals=(),
            points=(0, 0),
            dealer=0,
            phase="bid",
            hands=((),) * seats,
            centre=(),
            row=(),
            aside=(),
            auction=(),
            bid=0,
            declarer=0,
            wild_rank="",
            played=(),
            tricks=(),
            taken=(0, 0),
        )
        return empty.dealt(luck.below("dealer", 0, seats))

    def from_view(
        self, view: PokexView, seat: int | None, options: Options, luck: Chance
    ) -> PokexState:
        return seen(view, seat, luck)
