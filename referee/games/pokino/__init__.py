"""Pokino, Jonathan A. Leistiko (docs/rules/pokino.md): dominoes laid, runs of cards along them."""

from collections.abc import Mapping
from typing import ClassVar

from referee.games.contract import Game, Option, Options
from referee.games.pokino.actions import Domino, PassTurn, PokinoView, Run
from referee.games.pokino.from_view import seen
from referee.games.pokino.layout import PokinoLayout, square
from referee.games.pokino.legal import OPTIONAL_DRAW_CARDS
from referee.games.pokino.state import PokinoState, Variants
from referee.games.shared.cards import DECK, in_order
from referee.games.shared.dealing import Chance
from referee.games.shared.dominoes import DOMINOES, Tile, tiles_in_order

HAND = 5
TILES = 3
SPOKE = (((0, 0), (-1, 0)), ((1, 0), (1, -1)), ((1, 1), (2, 1)), ((0, 1), (0, 2)))
"""Inner and outer square of each domino of the spoke, the initial layout."""


class Pokino(Game):
    """Pokino's entry in the registry."""

    id = "pokino"
    title = "Pokino"
    seats = (2, 3, 4, 5, 6)
    options: ClassVar[Mapping[str, Option]] = {
        "greed": Option(False, "Runs cost no beads, and a bead at the end is 5 points."),
        "pokino_up": Option(False, "Seven cards to start; with seven in hand one need not draw."),
        "tear_down_the_walls": Option(
            False, "A run may cross the middle of a domino, which is removed then."
        ),
        "territory": Option(
            False, "Who has most tokens on a domino scores its pips, nothing else."
        ),
    }
    view_type = PokinoView
    action_types = (PassTurn, Domino, Run)

    def _start(self, luck: Chance, seats: int, options: Options) -> PokinoState:
        variants = Variants(**{name: bool(value) for name, value in options.items()})
        deck = luck.shuffled("deck", 0, DECK)
        pile = luck.shuffled("dominoes", 0, DOMINOES)
        size = OPTIONAL_DRAW_CARDS if variants.pokino_up else HAND
        spoke, poke = pile[TILES * seats :][: len(SPOKE)], pile[TILES * seats + len(SPOKE) :]
        return PokinoState(
            luck=luck,
            variants=variants,
            turn=luck.below("first", 0, seats),
            over=False,
            pokino=False,
            idle=0,
            layout=_spoke(luck, spoke),
            removed=(),
            runs=(),
            beads=(1,) * seats,
            hands=tuple(in_order(deck[size * s : size * (s + 1)]) for s in range(seats)),
            known=((),) * seats,
            dominoes=tuple(tiles_in_order(pile[TILES * s : TILES * (s + 1)]) for s in range(seats)),
            deck=deck[size * seats :],
            poke=poke,
            turns=(),
        )

    def from_view(
        self, view: PokinoView, seat: int | None, options: Options, luck: Chance
    ) -> PokinoState:
        return seen(view, seat, luck)


def _spoke(luck: Chance, dominoes: tuple[Tile, ...]) -> PokinoLayout:
    """Lay the four dominoes in the middle; chance decides which half of each is inside."""
    layout = PokinoLayout()
    for number, (domino, (inner, outer)) in enumerate(zip(dominoes, SPOKE, strict=True)):
        larger_inside = luck.below("spoke", number, 2)
        first, second = (outer, inner) if larger_inside else (inner, outer)
        layout = layout.laid(domino, square(*first), square(*second))
    return layout
