"""The fit of strengths: the most plausible values, and how far to trust them.

The model is Bradley and Terry's (1952): i scores against j, on average over a match, the share
1 / (1 + exp(strength j - strength i)). A tie is half a win for each; with ties as a result of
their own, in Davidson's model (1970), strengths hang on the very same scores. In Plackett and
Luce's model of whole rankings any two of a table stand to each other by the same formula, so tables
are fitted by their pairs (full breaking; Azari Soufiani et al. 2013), and that the pairs
of a table are not independent is counted in the errors.

Only the mean is taken from the model. The errors come from the scatter between matches, by the
"sandwich" of Huber (1967), clustered by match (Liang and Zeger 1986).
"""

from dataclasses import dataclass

import numpy as np

from arena.ratings.strength.columns import Columns, Floats, Ints, score_scatter

STEPS = 200
WIDEST_STEP = 2.0
CONVERGED = 1e-9
"""The step after which the fit stops; steps shrink quadratically, the next would be 1e-18."""
LEVEL = 1e-14
"""The slope for each match at which the top is level, but for the rounding of floats."""

MANY = 1_000
"""From so many entrants on a system of equations is not taken apart but drawn near to."""
EXACT = 1e-12
"""How near, as a share of where it begins."""

FAMILIAR = 5.0
"""After so many matches an entrant's own scatter counts as much as what is usual for everyone."""
CORRECTION = 2.0
"""The most by which scatter is scaled up because the fit has drawn strengths towards results."""


@dataclass(frozen=True)
class Fit:
    """Strengths in natural units (a factor of e in the odds) and their covariance."""

    strength: Floats
    covariance: Floats


def expected_scores(strength: Floats) -> Floats:
    """Return the expected score of i against j: (size, size)."""
    gaps = strength[:, None] - strength[None, :]
    scores: Floats = 0.5 + 0.5 * np.tanh(gaps / 2)
    return scores


def fit(table: Columns, weights: Floats, precision: float, anchors: dict[int, float]) -> Fit:
    """Return the fit.

    Args:
        table: what was played.
        weights: what a match counts in the pair i, j: (size, size), symmetric.
        precision: of the prior: each strength is taken to be normally distributed around the mean
            of all, with the variance 1 / precision. 0 is no prior.
        anchors: fixed strengths by number. Without any the mean of the strengths is 0.
    """
    strength = most_plausible(weights * table.count, weights * table.score, precision, anchors)
    expected = expected_scores(strength)
    spread = expected * (1 - expected)
    prior = precision * _centring(table.size)
    bread = curvature(weights * table.count * spread) + prior
    usual = curvature(weights**2 * table.count * spread)
    meat = _trusted(table, score_scatter(table, weights, expected), usual) + prior
    inverse = _inverse(bread, anchors)
    return Fit(strength, inverse @ meat @ inverse)


def about_mean(fitted: Fit, shares: Floats) -> Fit:
    """Return the same fit with the mean of all, each weighted by its share, at 0.

    Differences stay as they are. The doubt of each becomes that of its distance from this mean.
    """
    doubts = fitted.covariance @ shares
    covariance = fitted.covariance - doubts[:, None] - doubts[None, :] + shares @ doubts
    return Fit(fitted.strength - shares @ fitted.strength, covariance)


def most_plausible(
    count: Floats, score: Floats, precision: float, anchors: dict[int, float]
) -> Floats:
    """Return the strengths that maximise likelihood times prior, by Newton's method.

    Its start is always the same, so that the same sums end in the same digits.
    """
    size = len(count)
    strength = np.zeros(size)
    for place, value in anchors.items():
        strength[place] = value
    free = np.array([place not in anchors for place in range(size)])
    if anchors:
        strength[free] = np.mean(list(anchors.values()))
    height = _height(count, score, precision, strength)
    level = LEVEL * float(np.max(count.sum(axis=1), initial=0.0))
    for _ in range(STEPS):
        expected = expected_scores(strength)
        slope = (score - count * expected).sum(axis=1) - precision * _centred(strength)
        bend = curvature(count * expected * (1 - expected)) + precision * _centring(size)
        step = _solved(bend, slope, anchors)
        size_of_step = float(np.max(np.abs(step), initial=0.0))
        step *= min(1.0, WIDEST_STEP / size_of_step) if size_of_step else 1.0
        if size_of_step < CONVERGED or float(np.max(np.abs(slope), initial=0.0)) <= level:
            return np.asarray(strength + step)
        height, strength = _uphill(count, score, precision, strength, step, height)
    raise ArithmeticError("the fit of strengths did not converge")


