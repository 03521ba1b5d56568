"""Sums by line-up as numpy arrays: 16 bytes for a pair that met once, instead of 400 as objects."""

from __future__ import annotations

from collections.abc import Collection, ItemsView, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, compress
from operator import attrgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arena.ratings.line_ups import LineUp, Sums, pairs, pairs_of_pairs

Ints = NDArray[np.integer[Any]]
_ROWS_AT_ONCE = 1 << 14


@dataclass(frozen=True)
class LineUpBlock:
    """All line-ups of one size and number of games; rows are line-ups, sorted by entrants.

    Attributes:
        games: number of games of a match.
        once: whether each line-up had one match only. Then `products` has no columns, because they
            follow from `halves`.
        entrants: (rows, seats).
        matches: (rows,).
        halves: (rows, pairs).
        products: (rows, pairs of pairs).
    """

    games: int
    once: bool
    entrants: Ints
    matches: Ints
    halves: Ints
    products: Ints

    @property
    def seats(self) -> int:
        """The number of entrants of a line-up."""
        return int(self.entrants.shape[1])

    @property
    def shape(self) -> tuple[int, int, bool]:
        """The sort key of blocks."""
        return self.seats, self.games, self.once

    def squares(self, pair: int, rows: slice = slice(None)) -> Ints:
        """Return the squared halves of one of `pairs`, summed over the matches: (rows,)."""
        if self.once:
            return np.square(self.halves[rows, pair], dtype=np.int64)
        return self.products[rows, pairs_of_pairs(self.seats).index((pair, pair))]

    def all_products(self) -> Ints:
        """Return the products, also if each line-up had one match only."""
        if not self.once:
            return self.products
        first, second = np.array(pairs_of_pairs(self.seats)).T
        halves = self.halves.astype(np.int64)
        return np.asarray(halves[:, first] * halves[:, second])

    def selection(self, rows: NDArray[np.bool_]) -> LineUpBlock:
        """Return the block with some of the line-ups."""
        columns = self.entrants, self.matches, self.halves, self.products
        return LineUpBlock(self.games, self.once, *(column[rows] for column in columns))

    def renumbered(self, numbers: Ints) -> LineUpBlock:
        """Return the block with the entrants `numbers[entrant]`, in the same order."""
        entrants = numbers[self.entrants]
        return LineUpBlock(
            self.games, self.once, entrants, self.matches, self.halves, self.products
        )


@dataclass(frozen=True, eq=False)
class PackedSums(Mapping[LineUp, Sums]):
    """A table of sums by line-up; an immutable value.

    Attributes:
        names: all entrants, sorted; the position of a name is the entrant's number.
        blocks: the line-ups, sorted by `LineUpBlock.shape`.
    """

    names: tuple[str, ...]
    blocks: tuple[LineUpBlock, ...]

    def __len__(self) -> int:
        """Return the number of line-ups."""
        return sum(len(block.entrants) for block in self.blocks)

    def __iter__(self) -> Iterator[LineUp]:
        return (line_up for line_up, _ in self._rows())

    def __getitem__(self, line_up: LineUp) -> Sums:
        entrants = tuple(map(self._numbers.get, line_up.entrants))
        for block in self.blocks:
            if (block.seats, block.games) == (
                len(entrants),
                line_up.games,
            ) and None not in entrants:
                rows = np.flatnonzero((block.entrants == np.array(entrants)).all(axis=1))
                for _, sums in self._of_block(block, rows):
                    return sums
        raise KeyError(line_up)

    def items(self) -> ItemsView[LineUp, Sums]:
        return _PackedItems(self)

    @property
    def matches(self) -> int:
        return sum(int(block.matches.sum(dtype=np.int64)) for block in self.blocks)

    def among(self, names: Collection[str]) -> PackedSums:
        """Return the line-ups all of whose entrants are among these."""
        kept = np.array([name in names for name in self.names], np.bool_)
        rows = [np.asarray(kept[block.entrants].all(axis=1)) for block in self.blocks]
        played = np.zeros(len(self.names), np.bool_)
        for block, of_block in zip(self.blocks, rows, strict=True):
            played[block.entrants[of_block]] = True
        numbers = np.cumsum(played) - 1
        return PackedSums(
            tuple(compress(self.names, played)),
            tuple(
                block.selection(of_block).renumbered(numbers)
                for block, of_block in zip(self.blocks, rows, strict=True)
                if of_block.any()
            ),
        )

    def _rows(self) -> Iterator[tuple[LineUp, Sums]]:
        for block in self.blocks:
            for begin in range(0, len(block.entrants), _ROWS_AT_ONCE):
                end = min(begin + _ROWS_AT_ONCE, len(block.entrants))
                yield from self._of_block(block, np.arange(begin, end))

    def _of_block(self, block: LineUpBlock, rows: Ints) -> Iterator[tuple[LineUp, Sums]]:
        columns = (block.entrants, block.matches, block.halves, block.products)
        for numbers, matches, halves, products in zip(
            *(column[rows].tolist() for column in columns), strict=True
        ):
            line_up = LineUp(tuple(self.names[number] for number in numbers), block.games)
            yield line_up, Sums(matches, tuple(halves), tuple(products))

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {name: number for number, name in enumerate(self.names)}


class _PackedItems(ItemsView[LineUp, Sums]):
    """The items of a table, which are read row by row."""

    def __init__(self, sums: PackedSums) -> None:
        super().__init__(sums)
        self._sums = sums

    def __iter__(self) -> Iterator[tuple[LineUp, Sums]]:
        return self._sums._rows()


