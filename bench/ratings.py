"""How fast strengths are fitted: 200 bots, a million matches, beside what others need for it.

    uv run --with openskill python -m bench.ratings

The peers are choix, which fits the same model from the same table of wins, and openskill, which
folds match by match and so is timed on a part and scaled up. Strengths come with errors,
superiority, lack of fit and ranks; the peers give values (openskill also a sigma).
"""

import math
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

import choix
import numpy as np
from threadpoolctl import threadpool_limits

from arena.ratings.meetings import LineUp, Meetings, Sums, pairs, pairs_of_pairs
from arena.ratings.scale import ELO
from arena.ratings.strength import strengths
from arena.ratings.strength_settings import StrengthSettings
from arena.results import ClosedGame, ClosedMatch

BOTS = 200
MATCHES = 1_000_000
ROUNDS = 5
PART = 20_000
"""So many matches openskill folds."""
TARGET = 2.0


@dataclass(frozen=True)
class Taken:
    """Seconds of processor and by the clock, a value each round."""

    processor: list[float]
    clock: list[float]


def seconds(work: Callable[[], object], scale: float = 1.0) -> Taken:
    """Measure some work that is this part of the whole."""
    taken = Taken([], [])
    for _ in range(ROUNDS):
        own, began = time.process_time(), time.perf_counter()
        work()
        taken.processor.append(scale * (time.process_time() - own))
        taken.clock.append(scale * (time.perf_counter() - began))
    return taken


def told(what: str, taken: Taken, more: str = "") -> None:
    """Print a line: the medians and the ranges."""
    figures = [
        f"{statistics.median(taken):8.4f} s ({min(taken):.4f} to {max(taken):.4f})"
        for taken in (taken.processor, taken.clock)
    ]
    print(f"{what:56} {figures[0]:32} {figures[1]:32} {more}", flush=True)


def field(dice: np.random.Generator) -> "np.ndarray[tuple[int], np.dtype[np.float64]]":
    """The true strengths, in natural units."""
    return np.asarray(dice.normal(0, 200 / ELO, BOTS))


def name(place: int) -> str:
    """The name of a bot."""
    return f"bot{place:03}@1"


def two_seats(dice: np.random.Generator) -> tuple[Meetings, list[tuple[int, int]]]:
    """A million matches of one game, and who beat whom in each."""
    truth = field(dice)
    couples = np.array(pairs(BOTS))
    chosen = couples[dice.integers(len(couples), size=MATCHES)]
    won = dice.random(MATCHES) < 1 / (1 + np.exp(truth[chosen[:, 1]] - truth[chosen[:, 0]]))
    found: dict[LineUp, Sums] = {}
    beaten = np.where(won[:, None], chosen, chosen[:, ::-1])
    counted = np.zeros((BOTS, BOTS), dtype=np.int64)
    np.add.at(counted, (beaten[:, 0], beaten[:, 1]), 1)
    for one, other in pairs(BOTS):
        wins, losses = int(counted[one, other]), int(counted[other, one])
        if wins + losses:
            found[LineUp((name(one), name(other)), 1)] = Sums(
                wins + losses, (2 * wins,), (4 * wins,)
            )
    return Meetings(found), [(int(one), int(other)) for one, other in beaten]


def four_seats(dice: np.random.Generator) -> Meetings:
    """A million tables of four; nearly every line-up is met once."""
    truth = field(dice)
    found: dict[LineUp, Sums] = {}
    for _ in range(MATCHES // 10_000):
        line_ups = np.argsort(dice.random((10_000, BOTS)), axis=1)[:, :4]
        line_ups.sort(axis=1)
        ranked = truth[line_ups] + dice.gumbel(size=line_ups.shape)
        couples = np.array(pairs(4))
        halves = 2 * (ranked[:, couples[:, 0]] > ranked[:, couples[:, 1]]).astype(int)
        for line_up, got in zip(line_ups.tolist(), halves.tolist(), strict=True):
            sums = Sums(
                1, tuple(got), tuple(got[one] * got[other] for one, other in pairs_of_pairs(4))
            )
            found[LineUp(tuple(name(place) for place in line_up), 1)] = sums
    return Meetings(found)


def closed(beaten: tuple[int, int]) -> ClosedMatch:
    """A match as the store gives it."""
    one, other = map(name, beaten)
    game = ClosedGame(0, (1, 2), None, ("finished",) * 2, (0, 0))
    return ClosedMatch("m", 0, 0, (one, other), (game,))


def by_openskill(beaten: list[tuple[int, int]]) -> Callable[[], object] | None:
    """The fold of openskill over a part, if it is there."""
    try:
        from openskill.models import BradleyTerryFull
    except ImportError:
        return None

    def fold() -> None:
        model = BradleyTerryFull()
        known = [model.rating() for _ in range(BOTS)]
        for one, other in beaten[:PART]:
            (winner,), (loser,) = model.rate([[known[one]], [known[other]]])
            known[one], known[other] = winner, loser

    return fold


def main() -> None:
    """Prints a line for each way."""
    print(f"{'':56} {'processor':32} {'clock':32}")
    dice = np.random.default_rng(1)
    table, beaten = two_seats(dice)
    ours = seconds(lambda: strengths(table))
    reached = "reached" if statistics.median(ours.clock) < TARGET else "missed"
    told(
        f"two seats: {BOTS} bots, {table.matches:,} matches", ours, f"target {TARGET} s: {reached}"
    )
    one_more = closed(beaten[0])
    told("one more match: added to the table", seconds(lambda: table.with_match(one_more)))
    told("one more match: and fitted", seconds(lambda: strengths(table.with_match(one_more))))
    part = [closed(pair) for pair in beaten[: MATCHES // 5]]
    told(
        "summing up a million closed matches (a fifth, times 5)",
        seconds(lambda: Meetings.of(part), 5),
    )
    beside_choix(table, beaten)
    fold = by_openskill(beaten)
    if fold:
        told(f"openskill folds a million ({PART:,}, scaled)", seconds(fold, MATCHES / PART))
    tables = four_seats(dice)
    told(f"four seats: {len(tables.sums):,} line-ups", seconds(lambda: strengths(tables)))


def beside_choix(table: Meetings, beaten: list[tuple[int, int]]) -> None:
    """How long choix takes, and how far we are from it."""
    wins = np.zeros((BOTS, BOTS))
    np.add.at(wins, tuple(np.array(beaten).T), 1)
    with threadpool_limits(1):
        told("choix, values alone, dense", seconds(lambda: choix.ilsr_pairwise_dense(wins)))
        oracle = ELO * choix.ilsr_pairwise_dense(wins)
    settings = StrengthSettings(centre=0.0, prior=math.inf, weighting="matches")
    found = strengths(table, settings)
    values = np.array([found.of(name(place)).value for place in range(BOTS)])
    print(f"{'greatest difference to choix':56} {np.ptp(values - oracle):.6f} Elo")


if __name__ == "__main__":
    main()
