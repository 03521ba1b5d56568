"""Train the formulas of Pokino's races by self-play.

    uv run python sample_bots/house/champion/train_pokino.py --games 80 --seed 1

A generation plays games by the current formula, with some random actions. The new formula fits the
winners to the features of the chosen actions by logistic regression.
"""

import argparse
from pathlib import Path
from typing import Any

import numpy as np
from pokino import PokinoSearch
from pokino_prospects import Numbers
from pokino_race import COLUMNS, FORMULAS, PHASES, WEIGHTS

from referee.games.pokino.state import PokinoState
from referee.games.registry import GAMES
from referee.games.shared.dealing import Seeded

GENERATIONS = 3
NODES = 0.25
PLACES = RUNS = 15
"""Budget of a decision."""
RANDOM_SHARE = 0.1
"""Probability of a random action."""
LONGEST = 160
"""Turns of a game, at most."""
RIDGE = 3.0
FIRST = (3, 1.5, 0.5, 1, 1, 0.5, -1.5, 0.3, 0, -1.5, -1, 0, 0, 0.3, 0.3)
"""Weights of the first formula."""
Notes = list[tuple[int, int, Numbers]]
"""Seat, phase and inputs of each decision."""


def first_weights() -> Numbers:
    """Return a formula that plays sensibly."""
    theirs = (-4.0, *(-weight for weight in FIRST[1:]))
    return np.tile(np.array((*FIRST, *theirs, 0.0)), (PHASES, 1))


def played(variant: str, weights: Numbers, chance: np.random.Generator) -> tuple[Notes, Numbers]:
    """Play a game; return its decisions and the results of the seats, 0 to 1."""
    state = GAMES["pokino"].start(Seeded(chance.bytes(32)), 2, {variant: True})
    assert isinstance(state, PokinoState)
    notes: Notes = []
    while state.actors and len(state.turns) < LONGEST:
        seat = state.turn
        search = PokinoSearch(state, seat, NODES, chance)
        if run := search.sure_run():
            state = state.after({seat: run})
            continue
        actions = search.actions(PLACES, RUNS)
        if chance.random() < RANDOM_SHARE:
            actions = [actions[int(chance.integers(len(actions)))]]
        comparison = search.race().compare(actions, weights)
        best = int(np.round(comparison.values, 9).argmax())
        inputs = np.concatenate([comparison.mine[best], comparison.theirs[best], [1.0]])
        notes.append((seat, comparison.phase, inputs))
        state = state.after({seat: actions[best]})
    first, second = GAMES["pokino"].outcome(state, (0, 1)).places
    ahead = 0.5 * ((first < second) - (first > second))
    return notes, np.array([0.5 + ahead, 0.5 - ahead])


def fitted(inputs: Numbers, results: Numbers, prior: Numbers) -> Numbers:
    """Return the weights of a logistic regression, by Newton's method, close to a prior."""
    weights = prior.copy()
    for _ in range(30):
        chances = 1 / (1 + np.exp(-inputs @ weights))
        gradient = inputs.T @ (results - chances) - RIDGE * (weights - prior)
        curvature = (inputs.T * (chances * (1 - chances))) @ inputs + RIDGE * np.eye(COLUMNS)
        weights = weights + np.linalg.solve(curvature, gradient)
    return weights


def generation(variant: str, games: int, weights: Numbers, chance: np.random.Generator) -> Numbers:
    """Return a better formula."""
    phases: list[int] = []
    inputs, results = [], []
    for _ in range(games):
        notes, won = played(variant, weights, chance)
        for seat, phase, row in notes:
            phases.append(phase)
            inputs.append(row)
            results.append(won[seat])
    better = weights.copy()
    for phase in range(PHASES):
        at = np.array(phases) == phase
        if at.any():
            better[phase] = fitted(np.array(inputs)[at], np.array(results)[at], weights[phase])
    return better


def main() -> None:
    """Train, and write the weights beside the bot."""
    parser = argparse.ArgumentParser(description="Train the formulas of Pokino.")
    parser.add_argument("--games", type=int, default=80, help="games of a generation")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--generations", type=int, default=GENERATIONS)
    parser.add_argument("--output", type=Path, default=WEIGHTS)
    given = parser.parse_args()
    stored: dict[str, Any] = {variant: first_weights() for variant in FORMULAS}
    for number, variant in enumerate(FORMULAS):
        chance = np.random.default_rng((given.seed, number))
        for done in range(given.generations):
            stored[variant] = generation(variant, given.games, stored[variant], chance)
            print(f"{variant}, generation {done + 1}", flush=True)
            np.savez_compressed(given.output, **stored)


if __name__ == "__main__":
    main()
