"""How a game's typed actions and views become numbers.

A decision is narrowed down: the legal actions are sorted into numbered groups, a group is chosen,
and what is left is sorted again, until one action is left. In most games every group is one
action from the beginning, so that a decision is one step. A step in which there is one group of
several actions is left out.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from referee.cards import DECK_WITH_JOKERS, JOKERS, RANKS, SUITS, Card
from referee.games.contract import Action, View

# Observations as rows of numbers between -1 and 1, part after part.


Numbers = NDArray[np.float32]

FACE = len(RANKS) + len(SUITS) + 1
"""Numbers of a card in its place: its rank, its suit, whether it is a joker; none: no card."""

_POSITION = {card: position for position, card in enumerate(DECK_WITH_JOKERS)}


def squashed(number: float, scale: float) -> float:
    """A number without bounds between -1 and 1; ``scale`` becomes one half."""
    return number / (abs(number) + scale)


class Vector:
    """An observation while it is written."""

    def __init__(self) -> None:
        self._parts: list[Numbers] = []

    def numbers(self, *values: float) -> None:
        """Numbers that lie between -1 and 1 already."""
        self._parts.append(np.array(values, np.float32))

    def array(self, values: Numbers) -> None:
        """Many of them."""
        self._parts.append(values.ravel())

    def one_of(self, position: int | None, size: int) -> None:
        """A 1 among zeros; zeros alone for None."""
        row = np.zeros(size, np.float32)
        if position is not None:
            row[position] = 1
        self._parts.append(row)

    def word(self, word: str, words: Sequence[str]) -> None:
        """Which of these words it is, if it is one of them."""
        self.one_of(words.index(word) if word in words else None, len(words))

    def cards(self, cards: Iterable[Card], size: int = 52) -> None:
        """A set of cards: a 1 for each that is in it, in canonical order."""
        row = np.zeros(size, np.float32)
        row[[_POSITION[card] for card in cards]] = 1
        self._parts.append(row)

    def places(self, cards: Sequence[str], size: int) -> None:
        """Cards in their places, :data:`FACE` numbers for each place."""
        faces = np.zeros((size, FACE), np.float32)
        for place, card in enumerate(cards):
            faces[place] = _face(card)
        self._parts.append(faces.ravel())

    def done(self) -> Numbers:
        """All of it."""
        return np.concatenate(self._parts)


@cache
def _face(card: str) -> Numbers:
    face = np.zeros(FACE, np.float32)
    if card in JOKERS:
        face[-1] = 1
    elif card:
        face[RANKS.index(card[0])] = 1
        face[len(RANKS) + SUITS.index(card[1])] = 1
    return face


Groups = Mapping[int, Sequence[Action]]
"""What may be chosen: the actions of each number; empty for a seat that is not asked."""


class Encoding(ABC):
    """The encoding of one form of a game. It is made from what a seat knows alone."""

    game: ClassVar[str]
    size: int
    """Numbers from 0 to this, itself not included, stand for groups of actions."""

    def __init__(self, seats: int) -> None:
        self.seats = seats

    @abstractmethod
    def groups(self, view: View, actions: Sequence[Action]) -> Groups:
        """Sorts the actions that are left; no number has none, all together are all of them."""

    @abstractmethod
    def observe(self, view: View, seat: int, groups: Groups) -> Numbers:
        """What the seat knows, from its own eyes: seats are told from its own on."""

    def from_here(self, seat: int) -> tuple[int, ...]:
        """The seats, the own one first."""
        return tuple((seat + step) % self.seats for step in range(self.seats))


def places(cards: Sequence[str], hand: Sequence[str]) -> tuple[int, ...]:
    """The places of cards in a hand, the lowest first."""
    return tuple(sorted(hand.index(card) for card in cards))


def alone(numbered: Mapping[int, Action]) -> Groups:
    """Groups of one action each."""
    return {number: (action,) for number, action in numbered.items()}
