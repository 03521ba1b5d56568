"""Measure the speed of the web pages under load, and the cost for matches that are played.

    uv run python -m bench.pages [--watchers 500] [--seconds 20]

First part: a ladder of 1,000 bots and 100,000 matches, written straight into a database. Measured
are its page and the delay until it shows a closed match.

Second part: an arena that plays a tournament, alternately without watchers and with `--watchers`
watchers of its ladder (`--rounds` times each). Measured are matches per second, the age of events
on arrival (from the server's time stamp to their last byte here), and the response time of pages.
With `--page table` they watch the live table of the match that is played, which has 1,000 boards.
The watchers share the cores with the matches, so their own CPU time is printed too.
"""

import argparse
import asyncio
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import Engine, func, select

from arena.bots import resolver
from arena.config import Folder
from arena.services.local import Services
from arena.services.web_process import Pages, WebSettings, listen
from arena.store import database, schema
from arena.store.database import reading
from arena.store.matches import listing
from arena.store.schema import MatchState
from bench import closed_matches, house_bot_tournament, starts
from bench.arguments import at_least
from bench.spectator_clients import LatencySamples, browse, page, watch

BOTS, MATCHES, PAGES = 1000, 100_000, 100
INSERT_BATCH = 50
LADDER = "/ladders/poke"
TABLE_BOARDS = 1000
"""Boards of a match whose live table is watched, so that it lasts for the whole measurement."""
PAGE_SECONDS = 1.0
"""Pause between two pages that are requested while others watch."""
WEB_SETTINGS = WebSettings(rate=0, watchers=8000)


@contextmanager
def server(data: Path) -> Iterator[int]:
    """Serve the pages of a data folder in a process as `serve` starts it; yield the port."""
    with listen("127.0.0.1", 0) as listening:
        pages = Pages(listening, WEB_SETTINGS)
        command = [sys.executable, "-m", "arena.web", *pages.arguments()]
        process = subprocess.Popen(
            command,
            env={**os.environ, "POKEARENA_DATA": str(data)},
            pass_fds=(listening.fileno(),),
        )
        try:
            began = time.perf_counter()
            while not pages.answers():
                time.sleep(0.1)
            print(f"{'the first look at the store':44} {time.perf_counter() - began:7.1f} s")
            yield listening.getsockname()[1]
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait()


async def ask(port: int, many: int, path: str = LADDER) -> LatencySamples:
    """Request a page `many` times, one after the other."""
    times = LatencySamples()
    for _ in range(many):
        took, _ = await page(port, path)
        times.all.append(took)
    return times


async def shown(port: int, tag: bytes) -> bytes:
    """Poll the ladder until its ETag differs from `tag`; return the new one."""
    while True:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        request = f"HEAD {LADDER} HTTP/1.1\r\nHost: bench\r\nConnection: close\r\n\r\n"
        writer.write(request.encode())
        head = await reader.read()
        writer.close()
        # Without a tag the server has not read the store yet.
        tags = (line for line in head.split(b"\r\n") if line.lower().startswith(b"etag"))
        new_tag = next(tags, tag)
        if new_tag != tag:
            return new_tag
        await asyncio.sleep(0.1)


def large() -> None:
    """Measure a ladder of 1,000 bots and 100,000 matches."""
    dice = random.Random(1)
    with tempfile.TemporaryDirectory() as folder:
        engine = database.open(Folder(Path(folder)).database_url({}))
        closed_matches.begin(engine, BOTS)
        closed_matches.write(engine, BOTS, 0, MATCHES, dice)
        with server(Path(folder)) as port:
            tag = asyncio.run(shown(port, b""))
            _, size = asyncio.run(page(port, LADDER))
            print(f"{'its page, compressed':44} {size / 1024:7.0f} kB")
            print(f"{'the ladder as it is':44} {asyncio.run(ask(port, PAGES)).summary()}")
            for path in (f"{LADDER}?sort=elo", f"{LADDER}?find=bot00", f"{LADDER}.json"):
                first, _ = asyncio.run(page(port, path))
                summary = asyncio.run(ask(port, 20, path)).summary()
                print(f"{path:44} {summary}  first {first:.0f} ms")
            times = LatencySamples()
            for more in range(5):
                closed_matches.write(engine, BOTS, MATCHES + more, 1, dice)
                began = time.perf_counter()
                tag, pages = asyncio.run(_meanwhile(port, tag))
                took = time.perf_counter() - began
                times.all += pages.all
                print(f"{'one more match is shown after':44} {took:7.1f} s")
            print(f"{'pages meanwhile':44} {times.summary()}")


