"""Read closed matches from their games."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, Select, null, select

from arena.ratings.closed_match import FINISHED, ClosedMatch, PlayedGame, means, scores
from arena.ratings.decision_histogram import DecisionHistogram
from arena.store import schema
from arena.store.database import id_batches
from arena.store.match_settings import Clock, ClockClass, ladder_name
from arena.store.matches.games import stored_game, total_thinking

if TYPE_CHECKING:
    from referee.games.contract import OptionValue


@dataclass(frozen=True, slots=True)
class PlayedMatch:
    """A match whose games are over; tuples are in the order of its entrants.

    Attributes:
        seats: the number of seats.
        round: its round, from 0.
        number: its number within the round, from 0.
        closed: when it closed, in seconds since 1970; 0 if it has become void.
        entrants: versions as ``name@number``.
    """

    match: str
    tournament: str
    name: str
    game: str
    seats: int
    options: Mapping[str, OptionValue]
    round: int
    number: int
    closed: float
    entrants: tuple[str, ...]
    games: tuple[PlayedGame, ...]
    clock_class: ClockClass = ClockClass.FAST

    @property
    def form(self) -> str:
        """The form that it played."""
        from referee.games.registry import form_of

        return form_of(self.game, self.seats, self.options)

    @property
    def ladder(self) -> str:
        """The name of the ladder of its form and clock class."""
        return ladder_name(self.form, self.clock_class)

    @property
    def result(self) -> ClosedMatch:
        """Its result, as ratings require it; `tournament` is 0 in it."""
        return ClosedMatch(self.match, self.round, self.number, self.entrants, self.games)

    @property
    def thinking(self) -> tuple[DecisionHistogram, ...]:
        """The decision times of its entrants; empty unless all games have them."""
        return total_thinking(self.games)

    def score(self, entrant: str) -> float:
        """Return the mean score of an entrant against its opponents, from 0 to 1."""
        return means(scores(self.games))[self.entrants.index(entrant)]

    def faults(self) -> dict[str, dict[str, int]]:
        """Count the games that faults ended, by entrant and verdict; only entrants with faults."""
        counts: dict[str, dict[str, int]] = {}
        for game in self.games:
            for name, verdict in zip(self.entrants, game.verdicts, strict=True):
                if verdict != FINISHED:
                    kinds = counts.setdefault(name, {})
                    kinds[verdict] = kinds.get(verdict, 0) + 1
        return counts

    def opponents(self, entrant: str) -> tuple[str, ...]:
        """Return all entrants except this one."""
        return tuple(name for name in self.entrants if name != entrant)


def with_ids(
    connection: Connection, ids: Sequence[str], *, with_thinking: bool = True
) -> dict[str, PlayedMatch]:
    """Return the matches with these ids whose games are over, also void ones; by id.

    The results of an open match must not be shown.

    Args:
        with_thinking: whether decision times are read, which takes a third of the time.
    """
    found = {}
    for batch in id_batches(ids):
        query = _entrants_query().where(schema.match_entrants.c.match.in_(batch))
        by_match = groupby(connection.execute(query), lambda row: row.match)
        entrants = {match: list(group) for match, group in by_match}
        games = connection.execute(_games_query(batch, with_thinking))
        for match, rows in groupby(games, lambda row: row.match):
            found[match] = _played(entrants[match], tuple(map(stored_game, rows)))
    return found


def _entrants_query() -> Select[Any]:
    matches, tournaments, sides = schema.matches, schema.tournaments, schema.match_entrants
    return (
        select(
            *sides.c["match", "version", "closed"],
            *matches.c["tournament", "round", "number"],
            *tournaments.c["name", "game", "seats", "options", "allowance_ms", "bank_ms"],
        )
        .join(matches, matches.c.id == sides.c.match)
        .join(tournaments, tournaments.c.id == matches.c.tournament)
        .order_by(sides.c.match, sides.c.position)
    )


def _games_query(batch: Sequence[str], with_thinking: bool) -> Select[Any]:
    games = schema.games
    return (
        select(
            *games.c["match", "game", "places", "scores", "verdicts", "faults"],
            *games.c["corrections", "defaults"],
            games.c.thinking if with_thinking else null().label("thinking"),
        )
        .where(games.c.match.in_(batch))
        .order_by(games.c.match, games.c.game)
    )


def _played(entrants: Sequence[Any], games: tuple[PlayedGame, ...]) -> PlayedMatch:
    first = entrants[0]
    return PlayedMatch(
        match=first.match,
        tournament=first.tournament,
        name=first.name,
        game=first.game,
        seats=first.seats,
        options=first.options,
        round=first.round,
        number=first.number,
        closed=first.closed or 0.0,
        entrants=tuple(row.version for row in entrants),
        games=games,
        clock_class=Clock(allowance_ms=first.allowance_ms, bank_ms=first.bank_ms).clock_class,
    )
