"""Simulate tournaments without games: random results that depend on strengths and the match."""

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
    PairingStrengths,
    next_round,
)
from arena.ratings.closed_match import FINISHED, PlayedGame

Strength = Callable[[str], float]


def everyone(count: int, owners: Sequence[str] = ()) -> list[FormatEntrant]:
    """Return entrants a@1, b@1, and so on, the first ones with these owners."""
    names = [f"{chr(97 + i // 26)}{chr(97 + i % 26)}@1" for i in range(count)]
    return [
        FormatEntrant(name, owners[i] if i < len(owners) else "") for i, name in enumerate(names)
    ]


def game(number: int, places: Sequence[int]) -> PlayedGame:
    size = len(places)
    return PlayedGame(number, tuple(places), None, (FINISHED,) * size, (0,) * size)


def equal(_: str) -> float:
    return 0.0


@dataclass
class SimulatedTournament:
    """A simulated tournament.

    seed: determines the results, together with round and number of each match.
    dice: decides everything else, for example the order in which matches close.
    strength: natural logarithm of the odds.
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
    strengths: dict[int, PairingStrengths] = field(default_factory=dict)

    def ask(self) -> NextMatches | FormatOver | None:
        """Schedule the next matches; return None if the format waits for results."""
        shuffled = self.matches.copy()
        self.dice.shuffle(shuffled)
        step = self.format.next(self.entrants, shuffled)
        if self.dice.random() < 0.25:
            assert step == self.format.next(self.entrants, self.matches)
        assert step.why
        if isinstance(step, NextMatches):
            assert step.fixtures
            self.fixtures += step.fixtures
            if step.strengths is not None:
                self.strengths[step.fixtures[0].round] = step.strengths
            self.matches += [FormatMatch(f.round, f.number, f.entrants) for f in step.fixtures]
            return step
        return step if isinstance(step, FormatOver) else None

    def opened(self) -> list[int]:
        return [i for i, match in enumerate(self.matches) if match.state is MatchStatus.OPEN]

    def close(self, place: int) -> None:
        """Close a match with random results, or void it."""
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
        for place in self.opened():
            self.close(place)

    def withdraw(self, place: int) -> None:
        entrant = self.entrants[place]
        self.entrants[place] = replace(entrant, withdrawn=next_round(self.matches))

    def join(self, name: str, owner: str = "") -> None:
        self.entrants.append(FormatEntrant(name, owner, joined=next_round(self.matches)))


def _places(names: Iterable[str], strength: Strength, luck: random.Random) -> list[int]:
    """Draw places from the Plackett-Luce model, with weights exp(strength)."""
    left = dict(enumerate(names))
    places = [0] * len(left)
    for place in range(1, len(left) + 1):
        most = max(map(strength, left.values()))
        weights = [exp(strength(name) - most) for name in left.values()]
        chosen = luck.choices(list(left), weights)[0]
        places[chosen] = place
        del left[chosen]
    return places
