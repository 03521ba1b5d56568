"""Compute the most plausible strengths, their covariance and their differences.

The model is Bradley and Terry's (1952): the expected mean score of i against j over a match is
1 / (1 + exp(strength j - strength i)). A tie is half a win for each. In Davidson's model (1970),
where a tie is a separate result, the strengths depend on the same scores. In Plackett and Luce's
model of rankings, any two entrants of a table have the same formula. Therefore tables are fitted by
their pairs (full breaking; Azari Soufiani et al. 2013), and the errors take into account that the
pairs of a table are not independent.

Only the mean is taken from the model. The errors come from the observed scatter between matches, by
the "sandwich" estimator of Huber (1967), clustered by match (Liang and Zeger 1986).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

from arena.ratings.scale import DECIMALS, ELO, normal
from arena.ratings.strength.meeting_arrays import Floats, Ints, MeetingArrays, score_scatter

MAX_STEPS = 200
"""Maximum number of steps of a fit, and of halvings of a step."""
WIDEST_STEP = 2.0
"""Maximum change of a strength in a step, in natural units."""
CONVERGED = 1e-9
"""The fit stops after a step below this; steps shrink quadratically, the next would be 1e-18."""
MAX_SLOPE = 1e-14
"""The slope per match at which the maximum is reached, apart from the rounding of floats."""

MIN_ITERATIVE_ENTRANTS = 1_000
"""From this number of entrants, linear systems are solved iteratively instead of by elimination."""
MAX_RESIDUAL = 1e-12
"""The iteration stops at this residual, relative to the initial one."""

USUAL_SCATTER_WEIGHT = 5.0
"""Weight, in matches, of the usual scatter in the estimate of an entrant's own scatter."""
MAX_CORRECTION = 2.0
"""Maximum factor for the scatter, which corrects that the fit has adapted to the results."""

CERTAIN = 0.975
"""The likelihood of superiority from which an entrant counts as certainly stronger."""

_CERTAIN_ABOVE: Final = 1.961
"""Beyond this many standard errors the likelihood is above `CERTAIN`, despite rounding."""
_UNCERTAIN_BELOW: Final = 1.959
"""Up to this many standard errors the likelihood is below `CERTAIN`, despite rounding."""
_ENTRANTS_AT_ONCE: Final = 256
"""Number of entrants whose differences to everyone are computed at once."""


@dataclass(frozen=True)
class Fit:
    """Strengths in natural units (a factor of e in the odds) and their covariance."""

    strength: Floats
    covariance: Covariance


class Covariance(Protocol):
    """The covariance of strengths, in natural units."""

    @property
    def size(self) -> int: ...

    @property
    def variances(self) -> Floats:
        """The variance of each entrant: (size,)."""
        ...

    def gap_variances(self, rows: slice) -> Floats:
        """Return the variances of the differences of some entrants to everyone: (rows, size)."""
        ...

    def variance_of(self, shares: Floats) -> float:
        """Return the variance of the sum of strengths with these factors: (size,)."""
        ...

    def reordered(self, order: Ints) -> Covariance: ...


@dataclass(frozen=True, slots=True, eq=False)
class DenseCovariance:
    """A covariance as a matrix: (size, size)."""

    matrix: Floats

    @property
    def size(self) -> int:
        return len(self.matrix)

    @property
    def variances(self) -> Floats:
        return np.diag(self.matrix)

    def gap_variances(self, rows: slice) -> Floats:
        variances = self.variances
        return np.asarray(variances[rows, None] + variances - 2 * self.matrix[rows])

    def variance_of(self, shares: Floats) -> float:
        return max(float(shares @ self.matrix @ shares), 0.0)

    def reordered(self, order: Ints) -> DenseCovariance:
        return DenseCovariance(self.matrix[np.ix_(order, order)])


