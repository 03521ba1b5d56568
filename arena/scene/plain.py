"""The scene of any game: every part of what its viewers see, by name."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from arena.scene.scene import Badge, Pad, Scene, Table


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
