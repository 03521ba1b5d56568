"""Anchors of strength as they are typed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from arena.cli.errors import USAGE, CommandError

if TYPE_CHECKING:
    from arena.ratings.strength_settings import StrengthSettings


def settings(anchors: Sequence[str]) -> StrengthSettings:
    """The settings of strength with these anchors, each "NAME@VERSION=STRENGTH".

    CommandError if one makes no sense.
    """
    from arena.ratings.strength_settings import StrengthSettings

    try:
        return StrengthSettings(anchors=tuple(map(_anchor, anchors)))
    except ValueError as error:
        raise CommandError(f"{error}.", USAGE) from None


def _anchor(text: str) -> tuple[str, float]:
    name, equals, value = text.rpartition("=")
    try:
        if equals and name:
            return name, float(value)
    except ValueError:
        pass
    raise CommandError(f"an anchor is written greedy@1=1200, not {text}.", USAGE)