def expected_scores(strength: Floats) -> Floats:
    """Return the expected score of i against j: (size, size)."""
    gaps = strength[:, None] - strength[None, :]
    scores: Floats = 0.5 + 0.5 * np.tanh(gaps / 2)
    return scores


LooseAnchors = Mapping[int, tuple[float, float]]
"""Mean and precision of a normal prior by number of the entrant."""


@dataclass(frozen=True, slots=True, eq=False)
class Priors:
    """The priors of the strengths.

    Attributes:
        precision: precision of the common prior around the mean of all.
        free: whether each entrant is not an anchor.
        means: means of the loose anchors; 0 for all others.
        precisions: precisions of the loose anchors; 0 for all others.
        start: the strengths at which the iteration starts; those of anchors are fixed.
    """

    precision: float
    free: NDArray[np.bool_]
    means: Floats
    precisions: Floats
    start: Floats

    @property
    def floating(self) -> bool:
        """Whether only differences of strengths are determined. Then their mean is 0."""
        return bool(self.free.all()) and not self.precisions.any()

    @property
    def diagonal(self) -> Floats:
        """The diagonal of their curvature: (size,)."""
        return self.precision * (1 - 1 / len(self.free)) + self.precisions


def priors(
    size: int,
    precision: float,
    anchors: Mapping[int, float] = MappingProxyType({}),
    loose: LooseAnchors = MappingProxyType({}),
) -> Priors:
    """Return the priors; the arguments are those of `fit`."""
    free = np.ones(size, np.bool_)
    means, precisions, start = np.zeros(size), np.zeros(size), np.zeros(size)
    if anchors:
        start[:] = np.mean(list(anchors.values()))
    elif loose:
        start[:] = np.mean([value for value, _ in loose.values()])
    for place, value in anchors.items():
        start[place], free[place] = value, False
    for place, (mean, precision_of_anchor) in loose.items():
        means[place], precisions[place] = mean, precision_of_anchor
    return Priors(precision, free, means, precisions, start)


def fit(
    table: MeetingArrays,
    weights: Floats,
    precision: float,
    anchors: dict[int, float],
    loose: LooseAnchors = MappingProxyType({}),
    shares: Floats | None = None,
) -> Fit:
    """Return the fit.

    The covariance is the sandwich inverse(bread) @ meat @ inverse(bread):

    1. `bread` is the curvature of the negative log posterior at its minimum.
    2. `meat` is the scatter of the scores between matches, plus the prior.

    Args:
        weights: weight of a match of the pair i, j: (size, size), symmetric.
        precision: precision of the prior. Each strength has a normal prior around the mean of all,
            with the variance 1 / precision. 0: no prior.
        anchors: fixed strengths by number. Without anchors the mean of the strengths is 0.
        shares: weights of the mean that is shifted to 0; None: no shift. Differences do not change.
            The covariance becomes that of the distances from this mean.
    """
    strength = most_plausible(
        weights * table.count, weights * table.score, precision, anchors, loose
    )
    expected = expected_scores(strength)
    spread = expected * (1 - expected)
    held = priors(table.size, precision, anchors, loose)
    prior = precision * _centring(table.size) + np.diag(held.precisions)
    bread = curvature(weights * table.count * spread) + prior
    usual = curvature(weights**2 * table.count * spread)
    meat = _trusted(table, score_scatter(table, weights, expected), usual) + prior
    inverse = _inverse(bread, held)
    covariance = inverse @ meat @ inverse
    if shares is None:
        return Fit(strength, DenseCovariance(covariance))
    doubts = covariance @ shares
    covariance = covariance - doubts[:, None] - doubts[None, :] + shares @ doubts
    return Fit(strength - shares @ strength, DenseCovariance(covariance))


