"""Who sits where in a match, by what a person types: the name of a bot, or a seat's number."""

from __future__ import annotations

from collections.abc import Callable

from arena.cli.errors import USAGE, CommandError
from arena.cli.records import Found

Meant = Callable[[str, int], bool]
"""Whether a bot at a seat is meant."""


def meant(found: Found, seat: str | None) -> Meant:
    """Who is meant by `seat`; all if it is None. CommandError if there is nobody like that."""
    names = [str(name) for name, _ in found.record.match["entrants"]]
    if seat is not None and not seat.isdecimal():
        if seat not in names and seat not in [name.partition("@")[0] for name in names]:
            from arena.cli.options import unknown

            raise unknown(f"bot in {found.id} called", seat, names)
    elif seat is not None and int(seat) >= found.record.match["seats"]:
        seats = found.record.match["seats"]
        raise CommandError(f"{found.id} has {seats} seats, from 0; there is no {seat}.", USAGE)
    return lambda name, number: seat is None or seat in (name, name.partition("@")[0], str(number))
