"""The sums of matches with the same entrants and the same number of games."""

from functools import lru_cache
from itertools import combinations, combinations_with_replacement
from typing import NamedTuple


class LineUp(NamedTuple):
    """The entrants of a match, sorted by name, and its number of games."""

    entrants: tuple[str, ...]
    games: int


class Sums(NamedTuple):
    """Sums over the matches of one line-up.

    Attributes:
        matches: number of matches.
        halves: for each pair of the line-up, in the order of `pairs`: half points of its first
            entrant against its second (shared place 1, better place 2), summed over the matches.
        products: for each two of these pairs, in the order of `pairs_of_pairs`: the product of
            their halves in a match, summed over the matches. They determine the variance between
            matches, and the covariance of results within a match. Empty for a single match, where
            they follow from the halves.
    """

    matches: int
    halves: tuple[int, ...]
    products: tuple[int, ...]


@lru_cache
def pairs(entrants: int) -> tuple[tuple[int, int], ...]:
    """Return the pairs of a line-up by position: (0, 1), (0, 2), ... (1, 2), ..."""
    return tuple(combinations(range(entrants), 2))


@lru_cache
def pairs_of_pairs(entrants: int) -> tuple[tuple[int, int], ...]:
    """Return the two pairs of each entry of `products`, as positions in `pairs`."""
    return tuple(combinations_with_replacement(range(len(pairs(entrants))), 2))
