"""The rows of ladders, which the rater writes, and pages, commands and exports select.

`arena.ladders.rater` describes when the rows change.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, astuple, dataclass
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import Connection, Engine, delete, insert, select

from arena.ladders import result_sums
from arena.ratings import crosstable
from arena.ratings.call_figures import CallFigures
from arena.ratings.decision_histogram import DecisionHistogram
from arena.ratings.points import Points
from arena.ratings.scale import Z95
from arena.ratings.standings import Standings, StandingsLine
from arena.ratings.strength.fit import Strength, StrengthBound
from arena.ratings.strength.kept_strengths import KnownStrengths
from arena.ratings.strength.lack_of_fit import LackOfFit, Misfit
from arena.store import schema
from arena.store.database import id_batches, read_rows, reading
from arena.store.match_settings import ClockClass
from arena.store.matches import model_calls

if TYPE_CHECKING:
    from arena.ladders.ladder_key import LadderKey
    from arena.ratings.crosstable import CrosstableCell

_IN_COLUMNS: Final = ("entrant", "strength", "elo", "matches", "board")


@dataclass(frozen=True, slots=True)
class Standing:
    """A line of a ladder, as it is stored.

    Attributes:
        place: its position in the order of strength, from 1.
        seen: when its last match closed, in seconds since 1970; None before it.
    """

    place: int
    line: StandingsLine
    thinking: DecisionHistogram
    seen: float | None


@dataclass(frozen=True, slots=True)
class Ladder:
    """A ladder, or the standings of a tournament.

    Attributes:
        scope: its key.
        seen: when the last match of each entrant closed, in seconds since 1970.
        seq: the event up to which results are included (`arena.store.closings`).
    """

    scope: LadderKey
    table: Standings
    seen: Mapping[str, float]
    seq: int = 0


@dataclass(frozen=True, slots=True)
class RatingPoint:
    """The strength of an entrant after a round.

    Attributes:
        round: number of rounds that were over.
        at: when the round was over, in seconds since 1970.
        matches: number of matches of the ladder by then.
        strength: its strength in Elo points.
    """

    round: int
    at: float
    matches: int
    version: str
    strength: float
    error: float

    @property
    def low(self) -> float:
        """The lower end of its 95 % interval."""
        return self.strength - Z95 * self.error

    @property
    def high(self) -> float:
        """The upper end of its 95 % interval."""
        return self.strength + Z95 * self.error


def read_ladder(engine: Engine, key: LadderKey) -> Ladder:
    """Return a ladder; without a line if it has not been computed yet."""
    fits, lines = schema.ladder_fits, schema.standings
    with reading(engine) as connection:
        row = connection.execute(select(fits).where(fits.c.ladder == key.id)).one_or_none()
        if row is None:
            return Ladder(key, Standings((), key.strength.among(()), key.clip), {})
        query = select(lines).where(lines.c.ladder == key.id).order_by(lines.c.place)
        rows = [_standing(line) for line in connection.execute(query)]
    names = [standing.line.entrant for standing in rows]
    table = Standings(
        tuple(standing.line for standing in rows),
        key.strength.among(names),
        key.clip,
        row.matches,
        tuple(map(tuple, row.groups)),
        _lack_of_fit(row.lack_of_fit),
        row.pair_deviation,
        row.unfitted,
        {each.line.entrant: each.thinking for each in rows if each.thinking.decisions},
        usage=measured_usage(engine, key),
    )
    seen = {each.line.entrant: each.seen for each in rows if each.seen is not None}
    return Ladder(key, table, seen, row.seq)


def measured_usage(engine: Engine, key: LadderKey) -> Mapping[str, CallFigures]:
    """Return the calls of models by entrant; empty for a ladder of another clock class."""
    if key.clock_class is not ClockClass.MODEL:
        return {}
    return model_calls.tournament_usage(engine, key.tournaments)


def known_strengths(engine: Engine, key: LadderKey) -> KnownStrengths | None:
    """Return the strengths to show if the ladder is too large to be fitted; None without rows.

    Entrants that are neither withdrawn nor retired are active.
    """
    if not key.id:
        return None
    lines, entrants, versions = schema.standings, schema.entrants, schema.versions
    playing = (
        select(entrants.c.version)
        .join(versions, versions.c.id == entrants.c.version)
        .where(
            entrants.c.tournament.in_(key.tournaments),
            entrants.c.withdrawn.is_(None),
            versions.c.retired.is_(None),
        )
    )
    last = select(*lines.c["version", "strength", "line"]).where(lines.c.ladder == key.id)
    with reading(engine) as connection:
        return KnownStrengths(
            frozenset(connection.execute(playing).scalars()),
            {
                row.version: (row.strength, row.line["strength"]["error"])
                for row in connection.execute(last)
            },
        )


def unfitted_ladders(engine: Engine) -> list[str]:
    """Return the keys of the ladders whose strengths are older than their results."""
    table = schema.ladder_fits
    query = select(table.c.ladder).where(table.c.unfitted.is_not(None)).order_by(table.c.ladder)
    return list(read_rows(engine, query).scalars())


def read_crosstable(
    engine: Engine,
    key: LadderKey,
    versions: Collection[str],
    others: Collection[str] | None = None,
) -> Mapping[tuple[str, str], CrosstableCell]:
    """Return the cells between some entrants that have met, in both directions.

    Args:
        others: their opponents; these entrants themselves by default, all if it is empty.
    """
    with reading(engine) as connection:
        table = schema.ladder_fits
        query = select(table.c.match_variance).where(table.c.ladder == key.id)
        variance = connection.execute(query).scalar_one_or_none()
        meetings = result_sums.meetings_between(
            connection, key.tournaments, versions, versions if others is None else others
        )
    return crosstable.cells(meetings, variance)


def read_history(engine: Engine, key: LadderKey) -> list[RatingPoint]:
    """Return the history of the entrants that are on a ladder, oldest first."""
    points, lines = schema.rating_points, schema.standings
    listed = select(lines.c.version).where(lines.c.ladder == key.id)
    query = (
        select(*points.c["round", "at", "matches", "version", "strength", "error"])
        .where(points.c.ladder == key.id, points.c.version.in_(listed))
        .order_by(points.c.round, points.c.version)
    )
    return [RatingPoint(*row) for row in read_rows(engine, query)]


def row_of(standing: Standing, settled_elo: float | None) -> dict[str, Any]:
    """Return the columns of a line, besides the ladder."""
    line = standing.line
    return {
        "version": line.entrant,
        "place": standing.place,
        "strength": line.strength.value,
        "elo": line.elo,
        "settled_elo": settled_elo,
        "matches": line.matches,
        "line": {
            "strength": {
                name: value for name, value in asdict(line.strength).items() if name != "entrant"
            },
            "board": line.board and list(astuple(line.board))[1:],
            **{
                name: getattr(line, name)
                for name in StandingsLine.__slots__
                if name not in _IN_COLUMNS
            },
        },
        "thinking": standing.thinking.stored(),
        "seen": standing.seen,
    }


def _standing(row: Any) -> Standing:
    values = dict(row.line)
    strength, board = dict(values.pop("strength")), values.pop("board")
    bound = strength.pop("bound")
    line = StandingsLine(
        entrant=row.version,
        strength=Strength(
            entrant=row.version, bound=StrengthBound(**bound) if bound else None, **strength
        ),
        elo=row.elo,
        matches=row.matches,
        board=Points(row.version, *board) if board else None,
        **values,
    )
    return Standing(row.place, line, DecisionHistogram.read(row.thinking), row.seen)


def _lack_of_fit(values: Mapping[str, Any] | None) -> LackOfFit | None:
    if values is None:
        return None
    worst = tuple(Misfit(**pair) for pair in values["worst"])
    return LackOfFit(**{**values, "freedom": tuple(values["freedom"]), "worst": worst})


def replace_rows(connection: Connection, ladder: str, rows: Sequence[Mapping[str, Any]]) -> None:
    """Write the lines of a ladder: only those that have changed."""
    table = schema.standings
    stored = {
        row["version"]: row
        for row in connection.execute(select(table).where(table.c.ladder == ladder)).mappings()
    }
    changed = [
        row
        for row in rows
        if row["version"] not in stored
        or any(stored[row["version"]][name] != value for name, value in row.items())
    ]
    gone = sorted(stored.keys() - {row["version"] for row in rows})
    for batch in id_batches([*gone, *(row["version"] for row in changed)]):
        connection.execute(
            delete(table).where(table.c.ladder == ladder, table.c.version.in_(batch))
        )
    if changed:
        connection.execute(insert(table), [{"ladder": ladder, **row} for row in changed])
