"""The best pairs of a Swiss round: a perfect matching of minimum weight.

The library rustworkx finds it with Edmonds' blossom algorithm (Galil, "Efficient algorithms for
finding maximum matching in graphs", 1986). It is imported when the first round is paired, because
that takes as long as importing numpy.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Final

from arena.ratings.strength.fit import load_numpy
from referee.games.shared.coded_errors import InvalidValue

Costs = tuple[int, ...]
"""The costs of a pair by priority, the most important first; none is negative."""

_WIDEST: Final = 126
"""The library computes with integers of 128 bits and adds up to two of them."""
_TIE_BITS: Final = 32
"""Bits of the random costs that make the best matching unique, whatever the order of a search."""


def best_pairs(size: int, cost: Callable[[int, int], Costs | None]) -> list[tuple[int, int]] | None:
    """Pair all of 0 .. size - 1, and minimize the sums of the costs in the order of priority.

    Costs from a fixed random sequence decide between matchings with equal sums.

    Args:
        size: an even number.
        cost: the costs of the pair a < b; None if it is not allowed. All have the same length.

    Returns:
        Pairs in ascending order; None if not all can be paired.

    Raises:
        ValueError: the sums do not fit into the integers of the library.
    """
    dice = random.Random(0)
    costs: dict[tuple[int, int], Costs] = {}
    for first in range(size):
        for second in range(first + 1, size):
            tie = dice.getrandbits(_TIE_BITS)
            if (levels := cost(first, second)) is not None:
                costs[first, second] = (*levels, tie)
    if not costs:
        return None if size else []
    weights = _weights(list(costs.values()), size // 2)
    edges = [(a, b, weight) for (a, b), weight in zip(costs, weights, strict=True)]
    mates = _matching(size, edges)
    return None if 2 * len(mates) < size else mates


def _weights(costs: Sequence[Costs], pairs: int) -> list[int]:
    """Return one number for the costs of each pair; their sums compare like the sums by priority.

    The unit of a priority exceeds any sum of the next one over all pairs.
    """
    units, unit = [], 1
    for level in reversed(range(len(costs[0]))):
        units.append(unit)
        unit *= pairs * max(values[level] for values in costs) + 1
    if unit.bit_length() > _WIDEST:
        raise InvalidValue("too many entrants for exact weights", code="too-many-entrants")
    units.reverse()
    return [sum(map(int.__mul__, values, units)) for values in costs]


def _matching(size: int, edges: list[tuple[int, int, int]]) -> list[tuple[int, int]]:
    load_numpy()
    import rustworkx

    graph: rustworkx.PyGraph[int, int] = rustworkx.PyGraph()
    graph.add_nodes_from(list(range(size)))
    graph.add_edges_from(edges)
    mates = rustworkx.max_weight_matching(
        graph, max_cardinality=True, weight_fn=lambda weight: -weight, verify_optimum=False
    )
    return sorted((min(pair), max(pair)) for pair in mates)
