"""Rating of the places for dominoes on Pokino's table.

A card can be part of a run if its number lies on squares that a run can enter and leave. The
passages of a number count the pairs of borders at its squares; a border counts by the probability
that a card for the number behind it is left. The potential of a table for a hand is the sum over
its cards of the logarithm of the passages of their numbers. So it counts most to give passages to
numbers that have few.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, log

from referee.games.pokino.layout import Ground, around, ends
from referee.games.pokino.runs import NUMBER
from referee.games.pokino.state import PokinoState
from referee.games.shared.cards import Card
from referee.games.shared.dominoes import NUMBERS, Tile

ENDS = 0.2
"""Value of a single border of a square, at which a run can begin or end."""
FEW = 3.0
"""Passages of a number that are enough: more of them add less."""
RIVAL = 0.5
"""Weight of the potential for the other seats' hands."""
EACH = 4
"""Cards of each number in the deck."""

Numbers = list[float]


@dataclass(frozen=True, slots=True)
class Placement:
    """A domino with its smaller number on the first square."""

    gain: float
    domino: Tile
    first: int
    second: int


def counted(cards: Sequence[Card]) -> Numbers:
    """Count cards by number, 0 to 12."""
    counts = [0.0] * 13
    for card in cards:
        counts[NUMBER[card]] += 1
    return counts


def expected_hands(state: PokinoState, seat: int, draws: bool) -> tuple[Numbers, Numbers]:
    """Return the expected counts of the seat's hand, and of the mean hand of the others.

    Args:
        state: the position.
        seat: the seat.
        draws: whether the seat will also draw its share of the deck.
    """
    others = [other for other in range(len(state.hands)) if other != seat]
    top = state.deck[:1]
    mine = counted((*state.hands[seat], *top))
    known = counted([card for other in others for card in state.known[other]])
    played = counted([card for run in state.runs for card in run.cards])
    unseen = [EACH - sum(used) for used in zip(mine, known, played, strict=True)]
    hidden = sum(unseen)
    if draws and hidden:
        more = max(0, -(-len(state.deck) // len(state.hands)) - 1) / hidden
        mine = [held + more * rest for held, rest in zip(mine, unseen, strict=True)]
    theirs = [(held + rest) / len(others) for held, rest in zip(known, unseen, strict=True)]
    return mine, theirs


class Potential:
    """The passages of a table for a hand."""

    def __init__(self, ground: Ground, hand: Numbers, walls: bool) -> None:
        self.hand, self.numbers, self.walls = hand, ground.numbers, walls
        self.likely = [1 - exp(-held) for held in hand]
        self.borders = dict.fromkeys(ground.numbers, 0.0)
        self.ends: dict[tuple[int, int, int], dict[int, float]] = {}
        for pairs in (ground.borders, ground.middles) if walls else (ground.borders,):
            for two in pairs:
                one, other = ends(two)
                self.borders[one] += self.likely[self.numbers[other]]
                self.borders[other] += self.likely[self.numbers[one]]
        self.passages = [0.0] * 13
        for square, borders in self.borders.items():
            self.passages[self.numbers[square]] += _passages(borders)

    def gain(self, domino: Tile, first: int, second: int) -> float:
        """Return by how much a domino raises the potential."""
        low, high = NUMBERS[domino]
        more = dict(self._half(first, low, high))
        for number, passages in self._half(second, high, low).items():
            more[number] = more.get(number, 0.0) + passages
        return sum(
            self.hand[number] * log(1 + passages / (self.passages[number] + FEW))
            for number, passages in more.items()
        )

    def _half(self, square: int, number: int, half: int) -> dict[int, float]:
        """Return the new passages by number for a number on a square, with its other half."""
        key = square, number, half if self.walls else 0
        if key not in self.ends:
            self.ends[key] = self._new_passages(*key)
        return self.ends[key]

    def _new_passages(self, square: int, number: int, half: int) -> dict[int, float]:
        borders = self.likely[half] if self.walls else 0.0
        more: dict[int, float] = {}
        for beside, _ in around(square):
            if beside in self.numbers:
                other, had = self.numbers[beside], self.borders[beside]
                borders += self.likely[other]
                new = _passages(had + self.likely[number]) - _passages(had)
                more[other] = more.get(other, 0.0) + new
        more[number] = more.get(number, 0.0) + _passages(borders)
        return more


def _passages(borders: float) -> float:
    """Return the pairs of borders of a square, with a small value for a single border."""
    return max(0.0, borders * (borders - 1) / 2) + ENDS * borders


def placements(state: PokinoState, seat: int, draws: bool) -> list[Placement]:
    """Return all placements on a table with dominoes, the best first."""
    ground, walls = state.layout.ground, state.variants.tear_down_the_walls
    mine, theirs = (Potential(ground, hand, walls) for hand in expected_hands(state, seat, draws))
    rated = []
    for domino in state.dominoes[seat]:
        low, high = NUMBERS[domino]
        for place in ground.places:
            one, other = ends(place)
            for first, second in ((one, other), (other, one))[: 1 + (low != high)]:
                gain = mine.gain(domino, first, second) - RIVAL * theirs.gain(domino, first, second)
                rated.append(Placement(round(gain, 9), domino, first, second))
    rated.sort(key=lambda placement: placement.gain, reverse=True)
    return rated