def most_plausible(
    count: Floats,
    score: Floats,
    precision: float,
    anchors: dict[int, float],
    loose: LooseAnchors = MappingProxyType({}),
) -> Floats:
    """Return the strengths that maximize the posterior density, by Newton's method (`climbed`).

    The start is always the same, so the same sums give the same digits. A step follows from the
    gradient (`slope`) and the negative Hessian (`bend`).

    Args:
        count: weighted number of matches of i and j: (size, size).
        score: weighted sum of scores of i against j: (size, size).
        anchors: fixed strengths by number.

    Raises:
        ArithmeticError: the iteration did not converge within `MAX_STEPS`.
    """
    size = len(count)
    held = priors(size, precision, anchors, loose)

    def height_at(strength: Floats) -> float:
        anchoring = held.precisions @ (strength - held.means) ** 2 / 2
        return _height(count, score, precision, strength) - float(anchoring)

    def step_at(strength: Floats) -> tuple[Floats, Floats]:
        expected = expected_scores(strength)
        slope = (score - count * expected).sum(axis=1) - precision * _centred(strength)
        slope -= held.precisions * (strength - held.means)
        bend = curvature(count * expected * (1 - expected)) + precision * _centring(size)
        bend += np.diag(held.precisions)
        return slope, _solved(bend, slope, held)

    most = float(np.max(count.sum(axis=1), initial=0.0))
    return climbed(held.start, height_at, step_at, most)


def climbed(
    strength: Floats,
    height_at: Callable[[Floats], float],
    step_at: Callable[[Floats], tuple[Floats, Floats]],
    most_matches: float,
) -> Floats:
    """Return the strengths of the greatest height, by damped Newton's method.

    1. Compute the slope and the step.
    2. Limit the step to `WIDEST_STEP`.
    3. Stop if the step is below `CONVERGED` or the slope below `MAX_SLOPE` per match.
    4. Halve the step until the height does not decrease.

    Args:
        strength: the strengths at which the iteration starts.
        height_at: returns the height at some strengths.
        step_at: returns the slope at some strengths, and Newton's step.
        most_matches: the largest number of matches of an entrant.

    Raises:
        ArithmeticError: the iteration did not converge within `MAX_STEPS`.
    """
    height = height_at(strength)
    for _ in range(MAX_STEPS):
        slope, step = step_at(strength)
        size_of_step = float(np.max(np.abs(step), initial=0.0))
        step *= min(1.0, WIDEST_STEP / size_of_step) if size_of_step else 1.0
        steepest = float(np.max(np.abs(slope), initial=0.0))
        if size_of_step < CONVERGED or steepest <= MAX_SLOPE * most_matches:
            return np.asarray(strength + step)
        height, strength = _uphill(height_at, strength, step, height)
    raise ArithmeticError("the fit of strengths did not converge")


def _uphill(
    height_at: Callable[[Floats], float], strength: Floats, step: Floats, height: float
) -> tuple[float, Floats]:
    slack = 1e-12 * (1 + abs(height))
    for _ in range(MAX_STEPS):
        reached = height_at(strength + step)
        if reached >= height - slack:
            break
        step = step / 2
    return reached, strength + step


def _height(count: Floats, score: Floats, precision: float, strength: Floats) -> float:
    gaps = strength[:, None] - strength[None, :]
    likelihood = -np.sum(score * np.logaddexp(0.0, -gaps))
    return float(likelihood - precision * strength @ _centred(strength) / 2)


def curvature(spread: Floats) -> Floats:
    """Return the sum over pairs of spread[i, j] * (e_i - e_j)(e_i - e_j)'."""
    matrix: Floats = np.diag(spread.sum(axis=1)) - spread
    return matrix


