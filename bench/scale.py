"""Measure the store with 10,000 bots and ten million matches in SQLite or PostgreSQL.

    uv run python -m bench.scale [--matches 10000000] [--keep FOLDER]
    uv run --extra postgres python -m bench.scale --stored FOLDER --database postgresql://HOST/NAME

Writes an SQLite database (bench.bulk), then runs the queries of workers, the sweeper and the pages.
With `--database` these run in that PostgreSQL database; if it is empty, the SQLite file is restored
into it first. Each figure is the median of several runs in milliseconds, with the maximum. The
first run is often the slowest, because it reads from the disk.
"""

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from sqlalchemy import Engine, func, select, update

from arena.config import Folder
from arena.ladders import ladder_key
from arena.store import backup_file, consistency, database, schema
from arena.store.bots import versions
from arena.store.database import reading, writing
from arena.store.matches import history, listing, search, transitions
from arena.store.matches.search import MatchFilter
from arena.store.schema import OPEN, MatchState
from arena.store.tournaments import lifecycle, tournaments
from arena.tournaments.scheduler import Scheduler
from arena.web.data import snapshot
from bench import bulk, ladder_computation
from bench.arguments import at_least

BOTS = 10_000
ONE, OTHER = bulk.name(BOTS // 2), bulk.name(BOTS // 2 + 1)
FILTERS = {
    "everything": MatchFilter(),
    "a bot": MatchFilter(bot=ONE),
    "two bots": MatchFilter(bot=ONE, opponent=OTHER),
    "a tournament": MatchFilter(tournament="t-cup003"),
    "the open ladder": MatchFilter(tournament=bulk.LADDER),
    "a bot in the open ladder": MatchFilter(bot=ONE, tournament=bulk.LADDER),
    "a form": MatchFilter(form="poke"),
    "a bot and a form": MatchFilter(bot=ONE, form="poke"),
    "the first day": MatchFilter(until=1e9 + 86_400),
    "a bot on the first days": MatchFilter(bot=ONE, until=1e9 + 10 * 86_400),
}
"""Filters of searches by name."""


def measure_query(name: str, work: Callable[[], object], runs: int = 5) -> None:
    """Run `work` several times and print its median and maximum time."""
    took = []
    for _ in range(runs):
        began = time.perf_counter()
        work()
        took.append(1000 * (time.perf_counter() - began))
    print(f"{name:40} {statistics.median(took):10.1f} ms  worst {max(took):10.1f} ms", flush=True)


def measure(engine: Engine) -> None:
    """Print a line for each query."""
    ladder, closed, bot = bulk.LADDER, "t-cup003", bulk.name(BOTS // 2)
    due = iter(transitions.due(engine, 256))
    measure_query("refill of the match queue: 256 due", lambda: transitions.due(engine, 256))
    measure_query("a match is leased", lambda: transitions.lease(engine, next(due), "bench"), 15)
    measure_query("the sweeper's look at the ladder", lambda: lifecycle.marks(engine, ladder))
    measure_query("how far the open ladder is", lambda: tournaments.progress(engine, ladder))
    measure_query("how far a closed one is", lambda: tournaments.progress(engine, closed))
    measure_query("tournaments, listed", lambda: tournaments.listing(engine))
    measure_query("forms and their tournaments", lambda: ladder_key.of_forms(engine))
    measure_query("the newest results", lambda: listing.latest(engine, 20))
    measure_query("a match", lambda: listing.find(engine, "m-0000005000"))
    measure_query(
        "matches of the ladder", lambda: listing.matches(engine, tournament=ladder, limit=50)
    )
    measure_query("how many matches a bot has played", lambda: history.count(engine, [(bot,)]))
    measure_query("the newest matches of a bot", lambda: history.matches(engine, [(bot,)]))
    measure_query("all versions", lambda: versions.listing(engine, retired=True))
    measure_query("whether any page has changed", lambda: snapshot.marks(engine))
    measure_query("how many of the ladder have closed", lambda: _closed(engine))
    for name, match_filter in FILTERS.items():
        measure_query(f"search: {name}", partial(search.closed_matches, engine, match_filter))
        tenth = search.closed_matches(engine, match_filter, limit=500).last
        if tenth:
            page = partial(search.closed_matches, engine, match_filter, tenth)
            measure_query(f"search: {name}, page 11", page)
    measure_query(
        "what db check finds", lambda: list(consistency.problems(engine, lambda *_: None)), 1
    )
    # Last, because they add rounds. The first one stores the sums.
    measure_query("a round paired from all matches", lambda: Scheduler(engine).advance(), 1)
    _void_oldest_round(engine)
    measure_query(
        "the first round after a start, from stored sums", lambda: Scheduler(engine).advance(), 1
    )


def _void_oldest_round(engine: Engine) -> None:
    """End the oldest due round of the ladder, so that the next one can be paired."""
    matches = schema.matches
    due = (matches.c.tournament == bulk.LADDER, matches.c.state.in_(OPEN))
    oldest = select(func.min(matches.c.round)).where(*due).scalar_subquery()
    with writing(engine) as connection:
        round_due = (*due, matches.c.round == oldest)
        connection.execute(update(matches).where(*round_due).values(state=MatchState.VOID))


def _closed(engine: Engine) -> int:
    with reading(engine) as connection:
        return tournaments.closed(connection, [bulk.LADDER])


def main() -> None:
    """Write a database, and measure."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--matches", type=at_least(1), default=10_000_000)
    source = parser.add_mutually_exclusive_group()
    source.add_argument("--keep", type=Path, help="a new folder in which the database stays")
    source.add_argument("--stored", type=Path, help="the folder that --keep left")
    parser.add_argument("--database", help="the URL of a PostgreSQL database")
    options = parser.parse_args()
    if options.stored and not (options.stored / "arena.db").is_file():
        parser.error(
            f"argument --stored: {options.stored} has no file arena.db; name the folder of --keep"
        )
    target = database.open(options.database) if options.database else None
    if target is not None and database.version(target) is not None:
        measure(target)
        return
    with tempfile.TemporaryDirectory() as folder:
        if options.stored:
            engine = database.open(Folder(options.stored).database_url({}))
        else:
            step = f"writing {options.matches:,} matches"
            kept = options.keep or Path(folder)
            engine = ladder_computation.timed(step, lambda: bulk.write(kept, BOTS, options.matches))
        file = Path(str(engine.url.database))
        print(f"{file.stat().st_size / 2**30:.1f} GB", flush=True)
        if target is not None:
            step = "restoring them into PostgreSQL"
            ladder_computation.timed(
                step, lambda: backup_file.restore(target, file, lambda *_: None)
            )
        measure(target or engine)


if __name__ == "__main__":
    main()
