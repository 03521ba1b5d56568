"""The matches that some versions have played, newest first, a page at a time."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Engine, Row, Select, func, select

from arena.results import FINISHED, ClosedGame, means, scores
from arena.store import schema
from arena.store.database import reading
from arena.store.outcome import games_of
from arena.thinking import Thinking


@dataclass(frozen=True, slots=True)
class Played:
    """A closed match. Tuples are in the order of its entrants.

    name: of the tournament. closed: when, in seconds since 1970.
    thinking: how long the entrants thought; empty if it was never counted.
    """

    match: str
    tournament: str
    name: str
    form: str
    round: int
    closed: float
    entrants: tuple[str, ...]
    games: tuple[ClosedGame, ...]
    thinking: tuple[Thinking, ...]

    def score(self, entrant: str) -> float:
        """The mean score of an entrant against its opponents, from 0 to 1."""
        return means(scores(self.games))[self.entrants.index(entrant)]

    def faults(self) -> dict[str, dict[str, int]]:
        """How many games faults ended, by entrant and kind; of those who had any."""
        found: dict[str, dict[str, int]] = {}
        for game in self.games:
            for name, verdict in zip(self.entrants, game.verdicts, strict=True):
                if verdict != FINISHED:
                    kinds = found.setdefault(name, {})
                    kinds[verdict] = kinds.get(verdict, 0) + 1
        return found

    def opponents(self, entrant: str) -> tuple[str, ...]:
        """Everyone else."""
        return tuple(name for name in self.entrants if name != entrant)


def count(engine: Engine, sitting: Sequence[Collection[str]], of: Collection[str] = ()) -> int:
    """How many there are; as `matches` takes them."""
    query = _chosen(select(func.count()), sitting, of)
    with reading(engine) as connection:
        return int(connection.execute(query).scalar_one())


def matches(
    engine: Engine,
    sitting: Sequence[Collection[str]],
    of: Collection[str] = (),
    offset: int = 0,
    limit: int = 50,
) -> tuple[Played, ...]:
    """Closed matches, the newest first.

    Args:
        sitting: one of each of these sat (versions as ``name@number``).
        of: only those of these tournaments; of all if there are none.
        offset, limit: which of them.
    """
    results, matches, held = schema.results, schema.matches, schema.tournaments
    query = _chosen(
        select(
            *results.c["match", "outcome", "thinking", "closed"],
            *matches.c["tournament", "round"],
            *held.c["name", "game", "seats", "options"],
        ),
        sitting,
        of,
    )
    query = query.order_by(results.c.closed.desc(), results.c.match).offset(offset).limit(limit)
    with reading(engine) as connection:
        return tuple(_played(row) for row in connection.execute(query))


def _chosen(
    query: Select[Any], sitting: Sequence[Collection[str]], of: Collection[str]
) -> Select[Any]:
    results, matches, held = schema.results, schema.matches, schema.tournaments
    query = query.select_from(
        results.join(matches, matches.c.id == results.c.match).join(
            held, held.c.id == matches.c.tournament
        )
    )
    sides = schema.match_entrants
    for some in sitting:
        sat = select(sides.c.match).where(sides.c.version.in_(some))
        query = query.where(matches.c.id.in_(sat))
    return query.where(matches.c.tournament.in_(of)) if of else query


def _played(row: Row[Any]) -> Played:
    from arena.form import form_of

    return Played(
        match=row.match,
        tournament=row.tournament,
        name=row.name,
        form=form_of(row.game, row.seats, row.options),
        round=row.round,
        closed=float(row.closed),
        entrants=tuple(row.outcome["entrants"]),
        games=games_of(row.outcome),
        thinking=tuple(map(Thinking.read, row.thinking or ())),
    )
