"""Random play of the rules beside comparable games of RLCard, PettingZoo and OpenSpiel.

    uv run --with rlcard --with 'pettingzoo>=1.24' --with pygame --with open-spiel \
        python -m bench.peers

All in one session, one core: actions a second of the loop each library is made for, which asks
what is legal, takes one of it at random, and plays it. A library that is not installed is left
out with the reason.
"""

import random
import statistics
import time
import warnings
from collections.abc import Callable
from importlib import import_module
from typing import Any

from bench.rules import rate

SECONDS = 1.0
ROUNDS = 3

Game = Callable[[random.Random], int]
"""Plays one game at random and says how many actions it had."""

BESIDE = {
    "poke": ("rlcard bridge", "openspiel spades"),
    "saint_poker": ("rlcard limit-holdem", "openspiel hearts"),
    "pokex": ("rlcard bridge", "openspiel spades", "pettingzoo gin_rummy_v4"),
    "pouku": ("rlcard mahjong", "rlcard gin-rummy", "openspiel gin_rummy"),
    "pokino": ("openspiel python_block_dominoes", "pettingzoo hanabi_v5"),
}
"""What each game is likest to: bidding and tricks; melds from open cards; dominoes."""


def rlcard(name: str) -> Game:
    """A game of RLCard: Python throughout, observations and masks included."""
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
    """A game of OpenSpiel: C++ behind Python, or Python where the name says so."""
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
    """A game of PettingZoo: Python, observations and masks included."""
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
    """Actions a second of processor time of a library's game."""
    library, _, game = name.partition(" ")
    play = LIBRARIES[library](game)
    chance = random.Random(0)
    actions = 0
    began = time.process_time()
    while time.process_time() < began + SECONDS:
        actions += play(chance)
    return actions / (time.process_time() - began)


def main() -> None:
    """Prints every game of ours and, under it, what it is likest to with the ratio."""
    warnings.simplefilter("ignore")
    for ours, peers in BESIDE.items():
        own: list[float] = []
        theirs: dict[str, list[float]] = {peer: [] for peer in peers}
        missing: dict[str, str] = {}
        for _ in range(ROUNDS):
            own.append(rate(ours))
            for peer in peers:
                try:
                    theirs[peer].append(peer_rate(peer))
                except Exception as error:
                    missing[peer] = f"{type(error).__name__}: {str(error).splitlines()[0]}"
        middle = statistics.median(own)
        print(f"{ours}: {middle:.0f} random actions a second and core")
        for peer, rates in theirs.items():
            if peer in missing:
                print(f"    {peer}: left out ({missing[peer]})")
            else:
                print(
                    f"    {peer}: {statistics.median(rates):.0f}; ours is "
                    f"{middle / statistics.median(rates):.2f} x that"
                )


if __name__ == "__main__":
    main()
