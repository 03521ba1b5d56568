"""Poke, Sid Sackson, 1946 (docs/rules/poke.md): a poker draw, tricks, then the better hand."""

from collections.abc import Mapping
from typing import ClassVar

from referee.games.contract import Game, Option, Options
from referee.games.poke.actions import Answer, Draw, Lead, PokeView, Stand
from referee.games.poke.from_view import seen
from referee.games.poke.state import PokeState
from referee.games.shared.dealing import Chance


class Poke(Game):
    """Poke's entry in the registry."""

    id = "poke"
    title = "Poke"
    seats = (2,)
    options: ClassVar[Mapping[str, Option]] = {
        "must_beat": Option(True, "An opponent who holds a winning answer must give one."),
    }
    view_type = PokeView
    action_types = (Stand, Draw, Lead, Answer)

    def _start(self, luck: Chance, seats: int, options: Options) -> PokeState:
        empty = PokeState(
            luck=luck,
            must_beat=bool(options["must_beat"]),
            deals=(),
            below=(0, 0),
            above=(0, 0),
            legs=(0, 0),
            dealer=0,
            phase="draw",
            turn=0,
            stock=(),
            hands=((), ()),
            discards=((), ()),
            drawn=(),
            tricks=(),
            led=(),
        )
        return empty._dealt(luck.below("dealer", 0, 2))

    def from_view(
        self, view: PokeView, seat: int | None, options: Options, luck: Chance
    ) -> PokeState:
        return seen(view, seat, luck)
