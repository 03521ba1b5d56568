"""The curvature of the posterior of many strengths, as a sparse matrix of SciPy.

SciPy is an optional package (the extra `large-ladders`), so this module is imported by large fits
only.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.linalg import LinearOperator, cg

from arena.ratings.strength.meeting_arrays import Floats
from arena.ratings.strength.pair_graph import PairGraph
from arena.ratings.strength.solver import Priors

MOST_PRODUCTS: Final = 3_000
"""Maximum number of products with the matrix for one solution."""


def upper_matrix(graph: PairGraph, values: NDArray[np.floating[Any]]) -> Any:
    """Return the matrix with a value for each pair, in the row of its lower number."""
    return csr_array((values, graph.second, graph.start), shape=(graph.size, graph.size))


class PairCurvature:
    """The curvature of the negative log posterior: a symmetric matrix.

    Args:
        spread: the curvature of each pair.
    """

    def __init__(self, graph: PairGraph, spread: NDArray[np.floating[Any]], held: Priors) -> None:
        self._held, self._upper = held, upper_matrix(graph, spread)
        self._lower = self._upper.T
        self.diagonal: Floats = graph.sums(spread) + held.diagonal
        # An entrant without matches and without a prior must not divide by zero.
        self.diagonal[self.diagonal <= 0] = 1.0

    def times(self, columns: NDArray[np.floating[Any]]) -> NDArray[np.floating[Any]]:
        """Return the product with some columns: (size, columns)."""
        # Subtracting the mean of everyone also subtracts a part of the entrant itself.
        precision = self._held.precision
        added = (self.diagonal + precision / len(columns)).astype(columns.dtype)
        product: NDArray[np.floating[Any]] = added[:, None] * columns
        product -= self._upper @ columns
        product -= self._lower @ columns
        product -= precision * columns.mean(axis=0)
        product[~self._held.free] = 0.0
        return product

    def solved(self, columns: NDArray[Any], exact: float) -> NDArray[Any]:
        """Solve the linear systems with these right sides: (size, columns).

        Conjugate gradients with a diagonal preconditioner solve them as one large system. The
        solution is 0 for anchors; without anchors its mean is 0.

        Args:
            columns: the right sides.
            exact: the norm of the residual, relative to that of the right sides.

        Raises:
            ArithmeticError: the iteration did not converge within `MOST_PRODUCTS`.
        """
        shape, kind = columns.shape, columns.dtype
        inverse = (1 / self.diagonal).astype(kind)[:, None]

        def times(flat: NDArray[Any]) -> NDArray[Any]:
            return self.times(flat.reshape(shape)).ravel()

        def divided(flat: NDArray[Any]) -> NDArray[Any]:
            return np.asarray(inverse * flat.reshape(shape)).ravel()

        square = columns.size, columns.size
        flat, status = cg(
            LinearOperator(square, matvec=times, dtype=kind),
            self._projected(columns).ravel(),
            rtol=exact,
            maxiter=MOST_PRODUCTS,
            M=LinearOperator(square, matvec=divided, dtype=kind),
        )
        if status:
            raise ArithmeticError("a linear system of the fit of strengths did not converge")
        return self._projected(np.asarray(flat).reshape(shape))

    def _projected(self, columns: NDArray[Any]) -> NDArray[Any]:
        if self._held.floating:
            return np.asarray(columns - columns.mean(axis=0))
        return np.asarray(np.where(self._held.free[:, None], columns, np.zeros((), columns.dtype)))
