"""Rows of a ladder of Poke, written straight into the tables without playing the matches.

Each match has one board (two games) with points; a round has a hundred matches. Results have the
digests that closing the matches would have written.
"""

import random
from collections.abc import Iterator
from typing import Any

from sqlalchemy import Engine, insert, text

from arena.presentation.registry import presentation_of
from arena.ratings.closed_match import FINISHED, ClosedGame, ClosedMatch
from arena.ratings.decision_histogram import DecisionHistogram
from arena.ratings.match_digest import digest
from arena.store import database, schema
from arena.store.bots import versions
from arena.store.schema import MatchState, TournamentState

MATCHES_PER_ROUND = 100
INSERT_BATCH = 10_000
GAME = "poke"
TOURNAMENT_ID = "t-bench0"
COUNTED = """
UPDATE tournaments SET (matches, games) = (
    SELECT count(*), coalesce(sum(games), 0) FROM matches WHERE matches.tournament = tournaments.id
)
"""


def name(place: int) -> str:
    """Return the name of a bot."""
    return f"bot{place:03}@1"


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


def rows(
    bots: int, first: int, many: int, dice: random.Random
) -> Iterator[tuple[dict[str, Any], dict[str, Any], list[dict[str, Any]]]]:
    """Yield the rows of matches, of their results and of their entrants."""
    times = [
        DecisionHistogram.of(dice.lognormvariate(1, 1) for _ in range(60)).stored()
        for _ in range(50)
    ]
    for at in range(first, first + many):
        left, second = sorted(dice.sample(range(bots), 2))
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
            [
                {
                    "match": match,
                    "position": position,
                    "version": name(bot),
                    "closed": float(at),
                    "tournament": TOURNAMENT_ID,
                }
                for position, bot in enumerate((left, second))
            ],
        )


def write(engine: Engine, bots: int, first: int, many: int, dice: random.Random) -> None:
    """Write closed matches."""
    for start in range(first, first + many, INSERT_BATCH):
        batch = list(rows(bots, start, min(INSERT_BATCH, first + many - start), dice))
        with database.writing(engine) as connection:
            connection.execute(insert(schema.matches), [match for match, _, _ in batch])
            connection.execute(insert(schema.results), [result for _, result, _ in batch])
            connection.execute(
                insert(schema.match_entrants), [row for _, _, sides in batch for row in sides]
            )
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


def begin(engine: Engine, bots: int) -> None:
    """Create the schema, the bots and the tournament."""
    database.upgrade(engine)
    for place in range(bots):
        versions.add(engine, f"bot{place:03}", "1", f"{place:064x}", "/", {})
    with database.writing(engine) as connection:
        values = tournament(TOURNAMENT_ID, GAME, TournamentState.RUNNING)
        connection.execute(insert(schema.tournaments).values(**values))