def _uphill(
    count: Floats, score: Floats, precision: float, strength: Floats, step: Floats, height: float
) -> tuple[float, Floats]:
    slack = 1e-12 * (1 + abs(height))
    for _ in range(STEPS):
        reached = _height(count, score, precision, strength + step)
        if reached >= height - slack:
            break
        step = step / 2
    return reached, strength + step


def _height(count: Floats, score: Floats, precision: float, strength: Floats) -> float:
    gaps = strength[:, None] - strength[None, :]
    likelihood = -np.sum(score * np.logaddexp(0.0, -gaps))
    return float(likelihood - precision * strength @ _centred(strength) / 2)


def curvature(spread: Floats) -> Floats:
    """Return the matrix that sums, over pairs, spread[i, j] * (e_i - e_j)(e_i - e_j)'."""
    matrix: Floats = np.diag(spread.sum(axis=1)) - spread
    return matrix


def _trusted(table: Columns, scatter: Floats, usual: Floats) -> Floats:
    """The scatter of scores, held by what is usual where an entrant has few matches of its own.

    Who has won five of five shows no scatter at all, and is not known exactly. What is usual is
    the scatter of single games between everyone's strengths, scaled to what all matches show
    together; one game between equals is added to both, so that it is never nothing.
    """
    seats = np.array([block.seats for block in table.blocks] or [2])
    played = np.array([block.matches.sum() for block in table.blocks] or [0])
    known = float(np.sum(played * (seats - 1)))
    lost = table.size - 1
    corrected = min(CORRECTION, known / (known - lost)) if known > lost else CORRECTION
    scatter = corrected * scatter
    scale = (np.trace(scatter) + 0.5) / (np.trace(usual) + 0.5)
    own = np.sqrt(table.matches / (table.matches + FAMILIAR))
    others = np.sqrt(1 - own**2)
    trusted: Floats = np.outer(own, own) * scatter + np.outer(others, others) * scale * usual
    return trusted


def _centring(size: int) -> Floats:
    matrix: Floats = np.eye(size) - 1.0 / size
    return matrix


def _centred(some: Floats) -> Floats:
    """What `_centring` makes of one column or several."""
    moved: Floats = some - some.mean(axis=0)
    return moved


def _inverse(matrix: Floats, anchors: dict[int, float]) -> Floats:
    """The inverse in the directions that are free; 0 for anchors, or for moving all alike."""
    size = len(matrix)
    if not anchors:
        return _centred(_centred(np.asarray(np.linalg.inv(matrix + _alike(matrix)))).T)
    free = _free(size, anchors)
    inverse = np.zeros((size, size))
    inverse[np.ix_(free, free)] = np.linalg.inv(matrix[np.ix_(free, free)])
    return inverse


def _solved(matrix: Floats, column: Floats, anchors: dict[int, float]) -> Floats:
    """The same inverse times a column, without making it."""
    if not anchors:
        return _centred(_solution(matrix + _alike(matrix), _centred(column)))
    free = _free(len(matrix), anchors)
    solved = np.zeros(len(matrix))
    solved[free] = _solution(matrix[np.ix_(free, free)], column[free])
    return solved


def _solution(matrix: Floats, column: Floats) -> Floats:
    """What a positive definite matrix makes this column of.

    Of many entrants by conjugate gradients (Hestenes and Stiefel 1952), each divided by its own
    curvature: some dozen products with the matrix, where to take it apart costs its cube.
    """
    if len(column) < MANY:
        return np.asarray(np.linalg.solve(matrix, column))
    own = np.diag(matrix)
    solution = np.zeros(len(column))
    left = column.copy()
    along = scaled = left / own
    before = float(left @ scaled)
    enough = EXACT**2 * before
    for _ in range(len(column)):
        if before <= enough:
            break
        bent = matrix @ along
        step = before / float(along @ bent)
        solution += step * along
        left -= step * bent
        scaled = left / own
        now = float(left @ scaled)
        along = scaled + (now / before) * along
        before = now
    return solution


def _alike(matrix: Floats) -> float:
    """What, added to each of its numbers, lets a matrix be inverted that knows differences only."""
    return max(float(np.trace(matrix)), 1e-300) / len(matrix) ** 2


def _free(size: int, anchors: dict[int, float]) -> Ints:
    return np.array([place for place in range(size) if place not in anchors], dtype=np.int64)
