"""Store the rating histories of ladders from time to time, and read them after a start.

A stored history consists of its points, of the ends of finished rounds, and of sums of all matches
that had closed at a time. Later points follow from these sums and from the matches that have closed
since.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Final

from arena.store.tournaments import ladder_folds
from arena.store.tournaments.format_history import FinishedRounds
from arena.store.tournaments.ladder_folds import HISTORIES, StoredFold

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from arena.ladders.ladder_key import LadderKey
    from arena.ratings.meetings import Meetings

VERSION: Final = 1
"""Version of the stored form and of the values: raise it if the sums or the fit change."""


@dataclass(frozen=True, slots=True)
class StoredPoint:
    """The values of all entrants at the end of a round.

    Attributes:
        at: the time in seconds since 1970.
        round: number of the round.
        matches: number of matches that had closed.
        values: strengths and standard errors, by name.
    """

    at: float
    round: int
    matches: int
    values: Mapping[str, tuple[float, float]]


@dataclass(frozen=True, slots=True)
class StoredHistory:
    """The stored history of a ladder.

    Attributes:
        tournaments: the tournaments of the ladder at that time.
        corrections: number of corrections of results.
        points: the points, oldest first.
        finished: the rounds that are over, by tournament.
        at: the time up to which the sums hold, in seconds since 1970.
        sums: the sums of all matches that had closed by then.
    """

    tournaments: tuple[str, ...]
    corrections: int
    points: Sequence[StoredPoint]
    finished: Mapping[str, FinishedRounds]
    at: float
    sums: Meetings


def find(engine: Engine, scope: LadderKey) -> StoredHistory | None:
    """Return the stored history of a ladder; None if there is none, or if it does not hold."""
    fold = ladder_folds.find(engine, scope.tournaments[0], HISTORIES)
    if fold is None:
        return None
    # Imported here, because it loads numpy.
    from arena.ratings import stored_arrays

    parts = stored_arrays.from_bytes(VERSION, fold.data)
    if parts is None:
        return None
    header, arrays = parts
    of = tuple(header["tournaments"])
    if of != scope.tournaments[: len(of)] or tuple(header["anchors"]) != scope.anchors:
        return None
    following = iter(arrays)
    names, points = header["entrants"], []
    for at, number, matches in header["points"]:
        entrants, strengths = next(following), next(following)
        values = zip(entrants.tolist(), strengths.tolist(), strict=True)
        by_name = {names[entrant]: (value, error) for entrant, (value, error) in values}
        points.append(StoredPoint(at, number, matches, by_name))
    finished = {
        name: FinishedRounds(rounds["first"], rounds["matches"], tuple(rounds["ends"]))
        for name, rounds in header["finished"].items()
    }
    sums = stored_arrays.meetings_from_arrays(header, following)
    return StoredHistory(of, fold.corrections, points, finished, header["at"], sums)


def store(engine: Engine, scope: LadderKey, history: StoredHistory) -> None:
    """Store the history of a ladder in place of the earlier one."""
    import numpy as np

    from arena.ratings import stored_arrays

    names = sorted({name for point in history.points for name in point.values})
    numbers = {name: number for number, name in enumerate(names)}
    arrays: list[stored_arrays.Array] = []
    for point in history.points:
        arrays.append(np.array([numbers[name] for name in point.values], np.int32))
        arrays.append(np.array(list(point.values.values()), np.float64).reshape(-1, 2))
    meetings, sums = stored_arrays.meetings_to_arrays(history.sums)
    header = {
        "tournaments": history.tournaments,
        "anchors": scope.anchors,
        "entrants": names,
        "points": [(point.at, point.round, point.matches) for point in history.points],
        "finished": {name: asdict(rounds) for name, rounds in history.finished.items()},
        "at": history.at,
        **meetings,
    }
    data = stored_arrays.to_bytes(VERSION, header, [*arrays, *sums])
    fold = StoredFold(history.sums.matches, history.corrections, data)
    ladder_folds.store_history(engine, scope.tournaments[0], fold)
