"""Long runs on Pokino's table, by a fast search that may miss the longest."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from referee.games.pokino.actions import Run
from referee.games.pokino.layout import SQUARES, Ground, around
from referee.games.pokino.runs import NUMBER
from referee.games.shared.cards import Card

EFFORT = 400
"""Steps of the search for one run."""
STARTS = 12
"""Maximum number of squares from which the search starts."""
RUNS = 4
"""Maximum number of runs that cover a hand."""

Path = tuple[int, ...]
"""Numbers of squares."""


@dataclass(frozen=True, slots=True)
class Cover:
    """Runs that play a hand, the longest first, and the number of remaining cards."""

    runs: tuple[Path, ...]
    left: int


def counted(hand: tuple[Card, ...]) -> list[int]:
    """Count the cards by number, 0 to 12."""
    held = [0] * 13
    for card in hand:
        held[NUMBER[card]] += 1
    return held


def cover(hand: tuple[Card, ...], ground: Ground, walls: bool, runs: int = RUNS) -> Cover:
    """Cover a hand by long runs, one after another."""
    held, left, crossed = counted(hand), len(hand), set[int]()
    paths: list[Path] = []
    while left > 1 and len(paths) < runs:
        path = longest(held, left, ground, walls, crossed)
        if len(path) < 2:
            break
        paths.append(path)
        left -= len(path)
        for square in path:
            held[ground.numbers[square]] -= 1
        for square, following in pairwise(path):
            crossed.add(next(two for beside, two in around(square) if beside == following))
    return Cover(tuple(paths), left)


def longest(held: list[int], most: int, ground: Ground, walls: bool, crossed: set[int]) -> Path:
    """Return a long run with these cards, of at most ``most`` cards, without ``crossed``."""
    numbers = ground.numbers
    open_pairs = {**ground.borders, **ground.middles} if walls else ground.borders
    starts = [square for square, number in numbers.items() if held[number]]
    if len(starts) > STARTS:
        starts = [starts[at * len(starts) // STARTS] for at in range(STARTS)]
    best: Path = ()
    left = list(held)
    effort = 0

    def continuations(square: int, used: set[int]) -> Iterator[tuple[int, int]]:
        for beside, two in around(square):
            if two in open_pairs and two not in used and left[numbers[beside]]:
                yield beside, two

    def extend(path: list[int], used: set[int]) -> None:
        nonlocal best, effort
        if len(path) > len(best):
            best = tuple(path)
        if len(best) == most:
            return
        for beside, two in list(continuations(path[-1], used)):
            if effort <= 0 or len(best) == most:
                return
            effort -= 1
            left[numbers[beside]] -= 1
            used.add(two)
            path.append(beside)
            extend(path, used)
            path.pop()
            used.discard(two)
            left[numbers[beside]] += 1

    for start in starts:
        effort = EFFORT // len(starts)
        left[numbers[start]] -= 1
        extend([start], set(crossed))
        left[numbers[start]] += 1
    return best


def run(path: Path, hand: tuple[Card, ...], ground: Ground, draw: bool) -> Run:
    """Return the action that plays cards of the hand along a path."""
    rest, cards = list(hand), []
    for square in path:
        card = next(c for c in rest if NUMBER[c] == ground.numbers[square])
        rest.remove(card)
        cards.append(card)
    return Run(tuple([SQUARES[square] for square in path]), tuple(cards), draw)
