"""A header in JSON and numpy arrays as bytes, with a checksum.

The arrays are used where they are, without a copy. `pickle` is not used, because it executes what
the bytes contain.
"""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from arena.ratings.meetings import Meetings
from arena.ratings.packed_sums import LineUpBlock, PackedSums, pack

Array = NDArray[Any]
_HEAD: Final = struct.Struct("<IIQ")
"""The checksum of the rest, the version, and the length of the header."""
_ALIGNED: Final = 64


def to_bytes(version: int, header: Mapping[str, Any], arrays: Sequence[Array]) -> bytearray:
    """Return a header and arrays as bytes, for `from_bytes`.

    Args:
        version: version of the form.
        header: values for JSON.
        arrays: arrays of numbers.
    """
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
    _HEAD.pack_into(data, 0, 0, version, len(text))
    _HEAD.pack_into(data, 0, _checksum(data), version, len(text))
    return data


def from_bytes(version: int, data: bytes | bytearray) -> tuple[dict[str, Any], list[Array]] | None:
    """Return the header and the arrays; None if the bytes are damaged or of another version."""
    if len(data) < _HEAD.size:
        return None
    checksum, stored_version, length = _HEAD.unpack_from(data)
    if stored_version != version or checksum != _checksum(data):
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


def meetings_to_arrays(table: Meetings) -> tuple[dict[str, Any], list[Array]]:
    """Return a table of sums as values of a header and arrays, for `meetings_from_arrays`."""
    packed = pack(table.sums)
    arrays: list[Array] = []
    for block in packed.blocks:
        arrays += [block.entrants, block.halves]
        arrays += [] if block.once else [block.matches, block.products]
    values = {
        "names": packed.names,
        "is_packed": not isinstance(table.sums, dict),
        "blocks": [(block.games, block.once) for block in packed.blocks],
    }
    return values, arrays


def meetings_from_arrays(header: Mapping[str, Any], arrays: Iterator[Array]) -> Meetings:
    """Return the table of sums in a header and the next arrays."""
    blocks = []
    for games, once in header["blocks"]:
        entrants, halves = next(arrays), next(arrays)
        matches = np.broadcast_to(np.int32(1), len(entrants)) if once else next(arrays)
        products = np.zeros((len(entrants), 0), np.int64) if once else next(arrays)
        blocks.append(LineUpBlock(games, once, entrants, matches, halves, products))
    packed = PackedSums(tuple(header["names"]), tuple(blocks))
    return Meetings(packed if header["is_packed"] else dict(packed.items()))


def _aligned(place: int) -> int:
    return -(-place // _ALIGNED) * _ALIGNED


def _checksum(data: bytes | bytearray) -> int:
    return zlib.crc32(memoryview(data)[4:])