async def _meanwhile(port: int, tag: bytes) -> tuple[bytes, LatencySamples]:
    """Request pages until the ladder has changed."""
    times = LatencySamples()
    browsing = asyncio.create_task(browse(port, [LADDER, "/"], 0.05, times))
    new_tag = await shown(port, tag)
    browsing.cancel()
    return new_tag, times


def closed(engine: Engine) -> int:
    """Return the number of closed matches."""
    with reading(engine) as connection:
        query = select(func.count()).select_from(schema.results)
        return int(connection.execute(query).scalar_one())


def finished_games(engine: Engine) -> int:
    """Return the number of finished games."""
    with reading(engine) as connection:
        return int(connection.execute(select(func.count()).select_from(schema.games)).scalar_one())


def spent(process: int) -> float:
    """Return the processor seconds used by a process."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


async def crowd(
    engine: Engine, port: int, server: int, watchers: int, seconds: float, path: str
) -> None:
    """Measure a running tournament with this number of watchers of a page; print the results."""
    events, pages, begun = LatencySamples(), LatencySamples(), asyncio.Semaphore(INSERT_BATCH)
    tasks = [
        asyncio.create_task(watch(port, "/live" + path, events, begun)) for _ in range(watchers)
    ]
    if watchers:
        tasks.append(
            asyncio.create_task(browse(port, [path, "/", f"{path}.json"], PAGE_SECONDS, pages))
        )
        await asyncio.sleep(5)
        events.all.clear()
        pages.all.clear()
    before, games, began = closed(engine), finished_games(engine), time.perf_counter()
    cpu, own_cpu = spent(server), time.process_time()
    await asyncio.sleep(seconds)
    took = time.perf_counter() - began
    cpu, own_cpu = (spent(server) - cpu) / took, (time.process_time() - own_cpu) / took
    rate, game_rate = (closed(engine) - before) / took, (finished_games(engine) - games) / took
    for task in tasks:
        task.cancel()
    for outcome in await asyncio.gather(*tasks, return_exceptions=True):
        if isinstance(outcome, Exception):
            raise outcome
    load = os.getloadavg()[0]
    print(
        f"{watchers:5} watchers: {rate:6.2f} matches, {game_rate:.1f} games a second;"
        f" the server takes {cpu:.0%} of a core, the watchers {own_cpu:.0%}; load {load:.1f}"
    )
    if watchers:
        print(f"{'  events':16} {events.summary()}\n{'  pages':16} {pages.summary()}", flush=True)


def running_table(engine: Engine) -> str:
    """Return the path of the running match with the fewest finished games."""
    while not (running := listing.matches(engine, states=(MatchState.RUNNING,))):
        time.sleep(0.2)
    return f"/matches/{min(running, key=lambda match: match.committed).id}"


def busy(watchers: int, seconds: float, rounds: int, shown: str) -> None:
    """Measure a tournament with and without watchers of its ladder or of a live table."""
    with tempfile.TemporaryDirectory() as folder:
        data_folder = Folder(Path(folder))
        engine = database.open(data_folder.database_url({}))
        database.upgrade(engine)
        starts.MATCHES = 100_000 // 50
        bots = dict.fromkeys(("one", "two"), resolver.sample(starts.BOT))
        if shown == "table":
            house_bot_tournament.schedule(
                engine, data_folder, bots, boards=TABLE_BOARDS, cycles=100
            )
        else:
            starts.schedule(engine, data_folder)
        listening = listen("127.0.0.1", 0)
        with Services(data_folder, 2, {}, pages=Pages(listening, WEB_SETTINGS)) as services:
            port = listening.getsockname()[1]
            pid = next(c.pid for c in services.snapshot.services if c.name == "web")
            assert pid is not None
            while shown == "ladder" and closed(engine) < 5:
                time.sleep(0.2)
            for _ in range(rounds):
                path = LADDER if shown == "ladder" else running_table(engine)
                asyncio.run(crowd(engine, port, pid, 0, seconds, path))
                asyncio.run(crowd(engine, port, pid, watchers, seconds, path))


def main() -> None:
    """Run the selected measurements."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--watchers", type=at_least(1), default=500)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--rounds", type=at_least(1), default=2)
    parser.add_argument("--only", choices=("large", "busy"))
    parser.add_argument("--page", choices=("ladder", "table"), default="ladder")
    options = parser.parse_args()
    if options.only != "busy":
        large()
    if options.only != "large":
        busy(options.watchers, options.seconds, options.rounds, options.page)


if __name__ == "__main__":
    main()
