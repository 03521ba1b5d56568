"""A bot that was trained: it plays what its weights say is worth most (docs/how-to/training.md)."""

from pathlib import Path

import policy
from pokearena.v1.bot_pb2 import Action, ActRequest
from pokearena_bot import run

WEIGHTS = policy.load(Path(__file__).with_name("weights.json"))


def choose(turn: ActRequest) -> tuple[Action, str]:
    """The action, and how many points ahead it expects to be."""
    view = turn.view.saint_poker
    lying = [action.saint_poker.pick_up.card for action in turn.legal]
    seen = policy.choices(view, lying)
    weights = WEIGHTS[policy.kind(view)]
    best = max(seen, key=lambda choice: policy.value(weights, seen[choice]))
    if view.phase == "show":
        action = Action(saint_poker={"show": {"cards": best}})
    else:
        action = Action(saint_poker={view.phase: {"card": best[0]}})
    return action, f"{policy.value(weights, seen[best]):+.1f}"


if __name__ == "__main__":
    run(choose)
