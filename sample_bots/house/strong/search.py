"""Determinized Monte Carlo search with sequential halving.

The game deals the hidden information again, many times; each deal is a *world*. In every world the
search plays each candidate, and all seats continue by a fast policy. The value of a candidate is
the mean of its results. All candidates are played in the same worlds, so that chance does not
decide between them. After each stage the search drops the worse half, so that most playouts compare
candidates of similar value. The policy's choice is kept to the end. Another candidate replaces it
only if it is better by more than chance explains.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from statistics import fmean, stdev
from typing import Any

from plan import Plan, Position

from referee.games.contract import Action, State
from referee.games.shared.dealing import Seeded, derive

MIN_STANDARD_ERRORS = 1.0
"""Standard errors by which another action must be better than the policy's choice."""
MIN_WORLDS_PER_STAGE = 2

DeadlineCheck = Callable[[], bool]
"""Returns whether the time of the decision is nearly used up."""


@dataclass(slots=True)
class Candidate:
    """An action and the values of its playouts, by world."""

    action: Action
    values: list[float] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The chosen action, its mean value (-1 to 1), and the number of playouts."""

    action: Action
    value: float
    playouts: int


def choose(plan: Plan, at: Position, seed: bytes, out_of_time: DeadlineCheck) -> SearchResult:
    """Return the best candidate of a position.

    The same seed gives the same result, unless the time is used up.
    """
    usual, *others = [Candidate(action) for action in plan.candidates(at.state, at.seat)]
    stages = len(others).bit_length()
    playouts = worlds = 0
    for _ in range(stages):
        alive = [usual, *others]
        stage_worlds = plan.playouts(at.state) // (stages * len(alive))
        for _ in range(max(MIN_WORLDS_PER_STAGE, stage_worlds)):
            if out_of_time():
                return _best(usual, others, playouts)
            world = at.state.redeal(at.seat, Seeded(derive(seed, "world", worlds)))
            worlds += 1
            for candidate in alive:
                candidate.values.append(_playout(plan, at, world, candidate.action))
            playouts += len(alive)
        # A stable sort: of equal candidates the earlier one is first.
        others.sort(key=lambda candidate: sum(candidate.values), reverse=True)
        others = others[: (len(others) + 1) // 2]
    return _best(usual, others, playouts)


def _best(usual: Candidate, others: list[Candidate], playouts: int) -> SearchResult:
    """Return the best other candidate if it is significantly better; otherwise the usual one.

    The test compares the values of both in the same worlds.
    """
    best = max(others, key=lambda candidate: sum(candidate.values), default=usual)
    gains = [b - u for b, u in zip(best.values, usual.values, strict=True)]
    is_better = (
        len(gains) > 1 and fmean(gains) > MIN_STANDARD_ERRORS * stdev(gains) / len(gains) ** 0.5
    )
    chosen = best if is_better else usual
    return SearchResult(chosen.action, fmean(chosen.values or [0.0]), playouts)


def _playout(plan: Plan, at: Position, world: Any, action: Action) -> float:
    """Return the value of an action in a world in which all seats continue by the policy."""
    moves = {seat: plan.move(world, seat) for seat in world.actors if seat != at.seat}
    moves[at.seat] = action
    state: State = world.after(moves)
    while (actors := state.actors) and not plan.over(world, state):
        state = state.after({seat: plan.move(state, seat) for seat in actors})
    return plan.value(at, state)
