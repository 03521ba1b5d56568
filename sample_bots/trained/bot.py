"""A trained bot: plays the choice with the highest value by its weights.

See docs/how-to/training.md.
"""

from pathlib import Path

import policy
from pokearena.v1.bot_pb2 import Action, ActRequest
from pokearena_bot import run

WEIGHTS = policy.load(Path(__file__).with_name("weights.json"))


def choose(turn: ActRequest) -> tuple[Action, str]:
    """Return the action and the expected lead in points."""
    view = turn.view.saint_poker
    lying = [action.saint_poker.pick_up.card for action in turn.legal]
    features = policy.choices(view, lying)
    weights = WEIGHTS[policy.kind(view)]
    best = max(features, key=lambda choice: policy.value(weights, features[choice]))
    if view.phase == "show":
        action = Action(saint_poker={"show": {"cards": best}})
    else:
        action = Action(saint_poker={view.phase: {"card": best[0]}})
    return action, f"{policy.value(weights, features[best]):+.1f}"


if __name__ == "__main__":
    run(choose)
