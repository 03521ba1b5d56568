"""What every format keeps: from what is stored alone, it says which matches come next.

A format is a value: its settings. Asked with the entrants and all matches so far it answers with
a step: matches to be played (`Play`), nothing until a match ends (`Wait`), or the end (`Over`).
It remembers nothing, so a tournament is taken up again by asking again. Three promises:

- The same question has the same answer; matches may be given in any order.
- What is decided from results is decided from complete rounds or series in canonical order, so
  the order in which matches close changes no match that is played and counts.
- Fixtures of one step belong together: the store takes all of them in one transaction or none.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from itertools import groupby
from typing import Protocol, TypeAlias

from arena.ratings.closed_match import ClosedGame, scores

Ranking: TypeAlias = tuple[tuple[str, ...], ...]
"""Entrants by rank, the best first; those of one group share a rank."""


class State(StrEnum):
    """Where a match on the schedule stands."""

    OPEN = "open"
    """To be played, or being played."""
    CLOSED = "closed"
    """Over, with a result."""
    VOID = "void"
    """Over without a result: given up by the arena, or cancelled."""


@dataclass(frozen=True, slots=True)
class Entrant:
    """One who plays. Entrants are given in the order of their seeds, the best first.

    name: "name@version".
    owner: who entered it; empty: nobody it shares with others.
    joined: the first round it can be paired in. withdrawn: the first it is not paired in any more.
        Both are 0 or `next_round` of the matches there were when it came or went, so a later
        question finds the earlier rounds as they were.
    """

    name: str
    owner: str = ""
    joined: int = 0
    withdrawn: int | None = None

    def plays_in(self, number: int) -> bool:
        """Whether it can be paired in a round."""
        return self.joined <= number and (self.withdrawn is None or number < self.withdrawn)


@dataclass(frozen=True)
class Match:
    """A match on the schedule.

    entrants: names, in the order of the match. games: of a closed match all, by entrant.
    """

    round: int
    number: int
    entrants: tuple[str, ...]
    state: State = State.OPEN
    games: tuple[ClosedGame, ...] = ()

    def __post_init__(self) -> None:
        if (self.state is State.CLOSED) != bool(self.games):
            raise ValueError(f"match {self.round}/{self.number} is {self.state}: games do not fit")

    @property
    def place(self) -> tuple[int, int]:
        """Its place in canonical order."""
        return self.round, self.number

    @cached_property
    def scores(self) -> tuple[tuple[float, ...], ...]:
        """How entrant i did against entrant j, from 0 to 1
        (`arena.ratings.closed_match.scores`)."""
        return scores(self.games)

    @cached_property
    def points(self) -> tuple[int, ...]:
        """What it gives each entrant: 2 for each opponent it did better than, 1 for an equal.

        With two sides: 2 for a win, 1 for a draw. A void match gives everyone a draw, because
        nobody is charged for a failure of the arena. All add up to n * (n - 1).
        """
        if self.state is State.VOID:
            return (len(self.entrants) - 1,) * len(self.entrants)
        return tuple(
            sum((score > 0.5) + (score >= 0.5) for other, score in enumerate(row) if other != one)
            for one, row in enumerate(self.scores)
        )


@dataclass(frozen=True, slots=True)
class Fixture:
    """A match to be played. entrants: names in order of their seeds. why: of this pairing."""

    round: int
    number: int
    entrants: tuple[str, ...]
    why: str = ""


@dataclass(frozen=True, slots=True)
class Play:
    """These matches come next, in canonical order."""

    fixtures: tuple[Fixture, ...]
    why: str


@dataclass(frozen=True, slots=True)
class Wait:
    """Nothing comes until a match ends, or an entrant joins."""

    why: str


@dataclass(frozen=True, slots=True)
class Over:
    """No further match comes; such as are open may be finished.

    ranking: the final one, where the format decides it; empty where the ratings do.
    drained: (round, number) of matches that do not count, because the decision had fallen.
    """

    why: str
    ranking: Ranking = ()
    drained: tuple[tuple[int, int], ...] = ()


Step: TypeAlias = Play | Wait | Over


class Format(Protocol):
    """The settings of a tournament's format."""

    def next(self, entrants: Sequence[Entrant], matches: Iterable[Match]) -> Step:
        """Return what comes next.

        Raises ValueError if these entrants cannot play this format.
        """
        ...


def history(entrants: Sequence[Entrant], matches: Iterable[Match]) -> list[Match]:
    """Return the matches in canonical order.

    Raises ValueError if an entrant is named twice, or a match has a stranger or a taken place.
    """
    names: set[str] = set()
    for entrant in entrants:
        if entrant.name in names:
            raise ValueError(
                f"{entrant.name} is named twice; each version enters a tournament once"
            )
        names.add(entrant.name)
    ordered = sorted(matches, key=lambda match: match.place)
    for before, match in zip([None, *ordered], ordered, strict=False):
        if before is not None and before.place == match.place:
            raise ValueError(f"two matches have the place {match.round}/{match.number}")
        if not names.issuperset(match.entrants):
            raise ValueError(f"match {match.round}/{match.number} has an entrant nobody entered")
    return ordered


def next_round(matches: Iterable[Match]) -> int:
    """Return the first round that has no match yet."""
    return max((match.round + 1 for match in matches), default=0)


def count_open(matches: Iterable[Match]) -> int:
    """Return how many matches are still to be finished."""
    return sum(match.state is State.OPEN for match in matches)


def waiting(matches: Iterable[Match]) -> Wait:
    """Return the step that waits for all open matches."""
    left = count_open(matches)
    return Wait(f"{left} {'match is' if left == 1 else 'matches are'} not over yet")


def seatable(entrants: Sequence[Entrant], number: int) -> list[str]:
    """Return the names of those who can be paired in a round, in the order of their seeds."""
    return [entrant.name for entrant in entrants if entrant.plays_in(number)]


def fixtures(
    number: int, tables: Iterable[tuple[Sequence[str], str]], entrants: Sequence[Entrant]
) -> tuple[Fixture, ...]:
    """Return the matches of a round from its tables and why each is played."""
    seed = {entrant.name: position for position, entrant in enumerate(entrants)}
    return tuple(
        Fixture(number, place, tuple(sorted(table, key=seed.__getitem__)), why)
        for place, (table, why) in enumerate(tables)
    )


def ranked(worth: Iterable[tuple[tuple[float, ...], str]]) -> Ranking:
    """Return names ranked by what they are worth, the most first; equals share a rank."""
    ordered = sorted(worth, key=lambda line: tuple(-value for value in line[0]))
    groups = groupby(ordered, key=lambda line: line[0])
    return tuple(tuple(name for _, name in group) for _, group in groups)
