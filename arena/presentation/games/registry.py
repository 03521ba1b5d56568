"""Positions to be drawn, made from what their viewers may see. A game without a scene of its own
gets a plain one."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from arena.presentation.elements import Badge, Drawing, Pad, Scene, Table
from arena.presentation.games.encoding import Encoding, Groups
from arena.presentation.games.poke import PokeEncoding, poke
from arena.presentation.games.pokex import PokexEncoding, pokex
from arena.presentation.games.pokino import PokinoEncoding, pokino
from arena.presentation.games.pouku import PoukuEncoding, pouku
from arena.presentation.games.saint_poker import SaintPokerEncoding, saint_poker

# The scene of any game: every part of what its viewers see, by name.


def plain(public: Any, hands: Mapping[int, Any], table: Table) -> Scene:
    """The scene of a game without one of its own; the whole game is one chapter."""
    views = [("everybody", public), *((table.names[seat], view) for seat, view in hands.items())]
    names = [field.name for field in fields(public)]
    rows = tuple((name, *(str(getattr(view, name)) for _, view in views)) for name in names)
    heads = ("", *(f"{who} sees" for who, _ in views))
    none: list[Badge] = []
    return Scene(
        chapter=0,
        heading="Position",
        facts=(),
        seats=tuple(table.seat(seat, none, ()) for seat in range(len(table.names))),
        centre=(),
        below=(Pad("plain", "position", heads, rows),),
    )


# The games of the arena in numbers.


__all__ = ["ENCODINGS", "Encoding", "Groups"]

ENCODINGS: Mapping[str, type[Encoding]] = {
    kind.game: kind
    for kind in (PokeEncoding, SaintPokerEncoding, PokexEncoding, PoukuEncoding, PokinoEncoding)
}
"""The encoding of each game, by its id."""


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
