"""Closed matches of a ladder of Poke, written straight into the tables without being played.

Each match has one board (two games) with points; a round has a hundred matches.
"""

import random
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from sqlalchemy import Engine, func, insert, select, text

from arena.ratings.closed_match import FINISHED
from arena.ratings.decision_histogram import DecisionHistogram
from arena.store import closings, database, schema
from arena.store.bots import versions
from arena.store.schema import ClosingKind, MatchState, TournamentState

MATCHES_PER_ROUND: Final = 100
INSERT_BATCH: Final = 5_000
GAME: Final = "poke"
TOURNAMENT_ID: Final = "t-bench0"
COUNTED: Final = """
UPDATE tournaments SET (matches, games) = (
    SELECT count(*), coalesce(sum(games), 0) FROM matches WHERE matches.tournament = tournaments.id
)
"""


class MatchRows(NamedTuple):
    """The rows of a match."""

    match: dict[str, Any]
    result: dict[str, Any]
    sides: list[dict[str, Any]]
    games: list[dict[str, Any]]


def name(place: int) -> str:
    """Return the name of a bot."""
    return f"bot{place:03}@1"


def rows(bots: int, first: int, many: int, dice: random.Random) -> Iterator[MatchRows]:
    """Yield the rows of matches: a bot with a smaller number is stronger."""
    times = [
        DecisionHistogram.of(dice.lognormvariate(1, 1) for _ in range(30)).stored()
        for _ in range(50)
    ]
    for at in range(first, first + many):
        pair = sorted(dice.sample(range(bots), 2))
        match = f"m-{at:010}"
        leads = [round(dice.gauss((pair[1] - pair[0]) / 40, 3)) for _ in range(2)]
        yield MatchRows(
            {
                "id": match,
                "tournament": TOURNAMENT_ID,
                "round": at // MATCHES_PER_ROUND,
                "number": at % MATCHES_PER_ROUND,
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
            {"match": match, "attempt": 1, "closed": float(at)},
            [
                {
                    "match": match,
                    "position": position,
                    "version": name(bot),
                    "closed": float(at),
                    "tournament": TOURNAMENT_ID,
                }
                for position, bot in enumerate(pair)
            ],
            [
                {
                    "match": match,
                    "game": number,
                    "table_number": number,
                    "board": 0,
                    "attempt": 1,
                    "places": [1, 1] if not lead else [1, 2] if lead > 0 else [2, 1],
                    "scores": [1000 + 100 * lead, 1000],
                    "verdicts": [FINISHED, FINISHED],
                    "faults": [0, 0],
                    "tally": {},
                    "committed": float(at),
                    "record": "",
                    "thinking": [dice.choice(times), dice.choice(times)],
                }
                for number, lead in enumerate(leads)
            ],
        )


def write(engine: Engine, bots: int, first: int, many: int, dice: random.Random) -> None:
    """Write closed matches, as transactions that close them would."""
    for start in range(first, first + many, INSERT_BATCH):
        batch = list(rows(bots, start, min(INSERT_BATCH, first + many - start), dice))
        with database.writing(engine) as connection:
            connection.execute(insert(schema.matches), [each.match for each in batch])
            for table, of_all in (
                (schema.results, [each.result for each in batch]),
                (schema.match_entrants, [row for each in batch for row in each.sides]),
                (schema.games, [row for each in batch for row in each.games]),
            ):
                connection.execute(insert(table), of_all)
            for each in batch:
                closings.add_closing(
                    connection,
                    ClosingKind.MATCH_CLOSED,
                    match=each.match["id"],
                    tournament=TOURNAMENT_ID,
                )
            connection.execute(text(COUNTED))


def begin(engine: Engine, bots: int) -> None:
    """Create the schema, the bots and the tournament."""
    database.upgrade(engine)
    for place in range(bots):
        versions.add_version(engine, f"bot{place:03}", "1", f"{place:064x}", "/", {})
    with database.writing(engine) as connection:
        connection.execute(
            insert(schema.tournaments).values(
                id=TOURNAMENT_ID,
                name="bench",
                game=GAME,
                options={},
                seats=2,
                boards=1,
                format="ladder",
                start_ms=1,
                allowance_ms=1,
                bank_ms=1,
                policy="lenient",
                state=TournamentState.RUNNING,
                created=0.0,
            )
        )


def rated(engine: Engine) -> int:
    """Return the number of matches on the ladder as pages show it."""
    fits = schema.ladder_fits
    query = select(func.max(fits.c.matches)).where(fits.c.ladder != TOURNAMENT_ID)
    with database.reading(engine) as connection:
        return int(connection.execute(query).scalar_one() or 0)
