"""Ladders that are open: what owners push comes onto them by itself."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from arena.pairings.contract import Entrant
from arena.pairings.ladder import Ladder
from arena.store import course, tournaments
from arena.store.errors import Conflict

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from arena.bots.manifest import Manifest
    from arena.store.tournaments import Tournament
    from arena.store.versions import Version

log = logging.getLogger("arena.submissions")


def open_to(engine: Engine, said: Manifest) -> tuple[Tournament, ...]:
    """The ladders that take in a bot with this manifest, the oldest first."""
    return tuple(
        one
        for one in tournaments.listing(engine, over=False)
        if one.plan.settings.get("open") is True and said.plays(one.plan.game)
    )


def join(engine: Engine, version: Version, said: Manifest) -> tuple[str, ...]:
    """Lets a version into all ladders that are open to it; of its bot only the newest play on.

    May be done again: what is on a ladder already stays there. Gives the ladders it is on.
    """
    joined = []
    for ladder in open_to(engine, said):
        if version.id not in ladder.entrants:
            try:
                course.add(engine, ladder.id, [Entrant(version.id, version.owner)])
            except Conflict as error:
                # It is over by now, or somebody else has let it in.
                log.info("%s does not come onto %s: %s", version.id, ladder.id, error)
                continue
        joined.append(ladder.id)
        _make_room(engine, ladder.id, version)
    return tuple(joined)


def _make_room(engine: Engine, ladder: str, newest: Version) -> None:
    """Takes the oldest versions of a bot off a ladder, if it has more than may play."""
    found = tournaments.find(engine, ladder)
    most = int(found.plan.settings.get("versions", Ladder().versions))
    there = [
        entry.name
        for entry in found.entries
        if entry.name.partition("@")[0] == newest.name and entry.withdrawn is None
    ]
    for version in there[:-most] if most else ():
        course.withdraw(engine, ladder, version, f"{newest.id} came")