def _trusted(table: MeetingArrays, scatter: Floats, usual: Floats) -> Floats:
    """Return the scatter of scores, shrunk towards the usual scatter for entrants with few matches.

    An entrant that won five of five matches has no scatter, but its strength is not known exactly.

    1. Scale the observed scatter up, because the fit has adapted to the results.
    2. Scale the scatter of single games (`usual`) so that its trace equals that of the observed
       one. One game between equals is added to both, so that the scale is never zero.
    3. Mix both: the observed scatter of an entrant with n matches has the weight
       n / (n + USUAL_SCATTER_WEIGHT), the usual one the remaining weight.
    """
    corrected, own_share, common_share = trusted_shares(table)
    scatter = corrected * scatter
    scale = (np.trace(scatter) + 0.5) / (np.trace(usual) + 0.5)
    trusted: Floats = (
        np.outer(own_share, own_share) * scatter
        + np.outer(common_share, common_share) * scale * usual
    )
    return trusted


def trusted_shares(table: MeetingArrays) -> tuple[float, Floats, Floats]:
    """Return the factor of the observed scatter, and the shares of both kinds by entrant."""
    seats = np.array([block.seats for block in table.blocks] or [2])
    played = np.array([block.matches.sum() for block in table.blocks] or [0])
    known = float(np.sum(played * (seats - 1)))
    lost = table.size - 1
    corrected = min(MAX_CORRECTION, known / (known - lost)) if known > lost else MAX_CORRECTION
    own_share = np.sqrt(table.matches / (table.matches + USUAL_SCATTER_WEIGHT))
    return corrected, own_share, np.sqrt(1 - own_share**2)


def _centring(size: int) -> Floats:
    matrix: Floats = np.eye(size) - 1.0 / size
    return matrix


def _centred(values: Floats) -> Floats:
    """Subtract the mean of each column, which equals a product with `_centring`."""
    moved: Floats = values - values.mean(axis=0)
    return moved


def _inverse(matrix: Floats, held: Priors) -> Floats:
    """Return the inverse on the free directions; 0 for anchors, or for shifts of all strengths."""
    if held.floating:
        return _centred(_centred(np.asarray(np.linalg.inv(matrix + _alike(matrix)))).T)
    free = np.ix_(held.free, held.free)
    inverse = np.zeros(matrix.shape)
    inverse[free] = np.linalg.inv(matrix[free])
    return inverse


def _solved(matrix: Floats, column: Floats, held: Priors) -> Floats:
    """Return the same inverse times a column, without computing the inverse."""
    if held.floating:
        return _centred(_solution(matrix + _alike(matrix), _centred(column)))
    free = held.free
    solved = np.zeros(len(matrix))
    solved[free] = _solution(matrix[np.ix_(free, free)], column[free])
    return solved


def _solution(matrix: Floats, column: Floats) -> Floats:
    """Solve a linear system with a positive definite matrix.

    Large systems are solved by conjugate gradients (Hestenes and Stiefel 1952) with a diagonal
    preconditioner. That takes some dozen products with the matrix, where elimination takes time
    proportional to the cube of its size.
    """
    if len(column) < MIN_ITERATIVE_ENTRANTS:
        return np.asarray(np.linalg.solve(matrix, column))
    diagonal = np.diag(matrix)
    solution = np.zeros(len(column))
    left = column.copy()
    along = scaled = left / diagonal
    before = float(left @ scaled)
    enough = MAX_RESIDUAL**2 * before
    for _ in range(len(column)):
        if before <= enough:
            break
        bent = matrix @ along
        step = before / float(along @ bent)
        solution += step * along
        left -= step * bent
        scaled = left / diagonal
        now = float(left @ scaled)
        along = scaled + (now / before) * along
        before = now
    return solution


def _alike(matrix: Floats) -> float:
    """Return a constant that makes a curvature matrix invertible if added to all its entries.

    The matrix depends on differences only, so it is singular in the direction of equal shifts.
    """
    return max(float(np.trace(matrix)), 1e-300) / len(matrix) ** 2


# Differences in strength between each two entrants, with their uncertainty.
#
# A thousand entrants have half a million differences, but a page shows only a few. Therefore each
# is computed on request. Only the counts that ranks depend on are computed for all.


