"""Long runs on Pokino's table, by a fast search that may miss the longest."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from referee.games.pokino.actions import Run
from referee.games.pokino.layout import SQUARES, Ground, around
from referee.games.pokino.runs import NUMBER
from referee.games.shared.cards import Card

CARD_NUMBERS = 13
MAX_SEARCH_STEPS = 400
"""Steps of the depth-first search for one run, shared equally by its starts."""
MAX_STARTS = 12
"""Squares from which the search starts, at most."""
MAX_RUNS = 4
"""Runs that cover a hand, at most."""

Path = tuple[int, ...]
"""Numbers of squares."""


@dataclass(frozen=True, slots=True)
class Cover:
    """Runs that play a hand, the longest first, and the number of remaining cards."""

    runs: tuple[Path, ...]
    cards_left: int


def counts_by_number(cards: tuple[Card, ...]) -> list[int]:
    """Count the cards by number, 0 to 12."""
    counts = [0] * CARD_NUMBERS
    for card in cards:
        counts[NUMBER[card]] += 1
    return counts


def cover(
    hand: tuple[Card, ...], ground: Ground, cross_middles: bool, max_runs: int = MAX_RUNS
) -> Cover:
    """Cover a hand by long runs, one after another (greedily).

    Args:
        hand: the hand.
        ground: the table.
        cross_middles: whether runs may cross the middles of dominoes.
        max_runs: maximum number of runs.
    """
    counts, cards_left, crossed = counts_by_number(hand), len(hand), set[int]()
    paths: list[Path] = []
    while cards_left > 1 and len(paths) < max_runs:
        path = _PathSearch(counts, cards_left, ground, cross_middles).longest(crossed)
        if len(path) < 2:
            break
        paths.append(path)
        cards_left -= len(path)
        for square in path:
            counts[ground.numbers[square]] -= 1
        for square, following in pairwise(path):
            crossed.add(next(pair for other, pair in around(square) if other == following))
    return Cover(tuple(paths), cards_left)


class _PathSearch:
    """Depth-first search for one long run.

    Attributes:
        counts: cards that are left, by number.
        max_length: squares of the path, at most.
        open_pairs: pairs of neighbouring squares between which a run may go.
        best: the longest path so far.
        steps_left: steps that the search may still make from the present start.
    """

    def __init__(
        self, counts: list[int], max_length: int, ground: Ground, cross_middles: bool
    ) -> None:
        self.counts, self.max_length = list(counts), max_length
        self.numbers = ground.numbers
        middles = ground.middles if cross_middles else {}
        self.open_pairs = {**ground.borders, **middles} if middles else ground.borders
        self.best: Path = ()
        self.steps_left = 0

    def longest(self, crossed: set[int]) -> Path:
        """Return a long run that does not cross these pairs; empty if there is no start."""
        counts, numbers = self.counts, self.numbers
        starts = [square for square, number in numbers.items() if counts[number]]
        if len(starts) > MAX_STARTS:
            starts = [starts[n * len(starts) // MAX_STARTS] for n in range(MAX_STARTS)]
        for start in starts:
            self.steps_left = MAX_SEARCH_STEPS // len(starts)
            counts[numbers[start]] -= 1
            self._extend([start], set(crossed))
            counts[numbers[start]] += 1
        return self.best

    def _extend(self, path: list[int], crossed: set[int]) -> None:
        """Search all continuations of a path; restore the arguments at the end."""
        counts, numbers = self.counts, self.numbers
        if len(path) > len(self.best):
            self.best = tuple(path)
        if len(self.best) == self.max_length:
            return
        for square, pair in list(self._continuations(path[-1], crossed)):
            if self.steps_left <= 0 or len(self.best) == self.max_length:
                return
            self.steps_left -= 1
            counts[numbers[square]] -= 1
            crossed.add(pair)
            path.append(square)
            self._extend(path, crossed)
            path.pop()
            crossed.discard(pair)
            counts[numbers[square]] += 1

    def _continuations(self, square: int, crossed: set[int]) -> Iterator[tuple[int, int]]:
        """Yield the next squares for which there is a card, with the pair that is crossed."""
        for other, pair in around(square):
            if pair in self.open_pairs and pair not in crossed and self.counts[self.numbers[other]]:
                yield other, pair


def run_action(path: Path, hand: tuple[Card, ...], ground: Ground, draw: bool) -> Run:
    """Return the action that plays cards of the hand along a path."""
    rest, cards = list(hand), []
    for square in path:
        card = next(card for card in rest if NUMBER[card] == ground.numbers[square])
        rest.remove(card)
        cards.append(card)
    return Run(tuple([SQUARES[square] for square in path]), tuple(cards), draw)
