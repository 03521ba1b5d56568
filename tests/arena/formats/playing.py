"""A tournament played without cards: who wins is drawn from strengths, by the match's place."""

import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from math import exp

from arena.formats.contract import (
    Fixture,
    Format,
    FormatEntrant,
    FormatMatch,
    FormatOver,
    MatchStatus,
    NextMatches,
    next_round,
)
from arena.ratings.closed_match import FINISHED, ClosedGame

Strength = Callable[[str], float]


def everyone(count: int, owners: Sequence[str] = ()) -> list[FormatEntrant]:
    """Entrants a@1, b@1, ... of these owners, the rest without one."""
    names = [f"{chr(97 + i // 26)}{chr(97 + i % 26)}@1" for i in range(count)]
    return [
        FormatEntrant(name, owners[i] if i < len(owners) else "") for i, name in enumerate(names)
    ]


def game(number: int, places: Sequence[int]) -> ClosedGame:
    """A game that ended in these places."""
    size = len(places)
    return ClosedGame(number, tuple(places), None, (FINISHED,) * size, (0,) * size)


def equal(_: str) -> float:
    return 0.0


@dataclass
class Playing:
    """A tournament on its way.

    seed: of the results, which follow from it and a match's place. dice: of everything else, such
    as which match closes next. strength: in natural logarithms of odds.
    """

    format: Format
    entrants: list[FormatEntrant]
    seed: int = 0
    dice: random.Random = field(default_factory=lambda: random.Random(0))
    strength: Strength = equal
    games: int = 4
    void: float = 0.0
    matches: list[FormatMatch] = field(default_factory=list)
    fixtures: list[Fixture] = field(default_factory=list)

    def ask(self) -> NextMatches | FormatOver | None:
        """Ask what comes next and schedule it; None if it waits."""
        shuffled = self.matches.copy()
        self.dice.shuffle(shuffled)
        step = self.format.next(self.entrants, shuffled)
        if self.dice.random() < 0.25:
            assert step == self.format.next(self.entrants, self.matches)
        assert step.why
        if isinstance(step, NextMatches):
            assert step.fixtures
            self.fixtures += step.fixtures
            self.matches += [FormatMatch(f.round, f.number, f.entrants) for f in step.fixtures]
            return step
        return step if isinstance(step, FormatOver) else None

    def opened(self) -> list[int]:
        return [i for i, match in enumerate(self.matches) if match.state is MatchStatus.OPEN]

    def close(self, place: int) -> None:
        """Finish a match."""
        match = self.matches[place]
        luck = random.Random(f"{self.seed}/{match.round}/{match.number}")
        if luck.random() < self.void:
            self.matches[place] = replace(match, state=MatchStatus.VOID)
            return
        games = tuple(
            game(number, _places(match.entrants, self.strength, luck))
            for number in range(self.games)
        )
        self.matches[place] = replace(match, state=MatchStatus.CLOSED, games=games)

    def play(self, most: int = 2000) -> FormatOver | None:
        """Play to the end, or until this number of matches is scheduled; then return None."""
        while len(self.matches) < most:
            step = self.ask()
            if isinstance(step, FormatOver):
                return step
            if step is None:
                opened = self.opened()
                assert opened, "it waits, but nothing is open"
                self.close(self.dice.choice(opened))
        return None

    def finish(self) -> None:
        """Close all that is open."""
        for place in self.opened():
            self.close(place)

    def withdraw(self, place: int) -> None:
        entrant = self.entrants[place]
        self.entrants[place] = replace(entrant, withdrawn=next_round(self.matches))

    def join(self, name: str, owner: str = "") -> None:
        self.entrants.append(FormatEntrant(name, owner, joined=next_round(self.matches)))


def _places(names: Iterable[str], strength: Strength, luck: random.Random) -> list[int]:
    """Plackett and Luce's order: the first place by chance in proportion to exp(strength)."""
    left = dict(enumerate(names))
    places = [0] * len(left)
    for place in range(1, len(left) + 1):
        most = max(map(strength, left.values()))
        weights = [exp(strength(name) - most) for name in left.values()]
        chosen = luck.choices(list(left), weights)[0]
        places[chosen] = place
        del left[chosen]
    return places
