"""Measure how many pairs of a ladder are in the wrong order, by schedule and number of matches.

    uv run python -m bench.pairing_quality
    uv run python -m bench.pairing_quality --runs 50 --field 30 --seats 2

Bots of known strength play matches whose games are drawn from the Bradley-Terry or Plackett-Luce
model. The schedules are: pairs (or tables) drawn at random, an even ladder, and the adaptive
ladder. After some budgets of matches per bot, the bots are ordered by the strengths that a ladder
publishes, and compared with the true order. The same seed gives the same table.

The adaptive ladder has two targets: at no budget more inverted pairs than an even ladder (beyond
two standard errors), and after 20 and 40 matches per bot at least 25 % fewer than random pairs.
"""

import argparse
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from math import sqrt
from statistics import NormalDist, fmean, stdev

import numpy as np

from arena.formats.contract import FormatEntrant, FormatMatch, MatchStatus, NextMatches
from arena.formats.ladder import LadderFormat
from arena.formats.ladder_summary import LadderSummary
from arena.ratings.closed_match import FINISHED, ClosedGame
from arena.ratings.line_ups import pairs
from arena.ratings.meetings import MeetingsSum
from arena.ratings.scale import ELO
from arena.ratings.strength.fit import strengths
from bench.arguments import at_least

SPREAD = 200.0
"""Standard deviation of the true strengths in Elo points."""
BUDGETS = (5, 10, 20, 40)
"""Numbers of matches per bot after which the order is compared."""
STRICT = (20, 40)
"""Budgets at which the adaptive ladder must have `SAVED` fewer inverted pairs than random pairs."""
SAVED = 0.25


def apart(bots: int, _: random.Random) -> list[float]:
    """Return strengths 50 Elo apart."""
    return [-50.0 * place for place in range(bots)]


def normal(bots: int, luck: random.Random) -> list[float]:
    """Draw strengths from a normal distribution."""
    return [NormalDist(0, SPREAD).inv_cdf(luck.random()) for _ in range(bots)]


FIELDS: dict[str, tuple[int, Callable[[int, random.Random], list[float]]]] = {
    "12 bots, 50 Elo apart": (12, apart),
    "30 bots, standard deviation 200 Elo": (30, normal),
    "200 bots, standard deviation 200 Elo": (200, normal),
}

Tables = Iterator[Sequence[Sequence[str]]]
Schedule = Callable[[Sequence[FormatEntrant], list[FormatMatch], int, random.Random], Tables]


