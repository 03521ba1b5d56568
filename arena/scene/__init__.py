"""Positions to be drawn, made from what their viewers may see. A game without a scene of its own
gets a plain one."""

from collections.abc import Mapping
from typing import Any

from arena.scene.plain import plain
from arena.scene.poke import poke
from arena.scene.pokex import pokex
from arena.scene.pokino import pokino
from arena.scene.pouku import pouku
from arena.scene.saint_poker import saint_poker
from arena.scene.scene import Drawing, Scene, Table

_DRAWINGS: dict[str, Drawing] = {
    "poke": poke,
    "saint_poker": saint_poker,
    "pokex": pokex,
    "pouku": pouku,
    "pokino": pokino,
}


def draw(game: str, public: Any, hands: Mapping[int, Any], table: Table) -> Scene:
    """The scene of a position.

    Args:
        game: the game's id.
        public: the view of one who only watches; nothing of it is private.
        hands: the views of the seats whose eyes are open; none for spectators.
        table: who plays, and who is asked.
    """
    return _DRAWINGS.get(game, plain)(public, hands, table)
