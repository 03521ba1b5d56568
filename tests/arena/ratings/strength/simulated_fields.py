"""Fields of bots of known strength, and the coverage of the 95 % intervals of their strengths.

Each single game follows the model exactly: the ranking is by strength plus random luck with a
Gumbel distribution (Plackett-Luce; for two seats, Bradley-Terry). On mirrored boards the luck
belongs to the seat, not to the entrant: the games of a match are correlated, and much of the luck
cancels. Standard errors that assume independent games would be wrong there by a factor of about
two.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from statistics import NormalDist, fmean

import numpy as np
from numpy.typing import NDArray

from arena.ratings.line_ups import LineUp, Sums, pairs, pairs_of_pairs
from arena.ratings.meetings import Meetings
from arena.ratings.scale import ELO, Z95
from arena.ratings.strength.fit import Strengths, strengths

SPREAD = 200.0
"""Standard deviation of the true strengths in Elo points."""
BOTS = {2: 11, 4: 12}
"""Number of bots by seats, such that all pairs can be balanced and no bot sits out."""
OTHERS_SPREAD = 50.0
"""Standard deviation of the other bots beside outliers."""
SEATS_LUCK = 0.8
"""The correlation of a seat's luck between the games over one board."""
MATCHES = (50, 200, 1000)
OUTLIER_MATCHES = 20
"""Number of matches per bot in these fields."""


@dataclass(frozen=True)
class FieldSetting:
    """The schedule of a simulated field.

    Attributes:
        seats: seats of a table.
        boards: mirrored boards of a match; 0 for a match of a single game.
        uneven: whether some pairs play much more often than others.
        outliers: how far the first bot is below the mean, and the last one above it, in Elo points;
            0 for the usual distribution.
    """

    seats: int
    boards: int = 0
    uneven: bool = False
    outliers: float = 0.0

    def __str__(self) -> str:
        boards = f"{self.boards} mirrored boards" if self.boards else "single games"
        outliers = f", outliers {self.outliers:g}" if self.outliers else ""
        return f"{self.seats} seats, {boards}{', uneven' * self.uneven}{outliers}"

    @property
    def truth(self) -> NDArray[np.float64]:
        """The strengths in Elo points, with the mean 0."""
        bots = BOTS[self.seats]
        normal = NormalDist(0, SPREAD)
        truth = np.array([normal.inv_cdf((place + 0.5) / bots) for place in range(bots)])
        if self.outliers:
            truth *= OTHERS_SPREAD / SPREAD
            truth[[0, -1]] = -self.outliers, self.outliers
        return truth


SETTINGS = (
    FieldSetting(2),
    FieldSetting(2, uneven=True),
    FieldSetting(2, boards=4),
    FieldSetting(4),
    FieldSetting(4, boards=1),
)
OUTLIERS = tuple(
    FieldSetting(seats, boards, outliers=outliers)
    for seats, boards in ((2, 0), (2, 4), (4, 0), (4, 1))
    for outliers in (300.0, 450.0, 600.0, 800.0)
)


def name(place: int) -> str:
    """Return the name of the bot with this index in `truth`."""
    return f"bot{place:02}@1"


def played(setting: FieldSetting, matches: int, dice: np.random.Generator) -> Meetings:
    """Simulate `matches` matches per bot (on average, if uneven)."""
    line_ups = np.sort(np.array(list(_line_ups(setting, matches, dice))), axis=1)
    halves = _halves(setting, setting.truth[line_ups] / ELO, dice)
    couples = pairs_of_pairs(setting.seats)
    games = max(1, setting.boards * setting.seats)
    by_line_up: dict[LineUp, Sums] = {}
    order = np.lexsort(line_ups.T)
    sorted_ups, sorted_halves = line_ups[order], halves[order]
    starts = np.flatnonzero(
        np.r_[True, (sorted_ups[1:] != sorted_ups[:-1]).any(axis=1)],
    )
    for start, end in zip(starts, [*starts[1:], len(order)], strict=True):
        group = sorted_halves[start:end]
        squares = group.T @ group
        by_line_up[LineUp(tuple(name(int(place)) for place in sorted_ups[start]), games)] = Sums(
            len(group),
            tuple(group.sum(axis=0).tolist()),
            tuple(int(squares[first, second]) for first, second in couples),
        )
    return Meetings(by_line_up)


