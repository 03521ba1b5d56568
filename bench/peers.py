"""Compare random play of the rules with similar games of RLCard, PettingZoo and OpenSpiel.

    uv run --group bench python -m bench peers

All are measured in one session on one core, in actions per second of the main loop that each
library is designed for: list the legal actions, choose one at random, play it. A library that is
not installed is omitted with the reason.
"""

import random
import time
import warnings
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

from arena.presentation.registry import presentation_of
from bench.figure import Figure, left_out
from bench.rules import UNIT, rate
from referee.games.registry import GAMES

SECONDS = 1.0

Game = Callable[[random.Random], int]
"""Plays one random game and returns its number of actions."""


def rlcard(name: str) -> Game:
    """Return a game of RLCard: pure Python, with observations and masks."""
    environment = import_module("rlcard").make(name, config={"seed": 1})

    def play(chance: random.Random) -> int:
        actions = 0
        state, _ = environment.reset()
        while not environment.is_over():
            state, _ = environment.step(chance.choice(list(state["legal_actions"])))
            actions += 1
        return actions

    return play


def openspiel(name: str) -> Game:
    """Return a game of OpenSpiel: C++ with a Python interface, or pure Python (``python_...``)."""
    if name.startswith("python_"):
        import_module(f"open_spiel.python.games.{name.removeprefix('python_')}")
    game: Any = import_module("pyspiel").load_game(name)

    def play(chance: random.Random) -> int:
        actions = 0
        state = game.new_initial_state()
        while not state.is_terminal():
            actions += not state.is_chance_node()
            state.apply_action(chance.choice(state.legal_actions()))
        return actions

    return play


def pettingzoo(name: str) -> Game:
    """Return a game of PettingZoo: Python, with observations and masks."""
    environment = getattr(import_module("pettingzoo.classic"), name).env()

    def play(chance: random.Random) -> int:
        actions = 0
        environment.reset(seed=chance.getrandbits(32))
        for _ in environment.agent_iter():
            observation, _, terminated, truncated, _ = environment.last()
            if terminated or truncated:
                environment.step(None)
                continue
            legal = [n for n, allowed in enumerate(observation["action_mask"]) if allowed]
            environment.step(chance.choice(legal))
            actions += 1
        return actions

    return play


LIBRARIES = {"rlcard": rlcard, "openspiel": openspiel, "pettingzoo": pettingzoo}


def peer_rate(name: str) -> float:
    """Return a library game's actions per second of processor time."""
    library, _, game = name.partition(" ")
    play = LIBRARIES[library](game)
    chance = random.Random(0)
    actions = 0
    began = time.process_time()
    while time.process_time() < began + SECONDS:
        actions += play(chance)
    return actions / (time.process_time() - began)


def figures(rounds: int) -> Iterator[Figure]:
    """Yield every game, compared with the most similar games of other libraries."""
    for ours in GAMES:
        for peer in presentation_of(ours).peers:
            speeds: list[float] = []
            theirs: list[float] = []
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    for _ in range(rounds):
                        speeds.append(rate(ours))
                        theirs.append(peer_rate(peer))
            except Exception as error:
                why = str(error).strip().partition("\n")[0]
                yield left_out(f"{ours} beside {peer}", f"{type(error).__name__}: {why}")
                continue
            yield Figure(ours, UNIT, speeds, peer, theirs)
