"""The stored form of a ladder: its sums, its standings, and the position up to which both hold.

A process that starts reads it instead of all matches and the fit of strengths. It is only a cache:
it always equals what the matches give. It consists of a checksum, a header in JSON, and arrays,
which are used where they are, without a copy.
"""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, astuple, dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from arena.ratings.decision_histogram import DecisionHistogram
from arena.ratings.elo import EloSettings
from arena.ratings.meetings import Meetings
from arena.ratings.packed_sums import LineUpBlock, PackedSums, pack
from arena.ratings.points import Points
from arena.ratings.standings import Standings, StandingsLine, StandingsSums
from arena.ratings.strength.fit import Strength, StrengthBound, Strengths
from arena.ratings.strength.misfit import LackOfFit, Misfit
from arena.ratings.strength.settings import StrengthSettings
from arena.ratings.strength.solver import Covariance, DenseCovariance, StrengthDifferences
from arena.ratings.strength.sparse_solver import LocalCovariance, SampledCovariance

VERSION: Final = 1
"""Version of the stored form and of the values: raise it if the sums or the fit change."""
_HEAD: Final = struct.Struct("<IIQ")
"""The checksum of the rest, the version, and the length of the header."""
_ALIGNED: Final = 64
Array = NDArray[Any]


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
    packed = pack(table.meetings.sums)
    arrays: list[Array] = [np.frombuffer(json.dumps(sums.state()).encode(), np.uint8)]
    for block in packed.blocks:
        arrays += [block.entrants, block.halves]
        arrays += [] if block.once else [block.matches, block.products]
    fitted = table.strengths
    arrays += _covariance_arrays(fitted.gaps.covariance)
    header = {
        "position": position,
        "clip": table.clip,
        "names": packed.names,
        "is_packed": not isinstance(table.meetings.sums, dict),
        "blocks": [(block.games, block.once) for block in packed.blocks],
        "settings": asdict(fitted.settings),
        "lines": [_line_values(line) for line in table.lines],
        "groups": fitted.groups,
        "lack_of_fit": fitted.lack_of_fit and astuple(fitted.lack_of_fit),
        "pair_deviation": fitted.pair_deviation,
        "thinking": {name: times.stored() for name, times in table.thinking.items()},
    }
    return _joined(header, arrays)


def read(data: bytes | bytearray) -> StoredStandings | None:
    """Return a stored ladder; None if it is damaged or has another version."""
    parts = _parted(data)
    if parts is None:
        return None
    header, arrays = parts
    following = iter(arrays)
    sums = next(following)
    blocks = []
    for games, once in header["blocks"]:
        entrants, halves = next(following), next(following)
        matches = np.broadcast_to(np.int32(1), len(entrants)) if once else next(following)
        products = np.zeros((len(entrants), 0), np.int64) if once else next(following)
        blocks.append(LineUpBlock(games, once, entrants, matches, halves, products))
    packed = PackedSums(tuple(header["names"]), tuple(blocks))
    meetings = Meetings(packed if header["is_packed"] else dict(packed.items()))
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


def _joined(header: Mapping[str, Any], arrays: Sequence[Array]) -> bytearray:
    shapes = [(array.dtype.str, array.shape) for array in arrays]
    text = json.dumps([header, shapes]).encode()
    begins = [_aligned(_HEAD.size + len(text))]
    for array in arrays:
        begins.append(_aligned(begins[-1] + array.nbytes))
    data = bytearray(begins[-1])
    data[_HEAD.size : _HEAD.size + len(text)] = text
    for begin, array in zip(begins, arrays, strict=False):
        view = np.frombuffer(data, array.dtype, array.size, begin)
        view.reshape(array.shape)[...] = array
    _HEAD.pack_into(data, 0, 0, VERSION, len(text))
    _HEAD.pack_into(data, 0, _checksum(data), VERSION, len(text))
    return data


def _parted(data: bytes | bytearray) -> tuple[dict[str, Any], list[Array]] | None:
    if len(data) < _HEAD.size:
        return None
    checksum, version, length = _HEAD.unpack_from(data)
    if version != VERSION or checksum != _checksum(data):
        return None
    header, shapes = json.loads(data[_HEAD.size : _HEAD.size + length])
    arrays = []
    begin = _aligned(_HEAD.size + length)
    for kind, shape in shapes:
        count = int(np.prod(shape, dtype=np.int64))
        array = np.frombuffer(data, np.dtype(kind), count, begin) if count else np.zeros(0, kind)
        arrays.append(array.reshape(shape))
        begin = _aligned(begin + array.nbytes)
    return header, arrays


def _aligned(place: int) -> int:
    return -(-place // _ALIGNED) * _ALIGNED


def _checksum(data: bytes | bytearray) -> int:
    return zlib.crc32(memoryview(data)[4:])


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


_BOUND: Final = Strength.__slots__.index("bound")
_FURTHER: Final = tuple(
    name for name in StandingsLine.__slots__ if name not in ("entrant", "strength", "board")
)


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
    ratio, freedom, likelihood, worst = values
    return LackOfFit(ratio, tuple(freedom), likelihood, tuple(Misfit(*pair) for pair in worst))
