"""Measure the fit of strengths for 200 bots and a million matches, compared with libraries.

    uv run --group bench python -m bench ratings

The peers are choix and openskill. choix fits the same model from the same table of wins. openskill
updates match by match, so it is measured on a part and scaled up. The arena's fit includes errors,
superiority, lack of fit and ranks; the peers return values (openskill also a sigma).
"""

import math
import time
from collections.abc import Callable, Iterator

import choix
import numpy as np
from threadpoolctl import threadpool_limits

from arena.ratings.closed_match import ClosedGame, ClosedMatch
from arena.ratings.line_ups import LineUp, Sums, pairs, pairs_of_pairs
from arena.ratings.meetings import Meetings
from arena.ratings.scale import ELO
from arena.ratings.strength.fit import strengths
from arena.ratings.strength.settings import StrengthSettings
from bench.figure import Figure, FigureTarget, left_out

BOTS = 200
MATCHES = 1_000_000
PART = 20_000
"""Number of matches that openskill processes."""
TARGET = 2.0


def seconds(work: Callable[[], object], scale: float = 1.0) -> float:
    """Return the wall-clock seconds of `work`, multiplied by `scale`."""
    began = time.perf_counter()
    work()
    return scale * (time.perf_counter() - began)


def rounds_of(rounds: int, work: Callable[[], object], scale: float = 1.0) -> list[float]:
    """Return these seconds for each round."""
    return [seconds(work, scale) for _ in range(rounds)]


def field(dice: np.random.Generator) -> "np.ndarray[tuple[int], np.dtype[np.float64]]":
    """Return the true strengths, in natural units."""
    return np.asarray(dice.normal(0, 200 / ELO, BOTS))


def name_of(place: int) -> str:
    """Return the name of a bot."""
    return f"bot{place:03}@1"


def two_seats(dice: np.random.Generator) -> tuple[Meetings, list[tuple[int, int]]]:
    """Return a million matches of one game, and the winner and loser of each."""
    truth = field(dice)
    couples = np.array(pairs(BOTS))
    chosen = couples[dice.integers(len(couples), size=MATCHES)]
    won = dice.random(MATCHES) < 1 / (1 + np.exp(truth[chosen[:, 1]] - truth[chosen[:, 0]]))
    by_line_up: dict[LineUp, Sums] = {}
    beaten = np.where(won[:, None], chosen, chosen[:, ::-1])
    counted = np.zeros((BOTS, BOTS), dtype=np.int64)
    np.add.at(counted, (beaten[:, 0], beaten[:, 1]), 1)
    for first, second in pairs(BOTS):
        wins, losses = int(counted[first, second]), int(counted[second, first])
        if wins + losses:
            by_line_up[LineUp((name_of(first), name_of(second)), 1)] = Sums(
                wins + losses, (2 * wins,), (4 * wins,)
            )
    return Meetings(by_line_up), [(int(first), int(second)) for first, second in beaten]


def four_seats(dice: np.random.Generator) -> Meetings:
    """Return a million tables of four; nearly every line-up occurs once."""
    truth = field(dice)
    by_line_up: dict[LineUp, Sums] = {}
    for _ in range(MATCHES // 10_000):
        line_ups = np.argsort(dice.random((10_000, BOTS)), axis=1)[:, :4]
        line_ups.sort(axis=1)
        ranked = truth[line_ups] + dice.gumbel(size=line_ups.shape)
        couples = np.array(pairs(4))
        halves = 2 * (ranked[:, couples[:, 0]] > ranked[:, couples[:, 1]]).astype(int)
        for line_up, got in zip(line_ups.tolist(), halves.tolist(), strict=True):
            sums = Sums(
                1, tuple(got), tuple(got[first] * got[other] for first, other in pairs_of_pairs(4))
            )
            by_line_up[LineUp(tuple(name_of(place) for place in line_up), 1)] = sums
    return Meetings(by_line_up)


def closed(beaten: tuple[int, int]) -> ClosedMatch:
    """Return a match in the form in which the store returns it."""
    winner, loser = map(name_of, beaten)
    game = ClosedGame(0, (1, 2), None, ("finished",) * 2, (0, 0))
    return ClosedMatch("m", 0, 0, (winner, loser), (game,))


def by_openskill(beaten: list[tuple[int, int]]) -> Callable[[], object] | None:
    """Return openskill's update over a part of the matches; None if it is not installed."""
    try:
        from openskill.models import BradleyTerryFull
    except ImportError:
        return None

    def fold() -> None:
        model = BradleyTerryFull()
        known = [model.rating() for _ in range(BOTS)]
        for winner_place, loser_place in beaten[:PART]:
            (winner,), (loser,) = model.rate([[known[winner_place]], [known[loser_place]]])
            known[winner_place], known[loser_place] = winner, loser

    return fold


def figures(rounds: int) -> Iterator[Figure]:
    """Yield the fit and its steps, compared with choix and openskill."""
    dice = np.random.default_rng(1)
    table, beaten = two_seats(dice)
    name = f"strengths of {BOTS} bots from {table.matches:,} matches"
    yield from _beside_choix(name, rounds, table, beaten)
    yield from _beside_openskill(name, rounds, table, beaten)
    one_more = closed(beaten[0])
    more = rounds_of(rounds, lambda: strengths(table.with_match(one_more)))
    yield Figure("one more match, and all strengths again", "s", more)
    part = [closed(pair) for pair in beaten[: MATCHES // 5]]
    summed = rounds_of(rounds, lambda: Meetings.of(part), 5)
    yield Figure("summing up a million closed matches (a fifth, times 5)", "s", summed)
    tables = four_seats(dice)
    fitted = rounds_of(rounds, lambda: strengths(tables))
    target = FigureTarget(TARGET, at_most=True)
    yield Figure(
        f"strengths from {len(tables.sums):,} line-ups of four", "s", fitted, target=target
    )


def _beside_openskill(
    name: str, rounds: int, table: Meetings, beaten: list[tuple[int, int]]
) -> Iterator[Figure]:
    fold = by_openskill(beaten)
    if fold is None:
        yield left_out(f"{name}, beside openskill", "openskill is not installed")
        return
    durations, theirs = [], []
    for _ in range(rounds):
        durations.append(seconds(lambda: strengths(table)))
        theirs.append(seconds(fold, MATCHES / PART))
    yield Figure(name, "s", durations, f"openskill's fold ({PART:,}, scaled up)", theirs)


def _beside_choix(
    name: str, rounds: int, table: Meetings, beaten: list[tuple[int, int]]
) -> Iterator[Figure]:
    wins = np.zeros((BOTS, BOTS))
    np.add.at(wins, tuple(np.array(beaten).T), 1)
    durations, theirs = [], []
    with threadpool_limits(1):
        for _ in range(rounds):
            durations.append(seconds(lambda: strengths(table)))
            theirs.append(seconds(lambda: choix.ilsr_pairwise_dense(wins)))
        oracle = ELO * choix.ilsr_pairwise_dense(wins)
    settings = StrengthSettings(centre=0.0, prior=math.inf, weighting="matches")
    fitted = strengths(table, settings)
    values = np.array([fitted.of(name_of(place)).value for place in range(BOTS)])
    note = (
        "choix gives the values alone; ours errors, superiority, lack of fit and ranks as well; "
        f"the values differ by {np.ptp(values - oracle):.6f} Elo at most"
    )
    target = FigureTarget(TARGET, at_most=True)
    yield Figure(name, "s", durations, "choix's values", theirs, target, note)
