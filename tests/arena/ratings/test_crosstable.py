"""Test the crosstable: the values of a cell, and the coverage of its interval."""

import random

import pytest

from arena.ratings.crosstable import crosstable
from arena.ratings.meetings import Meetings
from tests.arena.ratings.played_matches import match

NAMES = "abcde"


WON, LOST, LEVEL = (1, 2), (2, 1), (1, 1)


def test_a_cell_is_the_mean_score_of_a_pair_and_mirrored() -> None:
    table = crosstable(
        Meetings.of([match(0, "ab", WON, WON), match(1, "ba", WON, LEVEL), match(2, "ac", LOST)]),
        "abc",
    )
    cell, mirror = table.cells[0][1], table.cells[1][0]
    assert cell is not None
    assert mirror is not None
    assert (cell.matches, cell.score) == (2, 0.625)
    assert (mirror.score, mirror.low, mirror.high) == pytest.approx(
        (0.375, 1 - cell.high, 1 - cell.low)
    )
    assert [table.cells[at][at] for at in range(3)] == [None] * 3
    assert table.cells[1][2] is None


def test_larger_tables_count_for_each_pair() -> None:
    table = crosstable(Meetings.of([match(0, "bca", (1, 2, 3), (1, 3, 2))]), "abc")
    scores = [[None if cell is None else cell.score for cell in row] for row in table.cells]
    assert scores == [[None, 0, 0.5], [1, None, 1], [0.5, 0, None]]


def test_the_interval_of_a_perfect_score_is_not_empty() -> None:
    table = crosstable(Meetings.of([match(n, "ab", WON) for n in range(5)]), "ab")
    cell = table.cells[0][1]
    assert cell is not None
    assert (cell.score, cell.high) == (1, 1)
    assert 0.4 < cell.low < 0.7


def test_equal_results_narrow_the_interval() -> None:
    alike = crosstable(Meetings.of([match(n, "ab", WON, LOST) for n in range(40)]), "ab")
    apart = crosstable(
        Meetings.of([match(n, "ab", *[(WON, LOST)[n % 2]] * 2) for n in range(40)]), "ab"
    )
    narrow, wide = (table.cells[0][1] for table in (alike, apart))
    assert narrow is not None
    assert wide is not None
    assert narrow.score == wide.score == 0.5
    assert narrow.high - narrow.low < 0.5 * (wide.high - wide.low)


@pytest.mark.parametrize(
    ("games", "matches"),
    [
        (1, 10),
        pytest.param(1, 40, marks=pytest.mark.long),
        (2, 10),
        pytest.param(20, 10, marks=pytest.mark.long),
    ],
)
def test_intervals_cover_at_least_92_percent(games: int, matches: int) -> None:
    dice = random.Random(games * matches)
    held = cells = 0
    for _ in range(60):
        strong = {name: dice.gauss(0, 1) for name in NAMES}
        chance = {
            (row, column): 1 / (1 + 2.718 ** (strong[column] - strong[row]))
            for row in NAMES
            for column in NAMES
            if row < column
        }
        played = [
            match(n, row + column, *((WON, LOST)[dice.random() > p] for _ in range(games)))
            for (row, column), p in chance.items()
            for n in range(matches)
        ]
        table = crosstable(Meetings.of(played), NAMES)
        for (row, column), p in chance.items():
            cell = table.cells[NAMES.index(row)][NAMES.index(column)]
            assert cell is not None
            held += cell.low <= p <= cell.high
            cells += 1
    assert held / cells > 0.92


def test_the_order_of_matches_does_not_matter() -> None:
    dice = random.Random(2)
    played = [
        match(n, "".join(dice.sample(NAMES, 3)), *(tuple(dice.sample((1, 2, 3), 3)) for _ in "xyz"))
        for n in range(60)
    ]
    expected = crosstable(Meetings.of(played), NAMES)
    for _ in range(5):
        dice.shuffle(played)
        assert crosstable(Meetings.of(played), NAMES) == expected
