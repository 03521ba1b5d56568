"""The stored form of a ladder: its sums, its standings, and the position up to which both hold.

A process that starts reads it instead of all matches and the fit of strengths. It is only a cache:
it always equals what the matches give.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, astuple, dataclass
from typing import Any, Final

import numpy as np

from arena.ratings import stored_arrays
from arena.ratings.decision_histogram import DecisionHistogram
from arena.ratings.elo import EloSettings
from arena.ratings.points import Points
from arena.ratings.standings import Standings, StandingsLine, StandingsSums
from arena.ratings.stored_arrays import Array
from arena.ratings.strength.fit import Strength, StrengthBound, Strengths
from arena.ratings.strength.lack_of_fit import LackOfFit, Misfit
from arena.ratings.strength.settings import StrengthSettings
from arena.ratings.strength.solver import Covariance, DenseCovariance, StrengthDifferences
from arena.ratings.strength.sparse_solver import LocalCovariance, SampledCovariance

VERSION: Final = 1
"""Version of the stored form and of the values: raise it if the sums or the fit change."""
_BOUND: Final = Strength.__slots__.index("bound")
_FURTHER: Final = tuple(
    name for name in StandingsLine.__slots__ if name not in ("entrant", "strength", "board")
)


@dataclass(frozen=True, slots=True, eq=False)
class StoredStandings:
    """A stored ladder.

    Attributes:
        position: the values that the caller stored with it.
        table: the standings.
    """

    position: Mapping[str, Any]
    table: Standings
    _sums: Array

    def sums(self) -> StandingsSums:
        """Return the sums that the standings were computed from."""
        state = json.loads(self._sums.tobytes())
        return StandingsSums.restored(self.table.clip, state, self.table.meetings)


def stored(position: Mapping[str, Any], sums: StandingsSums, table: Standings) -> bytearray:
    """Return a ladder as bytes, for `read`.

    Args:
        position: further values for JSON, such as the position up to which the sums hold.
        sums: the sums, with the parameters of Elo at their defaults.
        table: the standings computed from them.
    """
    arrays: list[Array] = [np.frombuffer(json.dumps(sums.state()).encode(), np.uint8)]
    meetings, sums_arrays = stored_arrays.meetings_to_arrays(table.meetings)
    arrays += sums_arrays
    fitted = table.strengths
    arrays += _covariance_arrays(fitted.gaps.covariance)
    header = {
        "position": position,
        "clip": table.clip,
        **meetings,
        "settings": asdict(fitted.settings),
        "lines": [_line_values(line) for line in table.lines],
        "groups": fitted.groups,
        "lack_of_fit": fitted.lack_of_fit and astuple(fitted.lack_of_fit),
        "pair_deviation": fitted.pair_deviation,
        "thinking": {name: times.stored() for name, times in table.thinking.items()},
    }
    return stored_arrays.to_bytes(VERSION, header, arrays)


def read(data: bytes | bytearray) -> StoredStandings | None:
    """Return a stored ladder; None if it is damaged or has another version."""
    parts = stored_arrays.from_bytes(VERSION, data)
    if parts is None:
        return None
    header, arrays = parts
    following = iter(arrays)
    sums = next(following)
    meetings = stored_arrays.meetings_from_arrays(header, following)
    lines = tuple(map(_line, header["lines"]))
    strengths = Strengths(
        _settings(header["settings"]),
        tuple(line.strength for line in lines),
        StrengthDifferences([line.strength.value for line in lines], _covariance([*following])),
        tuple(map(tuple, header["groups"])),
        _lack_of_fit(header["lack_of_fit"]),
        header["pair_deviation"],
    )
    thinking = {name: DecisionHistogram.read(bins) for name, bins in header["thinking"].items()}
    table = Standings(lines, strengths, EloSettings(), header["clip"], meetings, thinking)
    return StoredStandings(header["position"], table, sums)


def _covariance_arrays(covariance: Covariance) -> list[Array]:
    """Return a matrix, or the parts of a sampled covariance."""
    if isinstance(covariance, DenseCovariance):
        return [covariance.matrix]
    assert isinstance(covariance, SampledCovariance)
    return list(covariance.parts())


def _covariance(arrays: Sequence[Array]) -> Covariance:
    if len(arrays) == 1:
        return DenseCovariance(arrays[0])
    *local, whole, rest, order = arrays
    return SampledCovariance(LocalCovariance(*local), whole, rest, order)


def _line_values(line: StandingsLine) -> list[Any]:
    """Return the values of a line; those of its strength come first."""
    strength, board = line.strength, line.board
    strength_values = [getattr(strength, name) for name in Strength.__slots__]
    strength_values[_BOUND] = strength.bound and astuple(strength.bound)
    further = [getattr(line, name) for name in _FURTHER]
    return [strength_values, board and astuple(board), further]


def _line(values: Sequence[Any]) -> StandingsLine:
    strength_values, board, further = values
    if strength_values[_BOUND]:
        strength_values[_BOUND] = StrengthBound(*strength_values[_BOUND])
    strength = Strength(*strength_values)
    return StandingsLine(
        entrant=strength.entrant,
        strength=strength,
        board=Points(*board) if board else None,
        **dict(zip(_FURTHER, further, strict=True)),
    )


def _settings(values: Mapping[str, Any]) -> StrengthSettings:
    anchors, loose = (tuple(map(tuple, values[name])) for name in ("anchors", "loose_anchors"))
    return StrengthSettings(**{**values, "anchors": anchors, "loose_anchors": loose})


def _lack_of_fit(values: Sequence[Any] | None) -> LackOfFit | None:
    if values is None:
        return None
    ratio, freedom, p_value, worst = values
    return LackOfFit(ratio, tuple(freedom), p_value, tuple(Misfit(*pair) for pair in worst))
