"""A temporary store with a tournament of bots, whose matches are played by services."""

import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import Engine

from arena.bots import version_store
from arena.bots.bot import Bot
from arena.config import Folder
from arena.services.local import Services
from arena.store import database
from arena.store.bots import versions
from arena.store.match_settings import Clock, TournamentPlan
from arena.store.matches import listing
from arena.store.tournaments import tournaments
from arena.store.tournaments.tournaments import Tournament
from arena.tournaments import scheduler
from referee.games.registry import find_game

POLL_SECONDS = 0.5
"""Interval of looking whether the tournament has ended; each look costs CPU time of the arena."""


@contextmanager
def store() -> Iterator[tuple[Engine, Folder]]:
    """Create an empty store in a temporary data folder."""
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        data_folder = Folder(Path(folder)).create()
        engine = database.open(data_folder.database_url({}))
        database.upgrade(engine)
        yield engine, data_folder
        engine.dispose()


def schedule(
    engine: Engine,
    data_folder: Folder,
    bots: Mapping[str, Bot],
    *,
    boards: int,
    cycles: int,
    game: str = "poke",
    clock: Clock | None = None,
) -> Tournament:
    """Schedule a tournament of two seats.

    Args:
        engine: database engine of the store.
        data_folder: the data folder.
        bots: the bot of each entrant, by the entrant's name.
        boards: boards of a match.
        cycles: cycles of the round robin.
        game: id of the game.
        clock: the time limits; None: the default ones.
    """
    entered = []
    for name, source in bots.items():
        bot = version_store.admit(source, data_folder.versions)
        # The same bot may be entered under two names.
        content = version_store.content_hash(bot) + name
        entered.append(versions.add_version(engine, name, "1", content, str(bot.folder), {}).id)
    settings = {"cycles": cycles}
    plan = TournamentPlan(
        name="bench",
        game=game,
        options=find_game(game).settle({}),
        seats=2,
        clock=clock or Clock(),
        boards=boards,
        settings=settings,
    )
    return scheduler.begin(engine, plan, entered, bytes(32))


def played(
    engine: Engine, data_folder: Folder, tournament: Tournament, workers: int
) -> list[float]:
    """Play the tournament with this number of workers; return the matches' sorted end times."""
    with Services(data_folder, workers):
        while tournaments.progress(engine, tournament.id).open:
            time.sleep(POLL_SECONDS)
    return sorted(m.ended for m in listing.matches(engine, tournament=tournament.id) if m.ended)
