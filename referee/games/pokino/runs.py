"""Legal runs of Pokino and their points (docs/rules/pokino.md, K-5)."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise, permutations, product

from referee.games.pokino.actions import PokinoSquare, Run
from referee.games.pokino.layout import SQUARES, STEPS, Ground, around, ends, pair, square, within
from referee.games.shared.cards import DECK, Card, Hand

NUMBER: dict[Card, int] = {c: "KA23456789TJQ".index(c[0]) for c in DECK}
"""The number that matches a card: the king 0, the ace 1, the queen 12."""

LISTED = 100
"""Number of runs up to which all are listed."""
SPREAD = 6
"""Number of first steps used for a sample of more runs, one path each."""


def most_listed(longest: int) -> int:
    """Return an upper bound of the number of listed runs with up to ``longest`` cards."""
    return max(LISTED, SPREAD * (longest - 1)) if longest > 1 else 0


_POINTS = (0, 0, 5, 5, 5, 10, 15, 20, 35, 55, 90)


def points(length: int) -> int:
    """Return the points of a run with this number of cards."""
    return _POINTS[min(length, len(_POINTS) - 1)]


@dataclass(frozen=True, slots=True)
class PathSteps:
    """The steps of a path: the borders and the middles of dominoes that it crosses."""

    borders: list[int]
    middles: list[int]


def steps_of(path: tuple[PokinoSquare, ...], ground: Ground, walls: bool) -> PathSteps | None:
    """Return the steps of a path, or None if a step is not allowed."""
    steps = PathSteps([], [])
    numbers = [square(place.x, place.y) for place in path]
    for place, other in pairwise(numbers):
        if other - place not in STEPS.values():
            return None
        two = pair(place, other)
        crossed = steps.borders if two in ground.borders else steps.middles
        if two in crossed or (crossed is steps.middles and not walls):
            return None
        if crossed is steps.middles and two not in ground.middles:
            return None
        crossed.append(two)
    return steps


def may_run(run: Run, hand: Hand, most: int, ground: Ground, walls: bool) -> bool:
    """Return whether a run is legal: held cards that match a path of allowed steps.

    Args:
        run: the run.
        hand: the seat's cards.
        most: maximum number of cards that it can pay for.
        ground: the squares, borders and places of the table.
        walls: whether a run may cross middles.
    """
    path, cards = run.path, run.cards
    if not 2 <= len(path) == len(cards) <= most or len(set(cards)) != len(cards):
        return False
    numbers = ground.numbers
    for place, card in zip(path, cards, strict=True):
        if card not in hand or not isinstance(place, PokinoSquare) or not within(place.x, place.y):
            return False
        if numbers.get(square(place.x, place.y)) != NUMBER[card]:
            return False
    return steps_of(path, ground, walls) is not None


Found = tuple[tuple[int, ...], Hand, tuple[int, ...]]
"""A path, the matching cards, and the pairs it crosses."""


@dataclass(slots=True)
class RunSearch:
    """Breadth-first search for the runs of a hand, shortest first.

    With more than :data:`LISTED` runs, it yields a sample instead.
    """

    hand: Hand
    most: int
    ground: Ground
    walls: bool
    runs: list[Found] = field(default_factory=list)
    complete: bool = True
    _by_number: dict[int, list[Card]] = field(default_factory=dict)
    _steps: Collection[int] = ()
    """The pairs for whose two numbers the hand has cards: a run crosses no others."""

    def __post_init__(self) -> None:
        if self.most < 2:
            return
        for card in self.hand:
            self._by_number.setdefault(NUMBER[card], []).append(card)
        firsts = sorted(self._possible_steps())
        self._steps = set(firsts)
        if not self._is_all(firsts):
            self.complete = False
            self.runs = list(self._sample(firsts))

    def cards_along(self, path: Sequence[PokinoSquare]) -> Hand:
        """Return a card of the hand for each square of a path, or fewer if it lacks some."""
        unused = {number: list(cards) for number, cards in self._by_number.items()}
        numbers = (self.ground.numbers.get(square(place.x, place.y), -1) for place in path)
        return tuple(unused[number].pop() for number in numbers if unused.get(number))

    def _possible_steps(self) -> list[int]:
        held = self._by_number
        lacking = ~sum([1 << number for number in held])
        # A single bit means the same number on both squares, which requires two cards.
        once = {1 << number for number, cards in held.items() if len(cards) == 1}
        ground = self.ground
        pairs = ground.borders | ground.middles if self.walls else ground.borders
        return [two for two, bits in pairs.items() if not bits & lacking and bits not in once]

    def _is_all(self, firsts: list[int]) -> bool:
        """Search for all runs; return False if there are too many."""
        runs, numbers, held = self.runs, self.ground.numbers, self._by_number
        if 2 * len(firsts) > LISTED or self._first_choices(firsts) > LISTED:
            return False
        for two in firsts:
            first, second = ends(two)
            mine, theirs = held[numbers[first]], held[numbers[second]]
            pairs = permutations(mine, 2) if mine is theirs else product(mine, theirs)
            for cards in pairs:
                runs.append(((first, second), cards, (two,)))
                runs.append(((second, first), cards[::-1], (two,)))
        for run in runs:  # grows during the iteration
            if len(run[0]) < self.most:
                runs += self._longer(run)
                if len(runs) > LISTED:
                    return False
        return True

    def _first_choices(self, firsts: list[int]) -> int:
        """Return the number of runs with two cards."""
        numbers = self.ground.numbers
        many = {number: len(cards) for number, cards in self._by_number.items()}
        choices = 0
        for two in firsts:
            first, second = numbers[two >> 1], numbers[ends(two)[1]]
            choices += many[first] * (many[second] - (first == second))
        return 2 * choices

    def _longer(self, run: Found) -> list[Found]:
        """Return the runs longer by one card."""
        path, cards, crossed = run
        steps, held, numbers = self._steps, self._by_number, self.ground.numbers
        return [
            ((*path, beside), (*cards, card), (*crossed, two))
            for beside, two in around(path[-1])
            if two in steps and two not in crossed
            for card in held[numbers[beside]]
            if card not in cards
        ]

    def _sample(self, firsts: list[int]) -> Iterator[Found]:
        """Yield one path from each of several first steps across the table, with its prefixes."""
        numbers, held = self.ground.numbers, self._by_number
        for turn in range(min(SPREAD, len(firsts))):
            two = firsts[turn * len(firsts) // SPREAD] if len(firsts) > SPREAD else firsts[turn]
            first, second = ends(two)[:: -1 if turn % 2 else 1]
            cards = held[numbers[first]][0], held[numbers[second]][-1]
            run: Found | None = ((first, second), cards, (two,))
            while run is not None:
                yield run
                run = self._continued(run, turn % 4) if len(run[0]) < self.most else None

    def _continued(self, run: Found, side: int) -> Found | None:
        """Return the run with its first possible further card, or None."""
        path, cards, crossed = run
        beside_it = around(path[-1])
        for beside, two in beside_it[side:] + beside_it[:side]:
            if two in self._steps and two not in crossed:
                for card in self._by_number[self.ground.numbers[beside]]:
                    if card not in cards:
                        return (*path, beside), (*cards, card), (*crossed, two)
        return None


def listed(run_and_draw: tuple[Found, bool]) -> Run:
    """Convert a search result and the choice of the draw to an action."""
    (path, cards, _), draw = run_and_draw
    return Run(tuple([SQUARES[number] for number in path]), cards, draw)
