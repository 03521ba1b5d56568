"""Test that sums as arrays equal those as objects."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.ratings import meetings
from arena.ratings.closed_match import ClosedMatch
from arena.ratings.crosstable import cells, crosstable
from arena.ratings.line_ups import LineUp, Sums
from arena.ratings.meetings import Meetings
from arena.ratings.packed_sums import PackedSums, merge, pack
from arena.ratings.strength.fit import strengths
from tests.arena.ratings.played_matches import matches_of_few_line_ups as matches
from tests.examples import examples

NAMES = "abcdef"


@given(matches())
@settings(max_examples=examples(60))
def test_packed_sums_are_the_same_mapping(played: list[ClosedMatch]) -> None:
    sums = Meetings.of(played).sums
    packed = pack(sums)
    assert dict(packed.items()) == sums
    assert packed == sums
    assert len(packed) == len(sums)
    assert set(packed) == set(sums)
    assert all(packed[line_up] == of_line_up for line_up, of_line_up in sums.items())
    assert LineUp(("x", "y"), 1) not in packed
    assert packed.matches == len(played)


@given(matches(), st.sets(st.sampled_from(NAMES)))
@settings(max_examples=examples(60))
def test_sums_among_some_entrants_are_those_of_their_matches(
    played: list[ClosedMatch], names: set[str]
) -> None:
    expected = Meetings.of(match for match in played if names.issuperset(match.entrants))
    table = Meetings.of(played)
    assert table.among(names) == expected
    packed = Meetings(pack(table.sums)).among(names)
    assert packed == expected
    assert packed.entrants == expected.entrants


@given(matches(), matches())
@settings(max_examples=examples(60))
def test_merged_sums_are_the_sums_of_all_matches(
    first: list[ClosedMatch], second: list[ClosedMatch]
) -> None:
    both = Meetings.of([*first, *second])
    merged = merge([pack(Meetings.of(first).sums), pack(Meetings.of(second).sums)])
    assert merged == both.sums
    assert merged.names == both.entrants
    assert Meetings(merged) == both
    for block in merged.blocks:
        rows = block.entrants.tolist()
        assert rows == sorted(rows)
        assert block.once == (block.matches.max() == 1)


@given(matches(), matches(3))
@settings(max_examples=examples(40))
def test_large_tables_are_packed_and_give_the_same_strengths(
    played: list[ClosedMatch], more: list[ClosedMatch]
) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(meetings, "LINE_UPS", 2)
        table = Meetings.of([*played, *more])
    expected = Meetings.of([*more, *played])
    assert table == expected
    assert (table.entrants, table.matches) == (expected.entrants, expected.matches)
    entrants = [*table.entrants, "new"]
    assert strengths(table, None, entrants) == strengths(expected, None, entrants)


@given(matches())
@settings(max_examples=examples(40))
def test_cells_of_packed_sums_equal_those_of_objects(played: list[ClosedMatch]) -> None:
    table = Meetings.of(played)
    packed = Meetings(pack(table.sums))
    assert dict(cells(packed)) == dict(cells(table))
    assert crosstable(packed, NAMES) == crosstable(table, NAMES)


def test_a_pair_that_met_once_needs_few_bytes() -> None:
    pairs = [
        (f"bot{first:03}", f"bot{second:03}") for first in range(99) for second in range(first)
    ]
    packed = pack({LineUp((min(pair), max(pair)), 1): Sums(1, (2,), ()) for pair in pairs})
    (block,) = packed.blocks
    columns = block.entrants, block.halves, block.products
    assert sum(column.nbytes for column in columns) == 12 * len(pairs)
    assert block.matches.strides == (0,)


def test_numbers_beyond_32_bits_are_kept() -> None:
    line_up = LineUp(("a", "b"), 2)
    many = 2**31
    sums = {line_up: Sums(many, (2 * many,), (4 * many,))}
    packed = merge([pack(sums), pack(sums)])
    assert packed == {line_up: Sums(2 * many, (4 * many,), (8 * many,))}
    assert packed.blocks[0].halves.dtype == np.int64
    assert isinstance(packed, PackedSums)
