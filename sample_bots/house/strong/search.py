"""Chooses by playing on: determinized Monte Carlo with sequential halving.

What the seat cannot know is dealt again and again, by the game's own re-dealing. In every world
that comes of it each candidate is played, and all seats play on by a quick policy; the mean of
what comes out is what the candidate is worth. All candidates are played in the same worlds, so
that luck does not choose between them, and the worse half is left out again and again, so that
most playouts go to what is close. The policy's own choice stays to the end, and gives way only to
what is better by more than luck explains: a few playouts must not talk a sound policy into folly.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from statistics import fmean, stdev
from typing import Any

from plan import Plan, Position

from referee.games.contract import Action, State
from referee.games.shared.dealing import Seeded, derive

DOUBT = 1.0
"""By how many standard errors another action must be better than the policy's."""

Hurry = Callable[[], bool]
"""Whether the clock is nearly out."""


@dataclass(slots=True)
class Candidate:
    """An action and what its playouts gave, world by world."""

    action: Action
    values: list[float] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Choice:
    """What was chosen, and what it rests on."""

    action: Action
    value: float
    playouts: int


def choose(plan: Plan, at: Position, seed: bytes, hurry: Hurry) -> Choice:
    """The best candidate of a position; the same for the same seed, unless in a hurry."""
    first, *others = [Candidate(action) for action in plan.candidates(at.state, at.seat)]
    stages = len(others).bit_length()
    played = worlds = 0
    for _ in range(stages):
        alive = [first, *others]
        for _ in range(max(2, plan.playouts(at.state) // (stages * len(alive)))):
            if hurry():
                return _decided(first, others, played)
            world = at.state.redeal(at.seat, Seeded(derive(seed, "world", worlds)))
            worlds += 1
            for candidate in alive:
                candidate.values.append(_playout(plan, at, world, candidate.action))
            played += len(alive)
        others.sort(key=lambda one: sum(one.values), reverse=True)  # stable: the earlier is as good
        others = others[: (len(others) + 1) // 2]
    return _decided(first, others, played)


def _decided(first: Candidate, others: list[Candidate], played: int) -> Choice:
    """The best of the others if it is surely better than the first; else the first."""
    best = max(others, key=lambda one: sum(one.values), default=first)
    gains = [b - f for b, f in zip(best.values, first.values, strict=True)]
    surely = len(gains) > 1 and fmean(gains) > DOUBT * stdev(gains) / len(gains) ** 0.5
    chosen = best if surely else first
    return Choice(chosen.action, fmean(chosen.values or [0.0]), played)


def _playout(plan: Plan, at: Position, world: Any, action: Action) -> float:
    """What comes of an action in a world, when all play on by the policy."""
    moves = {seat: plan.move(world, seat) for seat in world.actors if seat != at.seat}
    moves[at.seat] = action
    state: State = world.after(moves)
    while (actors := state.actors) and not plan.over(world, state):
        state = state.after({seat: plan.move(state, seat) for seat in actors})
    return plan.value(at, state)
