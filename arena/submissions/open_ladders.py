"""Open ladders, which accepted submissions enter automatically."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from arena.errors import Conflict
from arena.formats.contract import FormatEntrant
from arena.formats.ladder import LadderFormat
from arena.store.tournaments import lifecycle, tournaments

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from arena.bots.manifest import Manifest
    from arena.store.bots.versions import Version
    from arena.store.tournaments.tournaments import Tournament


log = logging.getLogger("arena.submissions")


def open_to(engine: Engine, manifest: Manifest) -> tuple[Tournament, ...]:
    """Return the open ladders for a bot with this manifest, the oldest first."""
    return tuple(
        tournament
        for tournament in tournaments.listing(engine, over=False)
        if tournament.plan.settings.get("open") is True and manifest.plays(tournament.plan.game)
    )


def join(engine: Engine, version: Version, manifest: Manifest) -> tuple[str, ...]:
    """Enter a version on all open ladders, and withdraw the bot's oldest versions beyond the limit.

    May be repeated; existing entries stay.

    Args:
        engine: the store.
        version: the version.
        manifest: its manifest.

    Returns:
        The IDs of the ladders on which the version is entered.
    """
    joined = []
    for ladder in open_to(engine, manifest):
        if version.id not in ladder.entrants:
            try:
                lifecycle.add(engine, ladder.id, [FormatEntrant(version.id, version.owner)])
            except Conflict as error:
                # The ladder has closed, or another process has added the version.
                log.info("%s does not enter the ladder %s: %s", version.id, ladder.id, error)
                continue
        joined.append(ladder.id)
        _make_room(engine, ladder.id, version)
    return tuple(joined)


def _make_room(engine: Engine, ladder: str, newest: Version) -> None:
    """Withdraw a bot's oldest versions that exceed the ladder's limit per bot; 0 is unlimited."""
    tournament = tournaments.find(engine, ladder)
    most = int(tournament.plan.settings.get("versions", LadderFormat().versions))
    there = [
        entry.name
        for entry in tournament.entries
        if entry.name.partition("@")[0] == newest.name and entry.withdrawn is None
    ]
    for version in there[:-most] if most else ():
        lifecycle.withdraw(engine, ladder, version, f"{newest.id} came")
