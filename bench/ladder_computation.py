"""Measure the computation of ladders from a database of 200 bots and a million matches.

    uv run python -m bench.ladder_computation [--matches 1000000]

Each match has one board (two games) with points; a round has a hundred matches. The rows are
written straight into the SQLite tables, with the digests that closing the matches would have
written.
"""

import argparse
import json
import random
import resource
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from sqlalchemy import Engine, insert, text

from arena.ladders import ladder_sums
from arena.presentation.registry import presentation_of
from arena.ratings.closed_match import FINISHED, ClosedGame, ClosedMatch
from arena.ratings.decision_histogram import DecisionHistogram
from arena.ratings.match_digest import digest
from arena.ratings.strength.fit import strengths
from arena.store import database, schema
from arena.store.bots import versions
from arena.store.schema import MatchState, TournamentState
from bench.arguments import at_least

BOTS = 200
MATCHES_PER_ROUND = 100
INSERT_BATCH = 10_000
GAME = "poke"
TOURNAMENT_ID = "t-bench0"
TARGET = 10.0
COUNTED = """
UPDATE tournaments SET (matches, games) = (
    SELECT count(*), coalesce(sum(games), 0) FROM matches WHERE matches.tournament = tournaments.id
)
"""


def name(place: int) -> str:
    """Return the name of a bot."""
    return f"bot{place:03}@1"


def timed(what: str, work: Callable[[], Any], target: float | None = None) -> Any:
    """Run `work` and print its processor and wall-clock time."""
    cpu, began = time.process_time(), time.perf_counter()
    result = work()
    clock = time.perf_counter() - began
    verdict = (
        ""
        if target is None
        else f"target {target:g} s: {'reached' if clock < target else 'missed'}"
    )
    print(f"{what:56} {time.process_time() - cpu:7.3f} s {clock:7.3f} s  {verdict}", flush=True)
    return result


def result(first_bot: int, second_bot: int, first: int, second: int) -> tuple[dict[str, Any], str]:
    """Return outcome and digest of a match.

    Args:
        first_bot: index of the first bot.
        second_bot: index of the second bot.
        first: lead of the first bot in the first game, in hundreds of points.
        second: its lead in the second game.
    """
    games = tuple(
        ClosedGame(
            at,
            (1, 1) if not ahead else (1, 2) if ahead > 0 else (2, 1),
            (1000 + 100 * ahead, 1000),
            (FINISHED, FINISHED),
            (0, 0),
        )
        for at, ahead in enumerate((first, second))
    )
    match = ClosedMatch("", 0, 0, (name(first_bot), name(second_bot)), games)
    game_values = [
        {"game": g.game, "places": g.places, "scores": g.scores, "verdicts": g.verdicts}
        | {"faults": g.faults}
        for g in games
    ]
    outcome = {"entrants": match.entrants, "games": game_values}
    return outcome, digest(match, presentation_of(GAME).clip).text()


def rows(first: int, many: int, dice: random.Random) -> Iterator[tuple[dict[str, Any], ...]]:
    """Yield the rows of matches and of their results."""
    times = [
        DecisionHistogram.of(dice.lognormvariate(1, 1) for _ in range(60)).stored()
        for _ in range(50)
    ]
    for at in range(first, first + many):
        left, second = sorted(dice.sample(range(BOTS), 2))
        ahead = [round(dice.gauss((second - left) / 40, 3)) for _ in range(2)]
        outcome, text = result(left, second, *ahead)
        number, match = at % MATCHES_PER_ROUND, f"m-{at:010}"
        yield (
            {
                "id": match,
                "tournament": TOURNAMENT_ID,
                "round": at // MATCHES_PER_ROUND,
                "number": number,
                "key": match,
                "seed": b"",
                "commitment": "",
                "boards": 1,
                "games": 2,
                "state": MatchState.CLOSED,
                "attempt": 1,
                "failures": 0,
                "ended": float(at),
            },
            {
                "match": match,
                "attempt": 1,
                "outcome": outcome,
                "closed": float(at),
                "digest": text,
                "thinking": [dice.choice(times), dice.choice(times)],
            },
        )


def write(engine: Engine, first: int, many: int, dice: random.Random) -> None:
    """Write closed matches."""
    for start in range(first, first + many, INSERT_BATCH):
        batch = list(rows(start, min(INSERT_BATCH, first + many - start), dice))
        with database.writing(engine) as connection:
            connection.execute(insert(schema.matches), [match for match, _ in batch])
            connection.execute(insert(schema.results), [result for _, result in batch])
            connection.execute(text(COUNTED))


def tournament(id_: str, game: str, state: TournamentState) -> dict[str, Any]:
    """Return the row of a tournament with the ladder format."""
    return {
        "id": id_,
        "name": "bench",
        "game": game,
        "options": {},
        "seats": 2,
        "boards": 1,
        "format": "ladder",
        "start_ms": 1,
        "allowance_ms": 1,
        "bank_ms": 1,
        "policy": "lenient",
        "state": state,
        "created": 0.0,
    }


def begin(engine: Engine) -> None:
    """Create the schema, the bots and the tournament."""
    database.upgrade(engine)
    for place in range(BOTS):
        versions.add(engine, f"bot{place:03}", "1", f"{place:064x}", "/", {})
    with database.writing(engine) as connection:
        values = tournament(TOURNAMENT_ID, GAME, TournamentState.RUNNING)
        connection.execute(insert(schema.tournaments).values(**values))


def measure(engine: Engine, matches: int, dice: random.Random) -> None:
    """Print a line for each step of the computation."""
    of, clip = [TOURNAMENT_ID], presentation_of(GAME).clip
    meetings = timed("who met whom, read and summed up", lambda: ladder_sums.meetings(engine, of))
    timed("strengths of that", lambda: strengths(meetings))
    timed(
        "both: strengths from the database",
        lambda: strengths(ladder_sums.meetings(engine, of)),
        TARGET,
    )
    following = ladder_sums.LadderSums(engine, of, clip)
    timed("the whole ladder: Elo, points, faults, times as well", lambda: following.now().table())
    for more in range(3):
        write(engine, matches + more, 1, dice)
        timed("one more match: the whole ladder again", lambda: following.now().table())
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{'memory at the most':56} {peak:7.0f} MB")


def main() -> None:
    """Write a database, and measure."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--matches", type=at_least(1), default=1_000_000)
    matches = parser.parse_args().matches
    dice = random.Random(1)
    with tempfile.TemporaryDirectory() as folder:
        engine = database.open(f"sqlite:///{folder}/arena.db")
        begin(engine)
        timed(f"writing {matches:,} matches", lambda: write(engine, 0, matches, dice))
        size = Path(folder, "arena.db").stat().st_size / 2**20
        print(f"{json.dumps(result(0, 1, 3, -2)[0])[:60]}...: {size:.0f} MB")
        measure(engine, matches, dice)


if __name__ == "__main__":
    main()
