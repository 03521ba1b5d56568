"""The interface of a recount: an implementation of a game from its page alone.

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
"""A word in a form in which two words for the same action are equal."""


class May(Protocol):
    """The legal actions of a seat."""

    def allows(self, word: Word) -> bool:
        """Whether this action is legal."""

    def every(self) -> set[Plain] | None:
        """All legal actions; None if there are too many to count up."""

    def plain(self, word: Word) -> Plain:
        """A word in the form of ``every``."""


class Names(May):
    """Actions that are all counted up; the order of their cards means nothing."""

    def __init__(self, words: Iterable[Plain]) -> None:
        self.words = set(words)

    def allows(self, word: Word) -> bool:
        """Whether it is one of them."""
        return self.plain(word) in self.words

    def every(self) -> set[Plain]:
        """All of them."""
        return self.words

    def plain(self, word: Word) -> Plain:
        """Return the kind, then the members: one value, or cards in alphabetical order."""
        kind, values = word
        assert len(values) <= 1
        return kind, *(as_one(value) for value in values.values())


def as_one(value: object) -> object:
    """A list without its order, anything else as it is."""
    return tuple(sorted(value)) if isinstance(value, list) else value


@dataclass(frozen=True)
class End:
    """How a game ended."""

    scores: list[int]
    winner: int | None = None
    """A seat that won whatever the scores."""


Asked = dict[int, May]
Answers = dict[int, Word]
Recount = Generator[Asked, Answers, End]
Book = Callable[[Seeded, int, Mapping[str, Any]], Recount]
"""Begins a recount: the luck of the game, how many seats, the options."""


def of_one(kind_and_said: Mapping[str, Said]) -> Word:
    """The action of a game in the protocol's JSON."""
    ((kind, values),) = kind_and_said.items()
    return kind, values


def places(scores: list[int], sides: list[int], winner: int | None = None) -> list[int]:
    """1 + the number of sides with a strictly better score; ``winner`` is before all others."""
    of_side = {side: (seat == winner, scores[seat]) for seat, side in enumerate(sides)}
    return [1 + sum(other > of_side[side] for other in of_side.values()) for side in sides]
