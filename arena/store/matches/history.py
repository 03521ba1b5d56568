"""The matches that some versions have played, newest first, a page at a time."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Engine, Row, Select, func, select

from arena.ratings.closed_match import FINISHED, ClosedGame, means, scores
from arena.ratings.decision_histogram import Thinking
from arena.store import schema
from arena.store.database import reading
from arena.store.matches.outcome import games_of


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
    query = select(func.count()).select_from(_chosen(sitting, of).subquery())
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
    chosen = _chosen(sitting, of)
    order = chosen.selected_columns
    page = chosen.order_by(order.closed.desc(), order.match).offset(offset).limit(limit).subquery()
    query = (
        select(
            *results.c["match", "outcome", "thinking", "closed"],
            *matches.c["tournament", "round"],
            *held.c["name", "game", "seats", "options"],
        )
        .join(page, page.c.match == results.c.match)
        .join(matches, matches.c.id == results.c.match)
        .join(held, held.c.id == matches.c.tournament)
        .order_by(results.c.closed.desc(), results.c.match)
    )
    with reading(engine) as connection:
        return tuple(_played(row) for row in connection.execute(query))


def _chosen(sitting: Sequence[Collection[str]], of: Collection[str]) -> Select[Any]:
    """The matches and when they closed, by the index of what each version played last."""
    matches, sides = schema.matches, schema.match_entrants
    first, *others = sitting
    query = select(*sides.c["match", "closed"]).where(
        sides.c.version.in_(first), sides.c.closed.is_not(None)
    )
    if len(first) > 1:
        # Two of them may have sat at one table.
        query = query.distinct()
    for some in others:
        beside = sides.alias()
        sat = select(beside.c.match).where(
            beside.c.match == sides.c.match, beside.c.version.in_(some)
        )
        query = query.where(sat.exists())
    if of:
        here = select(matches.c.id).where(
            matches.c.id == sides.c.match, matches.c.tournament.in_(of)
        )
        query = query.where(here.exists())
    return query


def _played(row: Row[Any]) -> Played:
    from arena.presentation.form_name import form_of

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
