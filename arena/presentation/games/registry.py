"""Registry of the renderings and encodings of the games, with a plain default rendering."""

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

# Default rendering: every field of the views, by name.


def plain(public: Any, hands: Mapping[int, Any], table: Table) -> Scene:
    """Return the scene of a game without its own rendering; the whole game is one chapter."""
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


# Encodings of the games for reinforcement learning.


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
    """Return the scene of a position.

    Args:
        game: the game's id.
        public: the view of a spectator, without private information.
        hands: the views of the seats whose hands are open; empty for spectators.
        table: the players, and the seats to act.
    """
    return _DRAWINGS.get(game, plain)(public, hands, table)
