"""A store of its own with a tournament of house bots in it, and its matches played by services."""

import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import Engine

from arena.bots import resolver, version_store
from arena.config import Folder
from arena.services.local import Services
from arena.store import database
from arena.store.bots import versions
from arena.store.matches import listing
from arena.store.matches.spec import Plan
from arena.store.tournaments import tournaments
from arena.store.tournaments.tournaments import Tournament
from arena.tournaments import scheduler


@contextmanager
def store() -> Iterator[tuple[Engine, Folder]]:
    """An empty store in a data folder of its own, for as long as the block lasts."""
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        where = Folder(Path(folder)).create()
        engine = database.open(where.database_url({}))
        database.upgrade(engine)
        yield engine, where
        engine.dispose()


def schedule(
    engine: Engine, where: Folder, bots: Mapping[str, str], *, boards: int, cycles: int
) -> Tournament:
    """A tournament in poke. bots: which house bot plays, by the name under which it does."""
    entered = []
    for name, sample in bots.items():
        bot = version_store.admit(resolver.sample(sample), where.versions)
        # One bot may play under two names.
        content = version_store.content_hash(bot) + name
        entered.append(versions.add(engine, name, "1", content, str(bot.folder), {}).id)
    settings = {"cycles": cycles}
    plan = Plan("bench", "poke", {"must_beat": True}, 2, boards, settings=settings)
    return scheduler.begin(engine, plan, entered, bytes(32))


def played(engine: Engine, where: Folder, cup: Tournament, workers: int) -> list[float]:
    """When its matches ended, in seconds, the first one first; so many workers play them."""
    with Services(where, workers):
        while tournaments.progress(engine, cup.id).open:
            time.sleep(0.05)
    return sorted(m.ended for m in listing.matches(engine, tournament=cup.id) if m.ended)
