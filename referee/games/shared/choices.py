"""Choose some cards of a hand by their places, without listing all combinations of cards."""

from collections.abc import Callable
from functools import cache
from itertools import combinations
from operator import itemgetter

from referee.games.shared.cards import Hand

Choice = Callable[[Hand], Hand]
"""Takes the cards at certain places of a hand."""


@cache
def choices(size: int, chosen: int) -> tuple[Choice, ...]:
    """Return the choices of ``chosen`` cards of a hand, in the order of ``combinations``."""
    if chosen == 1:
        return tuple(itemgetter(slice(place, place + 1)) for place in range(size))
    return tuple(itemgetter(*places) for places in combinations(range(size), chosen))
