"""Measure the number of matches per bot until a ladder has the correct order.

    uv run python -m bench.ladder
    uv run python -m bench.ladder --runs 50 --field pairs

Bots of known strength play matches whose games are drawn from the Bradley-Terry model. Three
schedules are compared: the adaptive ladder, a ladder with even pairing only, and consecutive round
robins. After every round the order is estimated from the matches played, in the same way for all
three, and compared with the true one. Cards and processes are not involved; the same seed gives the
same table.
"""

import argparse
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, combinations
from math import exp, log

from arena.formats.contract import Fixture, FormatEntrant, FormatMatch, MatchStatus, NextMatches
from arena.formats.ladder import LadderFormat, estimate_strengths, meetings
from arena.formats.round_robin import RoundRobinFormat
from arena.ratings.closed_match import FINISHED, ClosedGame

ELO = 400 / log(10)
FIELDS: dict[str, tuple[int, ...]] = {
    "even: 12 bots, 50 Elo apart": (50,) * 11,
    "pairs: 12 bots, 30 and 150 Elo apart in turn": (30, 150) * 5 + (30,),
    "crowd: 12 bots, gaps of 150 at the ends and 30 in the middle": (150,) * 3
    + (30,) * 5
    + (150,) * 3,
    "large: 24 bots, 40 Elo apart": (40,) * 23,
}
SHARES = (0.5, 0.9)
TAUS = (0.9, 0.95)


@dataclass(frozen=True)
class LadderRun:
    """The results of one run, by round."""

    right: tuple[bool, ...]
    """Whether every bot was in its true place."""
    tau: tuple[float, ...]
    """Kendall's rank correlation with the true order."""


Rounds = Callable[[Sequence[FormatEntrant], list[FormatMatch]], Iterator[Sequence[Fixture]]]


def ladder(adaptive: int) -> Rounds:
    """Return the rounds of a ladder; each round depends on all but the last one before it."""

    def rounds(
        entrants: Sequence[FormatEntrant], played: list[FormatMatch]
    ) -> Iterator[Sequence[Fixture]]:
        rules = LadderFormat(adaptive=adaptive)
        while True:
            step = rules.next(entrants, played)
            assert isinstance(step, NextMatches)
            yield step.fixtures

    return rounds


def round_robins(
    entrants: Sequence[FormatEntrant], _: list[FormatMatch]
) -> Iterator[Sequence[Fixture]]:
    """Yield the rounds of consecutive round robins."""
    step = RoundRobinFormat(2, 100).next(entrants, ())
    assert isinstance(step, NextMatches)
    size = len(entrants) // 2
    for first in range(0, len(step.fixtures), size):
        yield step.fixtures[first : first + size]


WAYS: dict[str, Rounds] = {
    "round robin": round_robins,
    "ladder, even only": ladder(0),
    "ladder, 30 % adaptive": ladder(30),
}


@lru_cache
def outcome(wins: int, games: int) -> tuple[ClosedGame, ...]:
    """Return the games of a match in which the first entrant has won `wins` games."""
    fine = (FINISHED, FINISHED)
    return tuple(
        ClosedGame(number, (1, 2) if number < wins else (2, 1), None, fine, (0, 0))
        for number in range(games)
    )


def run(way: Rounds, gaps: Sequence[int], rounds: int, games: int, seed: int) -> LadderRun:
    """Play a number of rounds."""
    luck = random.Random(seed)
    true = [-gap / ELO for gap in accumulate(gaps, initial=0)]
    names = [f"bot{place:02}@1" for place in range(len(true))]
    strength = dict(zip(names, true, strict=True))
    # Seeds are independent of strength.
    entrants = [FormatEntrant(name) for name in luck.sample(names, len(names))]
    played: list[FormatMatch] = []
    right, taus = [], []
    for fixtures, _ in zip(way(entrants, played), range(rounds), strict=False):
        for fixture in fixtures:
            first, second = fixture.entrants
            chance = 1 / (1 + exp(strength[second] - strength[first]))
            wins = sum(luck.random() < chance for _ in range(games))
            played.append(
                FormatMatch(
                    fixture.round,
                    fixture.number,
                    fixture.entrants,
                    MatchStatus.CLOSED,
                    outcome(wins, games),
                )
            )
        guesses = estimate_strengths(names, meetings(played))
        means = [guesses[name].mean for name in names]
        signs = [(a > b) - (a < b) for a, b in combinations(means, 2)]
        taus.append(sum(signs) / len(signs))
        right.append(sum(signs) == len(signs))
    return LadderRun(tuple(right), tuple(taus))


def lasting(values: Sequence[float], level: float) -> str:
    """Return the first round from which a value stays at a level, in matches per bot."""
    below = [place for place, value in enumerate(values) if value < level]
    first = below[-1] + 2 if below else 1
    return f"over {len(values)}" if first > len(values) else str(first)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=100, help="matches of each bot")
    parser.add_argument("--games", type=int, default=20, help="games of a match")
    parser.add_argument("--field", default="", help="the beginning of a field's name")
    given = parser.parse_args()
    heads = [f"tau {level}" for level in TAUS] + [f"all right, {share:.0%}" for share in SHARES]
    print(
        f"{given.runs} runs, matches of {given.games} games, {given.rounds} matches of each bot\n"
    )
    print("| field | way | " + " | ".join(heads) + " | right at the end |")
    print("|---" * (len(heads) + 3) + "|")
    for field, gaps in FIELDS.items():
        if not field.startswith(given.field):
            continue
        for name, way in WAYS.items():
            runs = [run(way, gaps, given.rounds, given.games, seed) for seed in range(given.runs)]
            taus = [sum(column) / len(runs) for column in zip(*(r.tau for r in runs), strict=True)]
            share = [sum(c) / len(runs) for c in zip(*(r.right for r in runs), strict=True)]
            cells = [lasting(taus, level) for level in TAUS]
            cells += [lasting(share, level) for level in SHARES]
            print(f"| {field} | {name} | {' | '.join(cells)} | {share[-1]:.0%} |", flush=True)


if __name__ == "__main__":
    main()