def pack(sums: Mapping[LineUp, Sums]) -> PackedSums:
    """Return a table as arrays."""
    if isinstance(sums, PackedSums):
        return sums
    names = tuple(sorted(set(chain.from_iterable(map(attrgetter("entrants"), sums)))))
    return PackedSums(names, blocks_of(sums, names))


def blocks_of(sums: Mapping[LineUp, Sums], names: Sequence[str]) -> tuple[LineUpBlock, ...]:
    """Return a table as blocks of line-ups of equal shape.

    Args:
        names: all entrants, sorted; the position of a name is the entrant's number.
    """
    number = {name: place for place, name in enumerate(names)}
    if isinstance(sums, PackedSums):
        if sums.names == tuple(names):
            return sums.blocks
        numbers = np.array([number[name] for name in sums.names], np.int32)
        return tuple(block.renumbered(numbers) for block in sums.blocks)
    shapes: dict[tuple[int, int, bool], tuple[list[LineUp], list[Sums]]] = {}
    for line_up, of_line_up in sums.items():
        shape = len(line_up.entrants), line_up.games, of_line_up.matches == 1
        line_ups, of_line_ups = shapes.setdefault(shape, ([], []))
        line_ups.append(line_up)
        of_line_ups.append(of_line_up)
    return tuple(_block(number, shape, *rows) for shape, rows in sorted(shapes.items()))


def _block(
    number: Mapping[str, int],
    shape: tuple[int, int, bool],
    line_ups: list[LineUp],
    sums: list[Sums],
) -> LineUpBlock:
    # Avoid intermediate lists: a million of them would occupy the garbage collector for seconds.
    seats, games, once = shape
    names = chain.from_iterable(map(attrgetter("entrants"), line_ups))
    entrants = _matrix(map(number.__getitem__, names), len(line_ups), seats)
    order = _in_order(entrants, len(number))
    halves = chain.from_iterable(map(attrgetter("halves"), sums))
    products = chain.from_iterable(() if once else map(attrgetter("products"), sums))
    return _smallest(
        games,
        once,
        entrants[order],
        np.fromiter(map(attrgetter("matches"), sums), np.int64, len(sums))[order],
        _matrix(halves, len(sums), len(pairs(seats)))[order],
        _matrix(products, len(sums), 0 if once else len(pairs_of_pairs(seats)))[order],
    )


def _smallest(
    games: int, once: bool, entrants: Ints, matches: Ints, halves: Ints, products: Ints
) -> LineUpBlock:
    """Return a block with columns of 32 bits, if twice the number of games of a row fits."""
    most = 2 * games * int(matches.max(initial=0))
    kind = np.int32 if most < 2**31 else np.int64
    return LineUpBlock(
        games,
        once,
        entrants.astype(np.int32, copy=False),
        # An array without memory: all rows share one number.
        np.broadcast_to(np.int32(1), len(entrants)) if once else matches.astype(kind, copy=False),
        halves.astype(kind, copy=False),
        products,
    )


def _in_order(entrants: Ints, size: int) -> Ints:
    """Return the row indices in order of entrants, the first column first."""
    key = _keys(entrants, size)
    return np.lexsort(entrants.T[::-1]) if key is None else np.argsort(key, kind="stable")


def _keys(entrants: Ints, size: int) -> NDArray[np.int64] | None:
    """Return a number for each row that sorts like its entrants; None if it would be too large."""
    if size ** entrants.shape[1] >= 2**63:
        return None
    key = np.zeros(len(entrants), np.int64)
    for column in entrants.T:
        key *= size
        key += column
    return key


def _matrix(flat: Iterable[int], rows: int, width: int) -> NDArray[np.int64]:
    return np.fromiter(flat, np.int64, rows * width).reshape(rows, width)


def merge(tables: Sequence[PackedSums]) -> PackedSums:
    """Return the table of the matches of all, which must not have a match in common."""
    names = tuple(sorted(set(chain.from_iterable(table.names for table in tables))))
    blocks: dict[tuple[int, int], list[LineUpBlock]] = {}
    for block in chain.from_iterable(blocks_of(table, names) for table in tables):
        blocks.setdefault((block.seats, block.games), []).append(block)
    merged = chain.from_iterable(_merged(alike, len(names)) for alike in blocks.values())
    return PackedSums(names, tuple(sorted(merged, key=attrgetter("shape"))))


def _merged(blocks: Sequence[LineUpBlock], size: int) -> Iterator[LineUpBlock]:
    """Yield the blocks of all line-ups of some blocks, with the sums of equal line-ups."""
    entrants = np.concatenate([block.entrants for block in blocks])
    order = _in_order(entrants, size)
    entrants = entrants[order]
    differs = np.ones(len(order), np.bool_)
    differs[1:] = (entrants[1:] != entrants[:-1]).any(axis=1)
    begins = np.flatnonzero(differs)
    columns = zip(
        *((block.matches, block.halves, block.all_products()) for block in blocks), strict=True
    )
    matches, halves, products = (
        np.add.reduceat(np.concatenate(parts)[order].astype(np.int64), begins, axis=0)
        for parts in columns
    )
    entrants = entrants[begins]
    for once in (False, True):
        rows = np.flatnonzero((matches == 1) == once)
        if len(rows):
            kept = products[rows, :0] if once else products[rows]
            yield _smallest(
                blocks[0].games, once, entrants[rows], matches[rows], halves[rows], kept
            )