@dataclass(frozen=True, slots=True, eq=False)
class StrengthDifferences:
    """The differences in strength between some entrants, by their places from 0.

    Attributes:
        values: their strengths on the Elo scale, the strongest first.
        covariance: the covariance of their strengths.
    """

    values: Sequence[float]
    covariance: Covariance

    def __eq__(self, other: object) -> bool:
        """Return whether all published values are equal."""
        if not isinstance(other, StrengthDifferences) or tuple(self.values) != tuple(other.values):
            return False
        places = range(len(self.values))
        return all(np.array_equal(self._errors(at), other._errors(at)) for at in places)

    __hash__ = None  # type: ignore[assignment]

    def error(self, first: int, second: int) -> float:
        """Return the standard error of the difference between two entrants, in Elo points.

        The covariance reduces it: uncertainty about common opponents affects both entrants.
        """
        return float(self._errors(first)[second])

    def superiority(self, first: int, second: int) -> float:
        """Return the likelihood, from 0 to 1, that `first` is stronger than `second`.

        It is 0, 0.5 or 1 if the difference is known exactly, as between two anchors.
        """
        return self._likely(self.values[first] - self.values[second], self.error(first, second))

    def superiorities(self, place: int) -> list[float]:
        """Return the likelihoods against everyone, in order of places; 0.5 against itself."""
        errors = zip(self.values, self.errors(place), strict=True)
        return [self._likely(self.values[place] - value, error) for value, error in errors]

    def errors(self, place: int) -> list[float]:
        """Return the standard errors of its differences to everyone, in order of places."""
        return [float(error) for error in self._errors(place)]

    def ranks(self, place: int) -> tuple[int, int]:
        """Return the first and last rank that an entrant may have.

        The first is one more than the number of entrants that are certainly stronger. The last is
        the number of entrants that are not certainly weaker, including itself.
        """
        values = np.asarray(self.values)
        return self._ranks(values[place] - values, self._errors(place))

    def lines(self) -> Iterator[tuple[tuple[int, int], float | None]]:
        """Yield the ranks of each entrant, and its superiority to the next; None for the last."""
        values = np.asarray(self.values)
        for begin in range(0, len(values), _ENTRANTS_AT_ONCE):
            rows = slice(begin, min(begin + _ENTRANTS_AT_ONCE, len(values)))
            errors = _standard_errors(self.covariance.gap_variances(rows))
            for place, of_place in enumerate(errors, begin):
                gaps, following = values[place] - values, place + 1
                yield (
                    self._ranks(gaps, of_place),
                    self._likely(float(gaps[following]), float(of_place[following]))
                    if following < len(values)
                    else None,
                )

    def _ranks(self, gaps: Floats, errors: Floats) -> tuple[int, int]:
        # Computing each likelihood would be exact, but half a million of them take a second. Only
        # differences close to the limit need it. A difference without error is beyond any limit.
        clear = _CERTAIN_ABOVE * errors
        stronger = int(np.count_nonzero(gaps < -clear))
        weaker = int(np.count_nonzero(gaps > clear))
        sizes = np.abs(gaps)
        for at in np.flatnonzero((sizes > _UNCERTAIN_BELOW * errors) & (sizes <= clear)):
            likely = self._likely(float(gaps[at]), float(errors[at]))
            stronger += likely < 1 - CERTAIN
            weaker += likely > CERTAIN
        return 1 + stronger, len(gaps) - weaker

    def _errors(self, place: int) -> Floats:
        return _standard_errors(self.covariance.gap_variances(slice(place, place + 1))[0])

    @staticmethod
    def _likely(gap: float, error: float) -> float:
        if error:
            return round(normal(gap / error), DECIMALS)
        return 0.5 + 0.5 * ((gap > 0) - (gap < 0))


def _standard_errors(variances: Floats) -> Floats:
    """Convert variances in natural units to rounded standard errors in Elo points."""
    return np.asarray(np.round(ELO * np.sqrt(np.maximum(variances, 0.0)), DECIMALS))
