"""Measure the cost of watching tournaments.

    uv run python -m bench.watching

First the cost of a single position is measured, then tables, alternately watched and not watched.
Then tournaments are played alternately by workers that publish positions (`POKEARENA_WATCH_MS`, at
most one per 250 ms) and by workers that publish none; both publish all other events. Besides
matches per second, the benchmark prints the processor seconds of all processes, bots included,
because these depend less on other load of the machine.
"""

import os
import random
import resource
import statistics
import tempfile
import time
from pathlib import Path

from google.protobuf.json_format import MessageToDict
from pokearena.v1 import bot_pb2, referee_pb2

from arena.bots import resolver, version_store
from arena.config import WATCH_MS, Folder
from arena.events import messages
from arena.services.local import Services
from arena.store import database
from arena.store.bots import versions
from arena.store.match_settings import TournamentPlan
from arena.store.matches import listing
from arena.store.tournaments import tournaments
from arena.system import redis_connection
from arena.tournaments import scheduler
from bench.processes import started
from bench.table import table
from referee.game_codec import GameCodec
from referee.games.registry import GAMES
from referee.games.shared.dealing import Seeded

TIMES = 200
TABLES = 30
TABLE_BOARDS = 30
ROUNDS = 4
MATCHES = 10
BOARDS = 40
WORKERS = 2
PAUSES = (0, 250)
BOT = "random"


class PositionCounter:
    """Counts the published positions."""

    def __init__(self, url: str) -> None:
        self.positions = 0
        self._client = redis_connection.connect(url)
        self._pubsub = self._client.pubsub(ignore_subscribe_messages=True)  # type: ignore[no-untyped-call]
        self._pubsub.subscribe(**{messages.channel(0): self._count})
        self._pubsub.run_in_thread(sleep_time=0.1, daemon=True, exception_handler=lambda *_: None)

    def _count(self, message: dict[str, bytes]) -> None:
        self.positions += isinstance(messages.parse(message["data"]), messages.Position)


def position_cost(game_id: str) -> tuple[float, int]:
    """Measure a position from the middle of a random game.

    Returns:
        The microseconds of processor time in referee and worker together, and the length of the
        message in characters.
    """
    game, chance = GAMES[game_id], random.Random(1)
    state = game.start(Seeded(bytes(32)))
    states = [state]
    while state.actors:
        state = state.play({seat: state.legal(seat).any(chance) for seat in state.actors})
        states.append(state)
    middle, codec, began = states[len(states) // 2], GameCodec(game), time.process_time()
    for _ in range(TIMES):
        view = bot_pb2.View.FromString(codec.view(middle.public()))
        sent = referee_pb2.PositionShown(actors=middle.actors, view=view).SerializeToString()
        shown = referee_pb2.PositionShown.FromString(sent)
        seating = ("some-bot@1",) * 4
        message = messages.Position("m-1", 0, 0, 0, 0, (0,), seating, MessageToDict(shown.view))
        text = messages.text_of(message)
    return 1e6 * (time.process_time() - began) / TIMES, len(text)


def tables() -> None:
    """Print the decisions per second of watched and unwatched tables."""
    bot = ["bot.py", "play", "1"]
    rates: dict[int, list[float]] = {pause: [] for pause in PAUSES}
    with started(["-m", "referee"], bot, bot) as (referee, *bots):
        table(referee, bots, TABLE_BOARDS)
        for number in range(TABLES):
            for pause in PAUSES if number % 2 else PAUSES[::-1]:
                played = table(referee, bots, TABLE_BOARDS, watch_ms=pause)
                rates[pause].append(played.decisions / played.seconds)
    compare("decisions a second at a table", rates)


def compare(name: str, figures: dict[int, list[float]]) -> None:
    """Print both medians, and the median and quartiles of their ratios."""
    unwatched, watched = (statistics.median(figures[pause]) for pause in PAUSES)
    ratios = [b / a for a, b in zip(*(figures[pause] for pause in PAUSES), strict=True)]
    low, middle, high = statistics.quantiles(ratios, n=4)
    print(
        f"{name}: {unwatched:.2f} unwatched, {watched:.2f} watched; "
        f"{middle:.3f} x (half of the rounds from {low:.3f} to {high:.3f})"
    )


def used() -> float:
    """Return the processor seconds of all child processes that have ended."""
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime


def play(watch_ms: int) -> tuple[float, float, int]:
    """Return matches per second, processor seconds per match, and the published positions."""
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        data_folder = Folder(Path(folder)).create()
        engine = database.open(data_folder.database_url({}))
        database.upgrade(engine)
        bot = version_store.admit(resolver.sample(BOT), data_folder.versions)
        content = version_store.content_hash(bot)
        names = [
            versions.add(engine, name, "1", content + name, str(bot.folder), {}).id
            for name in ("one", "two")
        ]
        plan = TournamentPlan(
            name="bench",
            game="poke",
            options={"must_beat": True},
            seats=2,
            boards=BOARDS,
            settings={"cycles": MATCHES},
        )
        before = used()
        with Services(data_folder, WORKERS, {**os.environ, WATCH_MS: str(watch_ms)}) as services:
            ear = PositionCounter(services.snapshot.redis.url)
            tournament = scheduler.begin(engine, plan, names, bytes(32))
            began = time.monotonic()
            while tournaments.progress(engine, tournament.id).open:
                time.sleep(0.02)
            seconds = time.monotonic() - began
        assert len(listing.matches(engine, tournament=tournament.id)) == MATCHES
        engine.dispose()
    return MATCHES / seconds, (used() - before) / MATCHES, ear.positions


def main() -> None:
    """Print all figures."""
    for game_id in GAMES:
        microseconds, characters = position_cost(game_id)
        print(f"a position of {game_id}: {microseconds:.0f} us, {characters} characters")
    tables()
    rates: dict[int, list[float]] = {pause: [] for pause in PAUSES}
    costs: dict[int, list[float]] = {pause: [] for pause in PAUSES}
    count = 0
    for number in range(ROUNDS):
        for pause in PAUSES if number % 2 else PAUSES[::-1]:
            rate, cost, positions = play(pause)
            rates[pause].append(rate)
            costs[pause].append(cost)
            count += positions
            print(f"watch_ms {pause}: {rate:.2f} matches/s, {cost:.2f} s/match, {positions} sent")
    compare("matches per second", rates)
    compare("CPU seconds per match", costs)
    print(f"{count / ROUNDS:.0f} positions per tournament")


if __name__ == "__main__":
    main()
