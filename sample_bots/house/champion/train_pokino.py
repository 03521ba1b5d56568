"""Train the formulas of Pokino's races by self-play.

    uv run python sample_bots/house/champion/train_pokino.py --games 80 --seed 1

A generation plays games by the current formula, with some random actions. The new formula fits the
winners to the features of the chosen actions by logistic regression.
"""

import argparse
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from pokino import PokinoSearch
from pokino_prospects import FloatArray
from pokino_race import FORMULA_INPUTS, FORMULAS, PHASES, WEIGHTS

from referee.games.pokino.state import PokinoState
from referee.games.registry import GAMES
from referee.games.shared.dealing import Seeded

GENERATIONS = 3
NODES = 0.25
"""Factor of the search limits, as --nodes of the bot."""
MAX_PLACEMENTS = MAX_RUNS = 15
"""Actions that are evaluated for a decision, at most."""
RANDOM_SHARE = 0.1
"""Probability of a random action."""
MAX_TURNS = 160
"""Turns of a game, at most; then the places so far count."""
RIDGE = 3.0
"""Weight of the squared distance to the weights of the generation before."""
NEWTON_STEPS = 30
FIRST_OWN_WEIGHTS = (3, 1.5, 0.5, 1, 1, 0.5, -1.5, 0.3, 0, -1.5, -1, 0, 0, 0.3, 0.3)
"""Weights of the first formula for the features of the seat that acts, chosen by hand."""
FIRST_RIVAL_WHOLE_WEIGHT = -4.0
"""Weight of the first formula for another seat's first feature: one run plays its hand now."""


@dataclass(frozen=True)
class RaceDecision:
    """A decision of a training game."""

    seat: int
    phase: int
    inputs: FloatArray
    """Inputs of the formula for the chosen action, shape (FORMULA_INPUTS,)."""


def first_weights() -> FloatArray:
    """Return a formula that plays sensibly."""
    rival_weights = (FIRST_RIVAL_WHOLE_WEIGHT, *(-weight for weight in FIRST_OWN_WEIGHTS[1:]))
    return np.tile(np.array((*FIRST_OWN_WEIGHTS, *rival_weights, 0.0)), (PHASES, 1))


def play_game(
    variant: str, weights: FloatArray, rng: np.random.Generator
) -> tuple[list[RaceDecision], FloatArray]:
    """Play a game of two seats; return its decisions and the result of each seat, 0 to 1."""
    state = GAMES["pokino"].start(Seeded(rng.bytes(32)), 2, {variant: True})
    assert isinstance(state, PokinoState)
    decisions: list[RaceDecision] = []
    while state.actors and len(state.turns) < MAX_TURNS:
        seat = state.turn
        search = PokinoSearch(state, seat, NODES, rng)
        if run := search.sure_run():
            state = state.after({seat: run})
            continue
        actions = search.race_actions(MAX_PLACEMENTS, MAX_RUNS)
        if rng.random() < RANDOM_SHARE:
            actions = [actions[int(rng.integers(len(actions)))]]
        evaluation = search.race_evaluator().evaluate(actions, weights)
        best = int(np.round(evaluation.win_probability, 9).argmax())
        inputs = np.concatenate(
            [evaluation.own_features[best], evaluation.rival_features[best], [1.0]]
        )
        decisions.append(RaceDecision(seat, evaluation.phase, inputs))
        state = state.after({seat: actions[best]})
    first, second = GAMES["pokino"].outcome(state, (0, 1)).places
    half_lead = 0.5 * ((first < second) - (first > second))
    return decisions, np.array([0.5 + half_lead, 0.5 - half_lead])


def logistic_fit(inputs: FloatArray, results: FloatArray, prior: FloatArray) -> FloatArray:
    """Return the weights of a logistic regression, by Newton's method, close to a prior.

    Args:
        inputs: shape (decisions, FORMULA_INPUTS).
        results: the result of each decision's seat, 0 to 1.
        prior: weights, from which the distance is penalized (ridge).
    """
    weights = prior.copy()
    for _ in range(NEWTON_STEPS):
        probability = 1 / (1 + np.exp(-inputs @ weights))
        gradient = inputs.T @ (results - probability) - RIDGE * (weights - prior)
        variance = probability * (1 - probability)
        curvature = (inputs.T * variance) @ inputs + RIDGE * np.eye(FORMULA_INPUTS)
        weights = weights + np.linalg.solve(curvature, gradient)
    return weights


def next_generation(
    variant: str, games: int, weights: FloatArray, rng: np.random.Generator
) -> FloatArray:
    """Play games by a formula and return the fitted formula."""
    phases: list[int] = []
    inputs, results = [], []
    for _ in range(games):
        decisions, result_by_seat = play_game(variant, weights, rng)
        for decision in decisions:
            phases.append(decision.phase)
            inputs.append(decision.inputs)
            results.append(result_by_seat[decision.seat])
    fitted = weights.copy()
    for phase in range(PHASES):
        rows = np.array(phases) == phase
        if rows.any():
            fitted[phase] = logistic_fit(
                np.array(inputs)[rows], np.array(results)[rows], weights[phase]
            )
    return fitted


def main() -> None:
    """Train, and write the weights beside the bot."""
    parser = argparse.ArgumentParser(description="Train the formulas of Pokino.")
    parser.add_argument("--games", type=int, default=80, help="games of a generation")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--generations", type=int, default=GENERATIONS)
    parser.add_argument("--output", type=Path, default=WEIGHTS)
    given = parser.parse_args()
    formulas: dict[str, Any] = {variant: first_weights() for variant in FORMULAS}
    for number, variant in enumerate(FORMULAS):
        rng = np.random.default_rng((given.seed, number))
        for generation in range(given.generations):
            formulas[variant] = next_generation(variant, given.games, formulas[variant], rng)
            print(f"{variant}, generation {generation + 1}", flush=True)
            np.savez_compressed(given.output, **formulas)


if __name__ == "__main__":
    main()
