"""Run worker services on another machine than the store's, for tests."""

import os
import subprocess
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from sqlalchemy import Engine

from arena.bots import resolver, version_store
from arena.config import Folder
from arena.services.queue.match_queue import MatchQueue
from arena.store import database
from arena.store.bots import versions
from arena.store.bots.version_files import keep
from arena.store.match_settings import Clock
from arena.store.matches import listing
from arena.system import redis_connection
from arena.tournaments import scheduler
from tests.arena.cli.terminal import POKEARENA
from tests.arena.poke_plan import poke_plan
from tests.arena.pushed_version import add_pushed_version


class WorkerHostHarness:
    """Run worker services that receive the URLs of the store and of Redis in files."""

    def __init__(self, directory: Path, redis: str) -> None:
        self.here = Folder(directory / "here").create()
        self.there = Folder(directory / "there")
        self.redis = redis
        store = f"sqlite:///{directory}/shared.db"
        self.engine: Engine = database.open(store)
        database.upgrade(self.engine)
        for name, value in (("store", store), ("redis", redis)):
            (directory / name).write_text(f"{value}\n")
        self.environment = {
            **{k: v for k, v in os.environ.items() if not k.startswith("POKEARENA_")},
            "POKEARENA_ANALYSIS": "0",
            "POKEARENA_DATA": str(self.there.root),
            "POKEARENA_DATABASE_URL_FILE": str(directory / "store"),
            "POKEARENA_REDIS_URL_FILE": str(directory / "redis"),
        }
        self.output = directory / "output"

    def schedule(self, matches: int = 1, *, pushed: Sequence[str] = ()) -> list[str]:
        """Schedule matches of two house bots, enqueue them, and return their ids.

        Args:
            matches: the number of matches.
            pushed: names of the bots whose versions count as pushed by an owner.
        """
        entrants = []
        for name in ("meek", "random"):
            bot = replace(resolver.sample(name), trusted=name not in pushed)
            bot = version_store.admit(bot, self.here.versions)
            keep(self.engine, bot)
            # The folder of the version exists on the first machine only.
            added = versions.add_version(self.engine, name, "1", bot.content, "/elsewhere", {})
            entrants.append(added.id)
            if name in pushed:
                add_pushed_version(self.engine, added)
        plan = poke_plan(clock=Clock(60_000, 60_000), settings={"cycles": matches})
        scheduler.begin(self.engine, plan, entrants, bytes(32))
        due = [match.id for match in listing.matches(self.engine)]
        self.enqueue(*due)
        return due

    def enqueue(self, *matches: str) -> None:
        """Enqueue jobs for matches, as the sweeper does."""
        MatchQueue(redis_connection.connect(self.redis)).enqueue(*matches)

    @property
    def log(self) -> str:
        """The log of the first worker; empty before it starts."""
        file = self.there.service_logs / "worker-1.log"
        return file.read_text() if file.exists() else ""

    def worker(self, *words: str) -> "subprocess.Popen[bytes]":
        with self.output.open("ab") as log_file:
            return subprocess.Popen(
                [POKEARENA, "worker", *words],
                env=self.environment,
                stdout=log_file,
                stderr=log_file,
            )