def at_random(
    entrants: Sequence[FormatEntrant], _: list[FormatMatch], seats: int, luck: random.Random
) -> Tables:
    """Yield rounds of tables that are drawn independently of each other."""
    number = 0
    while True:
        pool = [entrant.name for entrant in entrants if entrant.joined <= number]
        yield [luck.sample(pool, seats) for _ in range(len(pool) // seats)]
        number += 1


def ladder(adaptive: int) -> Schedule:
    """Return the rounds of a ladder; each round depends on all but the last one before it."""

    def rounds(
        entrants: Sequence[FormatEntrant], played: list[FormatMatch], seats: int, _: random.Random
    ) -> Tables:
        rules = LadderFormat(seats, adaptive=adaptive)
        summary = LadderSummary()
        while True:
            step = rules.resume(entrants, summary, played[summary.matches :])
            assert isinstance(step, NextMatches)
            yield [fixture.entrants for fixture in step.fixtures]

    return rounds


SCHEDULES: dict[str, Schedule] = {
    "random pairs": at_random,
    "even": ladder(0),
    "adaptive": ladder(80),
}


@lru_cache(maxsize=100_000)
def games_of(orders: tuple[tuple[int, ...], ...]) -> tuple[ClosedGame, ...]:
    """Return games with these places."""
    fine = (FINISHED,) * len(orders[0])
    none = (0,) * len(orders[0])
    return tuple(
        ClosedGame(number, places, None, fine, none) for number, places in enumerate(orders)
    )


def results(strength: Sequence[float], games: int, dice: np.random.Generator) -> list[list[int]]:
    """Draw the places of each game: strengths in natural units plus Gumbel noise are ranked."""
    luck = np.asarray(strength) + dice.gumbel(size=(games, len(strength)))
    places: list[list[int]] = (np.argsort(np.argsort(-luck, axis=1), axis=1) + 1).tolist()
    return places


@dataclass(frozen=True)
class Setting:
    """The setting of a simulation.

    Attributes:
        field: a key of `FIELDS`.
        seats: seats of a table.
        games: games of a match.
        newcomers: whether a quarter of the bots joins after the start, before round 20.
    """

    field: str
    seats: int
    games: int
    newcomers: bool

    def __str__(self) -> str:
        games = f"{self.games} game{'s' * (self.games > 1)} a match"
        return f"{self.field}; {self.seats} seats; {games}{'; newcomers' * self.newcomers}"


def run(schedule: Schedule, setting: Setting, seed: int) -> list[int]:
    """Return the number of inverted pairs at each budget."""
    luck = random.Random(seed)
    dice = np.random.default_rng(seed)
    bots, draw = FIELDS[setting.field]
    truth = {f"bot{place:03}@1": value for place, value in enumerate(draw(bots, luck))}
    # Seeds are independent of strength.
    names = luck.sample(sorted(truth), bots)
    late = bots // 4 if setting.newcomers else 0
    entrants = [
        FormatEntrant(name, joined=luck.randrange(1, 20) if place < late else 0)
        for place, name in enumerate(names)
    ]
    played: list[FormatMatch] = []
    sums = MeetingsSum()
    inverted = []
    rounds = schedule(entrants, played, setting.seats, luck)
    for number, tables in zip(range(max(BUDGETS)), rounds, strict=False):
        for place, table in enumerate(tables):
            orders = results([truth[name] / ELO for name in table], setting.games, dice)
            halves = tuple(
                sum(2 * (order[first] < order[second]) for order in orders)
                for first, second in pairs(len(table))
            )
            sums.count(tuple(table), setting.games, halves, 1)
            closed = MatchStatus.CLOSED
            games = games_of(tuple(map(tuple, sorted(orders))))
            played.append(FormatMatch(number, place, tuple(table), closed, games))
        if number + 1 in BUDGETS:
            joined = [entrant.name for entrant in entrants if entrant.joined <= number]
            lines = strengths(sums.meetings(), entrants=joined).lines
            order = [truth[line.entrant] for line in lines]
            inverted.append(sum(above < below for above, below in combinations(order, 2)))
    return inverted


def cells(of: dict[str, list[list[int]]], name: str) -> Iterator[str]:
    """Yield a cell for each budget: the mean number of inverted pairs and missed targets."""
    for place, budget in enumerate(BUDGETS):
        column = [inverted[place] for inverted in of[name]]
        doubt = stdev(column) / sqrt(len(column))
        missed = []
        if name == "adaptive":
            excess = [mine - even[place] for mine, even in zip(column, of["even"], strict=True)]
            if fmean(excess) > 2 * stdev(excess) / sqrt(len(excess)):
                missed.append("more than even")
            base = fmean(inverted[place] for inverted in of["random pairs"])
            share = fmean(column) / base - 1 if base else 0.0
            if budget in STRICT and base and share > -SAVED:
                missed.append(f"{-SAVED:.0%}")
            relation = f" ({share:+.0%}{'; MISSED ' + ', '.join(missed) if missed else ''})"
        else:
            relation = ""
        yield f"{fmean(column):.2f} ± {doubt:.2f}{relation}"


def main() -> None:
    """Print a table of all settings, or of those that are selected."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--runs", type=at_least(2), default=100)
    parser.add_argument("--games", type=at_least(1), default=20, help="games of a match")
    parser.add_argument("--field", default="", help="the beginning of a field's name")
    parser.add_argument("--seats", type=int, nargs="*", default=[2, 4])
    parser.add_argument("--newcomers", choices=("yes", "no", "both"), default="both")
    given = parser.parse_args()
    if not any(field.startswith(given.field) for field in FIELDS):
        parser.error(
            f"argument --field: no field begins with {given.field!r}; the fields are "
            f"{', '.join(FIELDS)}"
        )
    print(f"{given.runs} runs\n")
    print("| setting | schedule |" + "|".join(f" {b} matches per bot " for b in BUDGETS) + "|")
    print("|---" * (2 + len(BUDGETS)) + "|")
    for field in FIELDS:
        if not field.startswith(given.field):
            continue
        for seats in given.seats:
            for newcomers in {"yes": [True], "no": [False], "both": [False, True]}[given.newcomers]:
                setting = Setting(field, seats, given.games, newcomers)
                inverted: dict[str, list[list[int]]] = {}
                for name, schedule in SCHEDULES.items():
                    inverted[name] = [run(schedule, setting, seed) for seed in range(given.runs)]
                    line = " | ".join(cells(inverted, name))
                    print(f"| {setting} | {name} | {line} |", flush=True)


if __name__ == "__main__":
    main()
