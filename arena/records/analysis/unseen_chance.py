"""Deal again what no seat has seen yet: the chance that is still to come. Pure.

The hands stay as they are, unlike in `State.redeal`, so a recorded action stays legal.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from referee.games.contract import State
from referee.games.shared.dealing import Chance


def _stock(state: Any, luck: Chance) -> State:
    return _but(state, luck, stock=luck.shuffled("analysis", 0, sorted(state.stock)))


def _centre(state: Any, luck: Chance) -> State:
    row = state.row
    if state.seats == 2 and row:
        known = 2 * len(state.tricks) + len(state.turned)
        row = (*row[:known], *luck.shuffled("analysis", 0, sorted(row[known:])))
    return _but(state, luck, row=row)


def _deck_and_dominoes(state: Any, luck: Chance) -> State:
    cards = luck.shuffled("analysis", 0, sorted(state.deck[1:]))
    tiles = luck.shuffled("analysis", 1, sorted(state.poke))
    return _but(state, luck, deck=(*state.deck[:1], *cards), poke=tiles)


def _but(state: State, luck: Chance, **changes: object) -> State:
    return state.but(luck=luck, **changes)


_BY_GAME: Final[Mapping[str, Callable[[Any, Chance], State]]] = {
    "poke": _stock,
    "pokex": _centre,
    "pokino": _deck_and_dominoes,
    "pouku": _stock,
    "saint_poker": _stock,
}


def dealt_again(game: str, state: State, luck: Chance) -> State:
    """Return the position with new chance from `luck`; every seat's view is the same.

    A game that this module does not list gets new chance only for later deals.
    """
    return _BY_GAME.get(game, _but)(state, luck)
