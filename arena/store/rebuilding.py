"""Results made anew from the records: to check what is stored, or to put it right.

The record of a game is what happened; everything else that is stored of it follows from it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Connection, Engine, select, update

from arena.digest import Digest, read
from arena.store import games, outcome, schema
from arena.store.database import reading, writing
from arena.store.outcome import Result
from arena.store.schema import MatchState
from arena.thinking import Thinking

_OF_GAMES: Final = ("places", "scores", "verdicts", "faults", "thinking")
_OF_RESULTS: Final = ("outcome", "digest", "thinking")


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """A closed match from its records alone.

    digest: None if a record cannot be read. games: how many it has. differences: what is stored
    otherwise, in words. missing: whether something has not been summed up yet, in an older
    database. values, rows: what the result, and each game by its number, should say.
    """

    match: str
    digest: Digest | None
    games: int
    differences: tuple[str, ...]
    missing: bool
    values: Mapping[str, Any]
    rows: Mapping[int, Mapping[str, Any]]

    @property
    def thinking(self) -> dict[str, Thinking]:
        """How long its entrants thought."""
        if self.digest is None:
            return {}
        times = map(Thinking.read, self.values["thinking"])
        return dict(zip(self.digest.entrants, times, strict=True))


def rebuilt(engine: Engine, of: Sequence[str]) -> Iterator[Rebuilt]:
    """The closed matches of tournaments (the oldest first) in canonical order. Changes nothing."""
    table, tournaments = schema.matches, schema.tournaments
    for age, tournament in enumerate(of):
        query = (
            select(*table.c["id", "round", "number", "state", "games"], tournaments.c.game)
            .join(tournaments, tournaments.c.id == table.c.tournament)
            .where(table.c.tournament == tournament, table.c.state == MatchState.CLOSED)
            .order_by(table.c.round, table.c.number)
        )
        with reading(engine) as connection:
            for match in connection.execute(query).all():
                yield _rebuilt(connection, match, age)


def store(engine: Engine, found: Rebuilt) -> None:
    """Writes down what a match should say; nothing if a record of it cannot be read."""
    if found.digest is None:
        return
    results, table = schema.results, schema.games
    with writing(engine, "rebuild") as connection:
        connection.execute(
            update(results).where(results.c.match == found.match).values(**found.values)
        )
        for number, row in found.rows.items():
            of_game = (table.c.match == found.match, table.c.game == number)
            connection.execute(update(table).where(*of_game).values(**row))


def _rebuilt(connection: Connection, match: Any, age: int) -> Rebuilt:
    sides, table, results = schema.match_entrants, schema.games, schema.results
    entrants: list[str] = list(
        connection.execute(
            select(sides.c.version).where(sides.c.match == match.id).order_by(sides.c.position)
        ).scalars()
    )
    stored = connection.execute(
        select(*table.c["game", "record", *_OF_GAMES])
        .where(table.c.match == match.id)
        .order_by(table.c.game)
    ).all()
    result = connection.execute(
        select(*results.c["outcome", "digest", "thinking"]).where(results.c.match == match.id)
    ).one_or_none()
    try:
        rows = {game.game: _row(game.record, entrants) for game in stored}
        if sorted(rows) != list(range(match.games)):
            raise ValueError(f"of its {match.games} games there are {len(rows)}")
        again = _result(match, entrants, rows)
    except ValueError as error:
        said = (f"match {match.id} cannot be made anew: {error}",)
        return Rebuilt(match.id, None, len(stored), said, False, {}, {})
    values = {"outcome": again.outcome, "digest": again.digest, "thinking": again.thinking}
    told: list[tuple[str, Any, Mapping[str, Any], Sequence[str]]]
    told = [(f"game {game.game}", game, rows[game.game], _OF_GAMES) for game in stored]
    if result is not None:
        told.append(("the result", result, values, _OF_RESULTS))
    differences = [
        f"match {match.id}: {word} of {what} are not those of the record"
        for what, was, should, words in told
        for word in words
        if getattr(was, word) != should[word] and not _is_missing(was, word)
    ]
    if result is None:
        differences.append(f"match {match.id} is closed and has no result")
    return Rebuilt(
        match.id,
        read(again.digest, match.id, age, match.round, match.number),
        len(stored),
        tuple(differences),
        any(_is_missing(was, word) for _, was, _, words in told for word in words),
        values,
        rows,
    )


def _is_missing(row: Any, word: str) -> bool:
    """Whether it was never counted: databases of before have neither digests nor times."""
    return word in ("digest", "thinking") and getattr(row, word) is None


def _row(record: str, entrants: Sequence[str]) -> dict[str, Any]:
    game = games.read(record, entrants)
    return {
        "places": list(game.places),
        "scores": None if game.scores is None else list(game.scores),
        "verdicts": list(game.verdicts),
        "faults": list(game.faults),
        "thinking": [times.stored() for times in game.thinking],
    }


def _result(match: Any, entrants: Sequence[str], rows: Mapping[int, Mapping[str, Any]]) -> Result:
    said = [
        {"game": number, **{word: rows[number][word] for word in _OF_GAMES if word != "thinking"}}
        for number in sorted(rows)
    ]
    thinking = [rows[number]["thinking"] for number in sorted(rows)]
    return outcome.result(match.game, match.id, entrants, said, thinking)