def _line_ups(
    setting: FieldSetting, matches: int, dice: np.random.Generator
) -> Iterator[NDArray[np.int64]]:
    bots = BOTS[setting.seats]
    if setting.seats == 2:
        everyone = np.array(pairs(bots))
        if setting.uneven:
            often = dice.pareto(1.5, len(everyone)) + 0.2
            yield from dice.choice(everyone, matches * bots // 2, p=often / often.sum())
        else:
            yield from np.repeat(everyone, matches // (bots - 1), axis=0)
        return
    for _ in range(matches):
        yield from dice.permutation(bots).reshape(-1, setting.seats)


def _halves(
    setting: FieldSetting, strength: NDArray[np.float64], dice: np.random.Generator
) -> NDArray[np.int64]:
    """Return, by match and pair, the half games won by the first entrant of the pair."""
    matches, seats = strength.shape
    couples = np.array(pairs(seats))
    total = np.zeros((matches, len(couples)), dtype=np.int64)
    for board_luck in _boards(setting, matches, dice):
        for turn in range(seats if setting.boards else 1):
            own_luck = dice.normal(size=(matches, seats))
            share = SEATS_LUCK if setting.boards else 0.0
            luck = (
                np.sqrt(share) * np.roll(board_luck, turn, axis=1) + np.sqrt(1 - share) * own_luck
            )
            ranked = strength + _gumbel(luck)
            total += 2 * (ranked[:, couples[:, 0]] > ranked[:, couples[:, 1]])
    return total


def _boards(
    setting: FieldSetting, matches: int, dice: np.random.Generator
) -> Iterator[NDArray[np.float64]]:
    for _ in range(max(1, setting.boards)):
        yield dice.normal(size=(matches, setting.seats))


def _gumbel(luck: NDArray[np.float64]) -> NDArray[np.float64]:
    """Map normal luck to the Gumbel distribution by its quantiles."""
    return np.asarray(-np.log(-np.log(np.clip(_share(luck), 1e-15, 1 - 1e-15))))


def _share(z: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the normal CDF at z (Abramowitz and Stegun 7.1.26, error below 1.5e-7)."""
    x = np.abs(z) / np.sqrt(2)
    t = 1 / (1 + 0.3275911 * x)
    series = (0.254829592, -0.284496736, 1.421413741, -1.453152027, 1.061405429)
    tail = sum(a * t ** (power + 1) for power, a in enumerate(series)) * np.exp(-x * x)
    return np.asarray(0.5 * (1 + np.sign(z) * (1 - tail)))


@dataclass(frozen=True)
class Coverage:
    """Coverage of the intervals.

    Attributes:
        strength: share of strength intervals that contain the truth.
        gap: share of intervals of differences that contain the truth; superiority uses them.
        misfit: rate of significant lack of fit at 5 %, although the model holds.
        half_width: mean half width of the strength intervals, in Elo points.
    """

    strength: float
    gap: float
    misfit: float
    half_width: float


def coverage(setting: FieldSetting, matches: int, rounds: int, seed: int = 1) -> Coverage:
    """Simulate the same field `rounds` times and count the intervals that contain the truth."""
    dice = np.random.default_rng([seed, setting.seats, setting.boards, matches])
    truth = {name(place): value for place, value in enumerate(setting.truth.tolist())}
    held: list[bool] = []
    gaps: list[bool] = []
    misfits: list[bool] = []
    widths: list[float] = []
    for _ in range(rounds):
        fitted = strengths(played(setting, matches, dice))
        whole = sum(line.matches for line in fitted.lines)
        mean = sum(truth[line.entrant] * line.matches for line in fitted.lines) / whole
        centre = fitted.settings.centre - mean
        for line in fitted.lines:
            held.append(line.low - centre <= truth[line.entrant] <= line.high - centre)
            widths.append((line.high - line.low) / 2)
        gaps += _gaps_held(fitted, truth)
        misfits.append(fitted.lack_of_fit is not None and fitted.lack_of_fit.p_value < 0.05)
    return Coverage(fmean(held), fmean(gaps), fmean(misfits), fmean(widths))


@dataclass(frozen=True)
class BoundCoverage:
    """How often bounds of bots that won or lost every game contain the truth.

    Attributes:
        bots: number of simulated outliers.
        bounded: number of them that won or lost every game.
        held: number of bounds that contain the true strength.
        intervals: number of their 95 % intervals that contain it.
    """

    bots: int
    bounded: int
    held: int
    intervals: int


def bound_coverage(setting: FieldSetting, matches: int, rounds: int) -> BoundCoverage:
    """Simulate a field with outliers `rounds` times, and check the bounds of the outliers."""
    dice = np.random.default_rng([1, setting.seats, setting.boards, matches])
    truth = {name(place): value for place, value in enumerate(setting.truth.tolist())}
    ends = min(truth), max(truth)
    held: list[bool] = []
    intervals: list[bool] = []
    for _ in range(rounds):
        fitted = strengths(played(setting, matches, dice))
        whole = sum(line.matches for line in fitted.lines)
        mean = sum(truth[line.entrant] * line.matches for line in fitted.lines) / whole
        for line in map(fitted.of, ends):
            if line.bound:
                real = truth[line.entrant] - mean + fitted.settings.centre
                above = line.bound.side == "above"
                held.append(line.bound.value <= real if above else real <= line.bound.value)
                intervals.append(line.low <= real <= line.high)
    return BoundCoverage(2 * rounds, len(held), sum(held), sum(intervals))


def _gaps_held(fitted: Strengths, truth: dict[str, float]) -> list[bool]:
    """Return for each pair whether the true difference is within its interval."""
    names = [line.entrant for line in fitted.lines]
    held = []
    for first, second in pairs(len(names)):
        gap = fitted.lines[first].value - fitted.lines[second].value
        off = abs(gap - truth[names[first]] + truth[names[second]])
        held.append(off <= Z95 * fitted.gaps.error(first, second))
    return held
