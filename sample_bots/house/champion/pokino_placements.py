"""Rating of domino placements on Pokino's table.

A card can be part of a run if a square with its number can be entered and left.

- The *passages* of a number are the pairs of borders at its squares. A border counts by the
  probability that a card for the number behind it is in the hand.
- The *potential* of a table for a hand is the sum over its cards of the logarithm of the passages
  of their numbers. Because of the logarithm, new passages count most for numbers that have few.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, log

from referee.games.pokino.layout import Ground, around, ends
from referee.games.pokino.runs import NUMBER
from referee.games.pokino.state import PokinoState
from referee.games.shared.cards import Card
from referee.games.shared.dominoes import NUMBERS, Tile

CARD_NUMBERS = 13
"""Dominoes and cards have numbers from 0 to 12."""
CARDS_PER_NUMBER = 4
"""Cards of each number in the deck."""
SINGLE_BORDER_PASSAGES = 0.2
"""Passages of a square for each of its borders, because a run can begin or end there."""
PASSAGE_SMOOTHING = 3.0
"""Added to the passages of a number before the logarithm.

A larger value makes the gain for numbers without passages less dominant.
"""
RIVAL_WEIGHT = 0.5
"""Weight of the potential for the other seats' hands, which is subtracted."""

CountsByNumber = list[float]
"""Cards of each number; fractions are expected counts."""


@dataclass(frozen=True, slots=True)
class Placement:
    """A domino on two squares, encoded as in `referee.games.pokino.layout`."""

    gain: float
    domino: Tile
    first: int
    """The square of its smaller number."""
    second: int


def counts_by_number(cards: Sequence[Card]) -> CountsByNumber:
    """Count cards by number."""
    counts = [0.0] * CARD_NUMBERS
    for card in cards:
        counts[NUMBER[card]] += 1
    return counts


def expected_hands(
    state: PokinoState, seat: int, draws_to_the_end: bool
) -> tuple[CountsByNumber, CountsByNumber]:
    """Return the expected counts of the seat's hand, and of the mean hand of the others.

    Args:
        state: the position.
        seat: the seat.
        draws_to_the_end: whether the seat will also draw its share of the deck.
    """
    others = [other for other in range(len(state.hands)) if other != seat]
    next_card = state.deck[:1]
    hand = counts_by_number((*state.hands[seat], *next_card))
    known = counts_by_number([card for other in others for card in state.known[other]])
    played = counts_by_number([card for run in state.runs for card in run.cards])
    unseen = [CARDS_PER_NUMBER - sum(seen) for seen in zip(hand, known, played, strict=True)]
    hidden = sum(unseen)
    if draws_to_the_end and hidden:
        share_of_deck = -(-len(state.deck) // len(state.hands))  # rounded up
        drawn_share = max(0, share_of_deck - 1) / hidden
        hand = [held + drawn_share * rest for held, rest in zip(hand, unseen, strict=True)]
    mean_rival_hand = [
        (held + rest) / len(others) for held, rest in zip(known, unseen, strict=True)
    ]
    return hand, mean_rival_hand


class TablePotential:
    """The passages of a table for a hand, and the gain of placements.

    Attributes:
        hand: expected cards by number.
        held: probability that a card of a number is in the hand, by number. The count of a number
            is taken as Poisson distributed around its expected value.
        borders: for each square, the sum of the probabilities behind its borders.
        passages: for each number, the passages of all its squares.
    """

    def __init__(self, ground: Ground, hand: CountsByNumber, cross_middles: bool) -> None:
        """Compute the passages of the present table.

        Args:
            ground: the table.
            hand: expected cards by number.
            cross_middles: whether runs may cross the middles of dominoes.
        """
        self.hand, self.numbers, self.cross_middles = hand, ground.numbers, cross_middles
        self.held = [1 - exp(-expected) for expected in hand]
        self.borders = dict.fromkeys(ground.numbers, 0.0)
        self._half_passages: dict[tuple[int, int, int], dict[int, float]] = {}
        for pairs in (ground.borders, ground.middles) if cross_middles else (ground.borders,):
            for pair in pairs:
                square, neighbour = ends(pair)
                self.borders[square] += self.held[self.numbers[neighbour]]
                self.borders[neighbour] += self.held[self.numbers[square]]
        self.passages = [0.0] * CARD_NUMBERS
        for square, borders in self.borders.items():
            self.passages[self.numbers[square]] += _passages(borders)

    def gain(self, domino: Tile, first: int, second: int) -> float:
        """Return by how much a domino raises the potential.

        Args:
            domino: the domino.
            first: the square of its smaller number.
            second: the square of its larger number.
        """
        low, high = NUMBERS[domino]
        added = dict(self._passages_of_half(first, low, high))
        for number, passages in self._passages_of_half(second, high, low).items():
            added[number] = added.get(number, 0.0) + passages
        return sum(
            self.hand[number] * log(1 + passages / (self.passages[number] + PASSAGE_SMOOTHING))
            for number, passages in added.items()
        )

    def _passages_of_half(self, square: int, number: int, other_half: int) -> dict[int, float]:
        """Return the added passages by number for one half of a domino (cached).

        The number of the other half matters only if runs may cross the middle.
        """
        key = square, number, other_half if self.cross_middles else 0
        if key not in self._half_passages:
            self._half_passages[key] = self._new_passages(*key)
        return self._half_passages[key]

    def _new_passages(self, square: int, number: int, other_half: int) -> dict[int, float]:
        borders = self.held[other_half] if self.cross_middles else 0.0
        added: dict[int, float] = {}
        for neighbour, _ in around(square):
            if neighbour in self.numbers:
                # The neighbour gains a border too, so its number gains passages.
                neighbour_number = self.numbers[neighbour]
                before = self.borders[neighbour]
                borders += self.held[neighbour_number]
                new = _passages(before + self.held[number]) - _passages(before)
                added[neighbour_number] = added.get(neighbour_number, 0.0) + new
        added[number] = added.get(number, 0.0) + _passages(borders)
        return added


def _passages(borders: float) -> float:
    """Return the passages of a square: n * (n - 1) / 2 pairs of its n (expected) borders, and a
    small value for each single border."""
    return max(0.0, borders * (borders - 1) / 2) + SINGLE_BORDER_PASSAGES * borders


def placements(state: PokinoState, seat: int, draws_to_the_end: bool) -> list[Placement]:
    """Return all placements beside the dominoes of the table, the best first.

    Args:
        state: the position; its table has at least one domino.
        seat: the seat that places.
        draws_to_the_end: see :func:`expected_hands`.
    """
    ground, cross_middles = state.layout.ground, state.variants.tear_down_the_walls
    own_potential, rival_potential = (
        TablePotential(ground, hand, cross_middles)
        for hand in expected_hands(state, seat, draws_to_the_end)
    )
    rated = []
    for domino in state.dominoes[seat]:
        low, high = NUMBERS[domino]
        for place in ground.places:
            square, neighbour = ends(place)
            directions = ((square, neighbour), (neighbour, square))
            for first, second in directions[: 1 + (low != high)]:
                own_gain = own_potential.gain(domino, first, second)
                rival_gain = rival_potential.gain(domino, first, second)
                gain = own_gain - RIVAL_WEIGHT * rival_gain
                rated.append(Placement(round(gain, 9), domino, first, second))
    rated.sort(key=lambda placement: placement.gain, reverse=True)
    return rated
