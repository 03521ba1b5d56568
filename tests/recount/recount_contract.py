"""The interface of a recount: an implementation of a game from its rules page alone.

A recount is a generator. It yields the acting seats with their legal actions, receives the actions,
and returns how the game ended. It does not use ``referee.games``, except for chance as specified in
``docs/reference/dealing.md``.
"""

from collections.abc import Callable, Generator, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from referee.games.shared.dealing import Seeded

Said = Mapping[str, Any]
"""The members of an action in the protocol's JSON; empty members may be missing."""
Word = tuple[str, Said]
"""A kind of action, such as ``pickUp``, and its members."""
Plain = tuple[object, ...]
"""A normal form of a word, which is equal for equivalent words."""


class LegalActions(Protocol):
    def allows(self, word: Word) -> bool:
        """Return whether this action is legal."""

    def every(self) -> set[Plain] | None:
        """Return the normal forms of all legal actions; None if there are too many to enumerate."""

    def plain(self, word: Word) -> Plain:
        """Return the normal form of a word."""


class ListedActions(LegalActions):
    """Legal actions that are all enumerated; the order of their cards does not matter."""

    def __init__(self, words: Iterable[Plain]) -> None:
        self.words = set(words)

    def allows(self, word: Word) -> bool:
        return self.plain(word) in self.words

    def every(self) -> set[Plain]:
        return self.words

    def plain(self, word: Word) -> Plain:
        """Return the kind, then the members: one value, or cards in alphabetical order."""
        kind, values = word
        assert len(values) <= 1
        return kind, *(as_tuple(value) for value in values.values())


def as_tuple(value: object) -> object:
    """Return a list as a sorted tuple, and any other value unchanged."""
    return tuple(sorted(value)) if isinstance(value, list) else value


@dataclass(frozen=True)
class GameResult:
    scores: list[int]
    winner: int | None = None
    """The seat that won regardless of the scores, if any."""


Asked = dict[int, LegalActions]
Answers = dict[int, Word]
Recount = Generator[Asked, Answers, GameResult]
Book = Callable[[Seeded, int, Mapping[str, Any]], Recount]
"""Starts a recount with the game's chance source, the number of seats and the options."""


def word_of(kind_and_said: Mapping[str, Said]) -> Word:
    """Return the word of an action in the protocol's JSON."""
    ((kind, values),) = kind_and_said.items()
    return kind, values


def places(scores: list[int], sides: list[int], winner: int | None = None) -> list[int]:
    """Return 1 + the number of sides with a better score; ``winner`` always has place 1."""
    of_side = {side: (seat == winner, scores[seat]) for seat, side in enumerate(sides)}
    return [1 + sum(other > of_side[side] for other in of_side.values()) for side in sides]
