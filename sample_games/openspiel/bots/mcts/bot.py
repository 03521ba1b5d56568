"""A bot by lines that searches with OpenSpiel's MCTS, in several deals of what it cannot see."""

import json
import sys
from collections import Counter
from typing import Any

import pyspiel
from openspiel_games import games
from openspiel_games.adapter import Event, OpenSpielGame, OpenSpielView

from referee.games.contract import NOT_REDEALT
from referee.games.shared.dealing import SEED_BYTES, Seeded, derive

SIMULATIONS = 800
"""Simulations of a decision."""
WORLDS = 8
"""Deals of what is hidden, among which the simulations are divided."""
EXPLORATION = 0.7
"""Constant of UCT for scores of 1."""
USUAL_SCORE = 100.0
"""Largest score by which the exploration grows; the largest scores of some games are rare."""
MEMORY_MB = 100
GAMES = {kind.id: kind for kind in vars(games).values() if hasattr(kind, "id")}


def view_of(fields: dict[str, Any]) -> OpenSpielView:
    """Return the view in a question."""
    events = tuple(Event(**event) for event in fields["events"])
    return OpenSpielView(fields["text"], events, tuple(fields["scores"]))


def choose(game: OpenSpielGame, act: dict[str, Any]) -> str:
    """Return the name of the action with the most visits in all deals."""
    (fields,) = act["view"].values()
    view, seat = view_of(fields), act["seat"]
    worlds = 1 if game.rules.is_open else WORLDS
    seed = int(act["luck"]).to_bytes(SEED_BYTES, "big")
    visits: Counter[str] = Counter()
    for world in range(worlds):
        luck = Seeded(derive(seed, "world", world))
        now = game.from_view(view, seat, {}, luck).now
        number = luck.below("search", 0, 1 << 30)
        search = pyspiel.MCTSBot(
            game.rules.game,
            pyspiel.RandomRolloutEvaluator(1, number),
            EXPLORATION * min(game.rules.game.max_utility(), USUAL_SCORE),
            SIMULATIONS // worlds,
            MEMORY_MB,
            False,
            number,
            False,
        )
        names = {action: name for name, action in now.actions().items()}
        for child in search.mcts_search(now.state).children:
            visits[names[child.action]] += child.explore_count
    return max(visits, key=lambda name: (visits[name], name))


def main() -> None:
    """Answer the lines of the arena."""
    game = OpenSpielGame
    for line in sys.stdin:
        message = json.loads(line)
        answer: dict[str, Any] = {}
        if "start" in message:
            game = GAMES[message["start"]["game"]]
            if not game.redeals:
                raise SystemExit(f"{game.id}: {NOT_REDEALT}, so it cannot be searched")
        elif "act" in message:
            act = message["act"]
            name = choose(game(), act)
            answer["choice"] = [move_of(listed) for listed in act["legal"]].index(name)
        print(json.dumps(answer), flush=True)


def move_of(listed: dict[str, Any]) -> str:
    """Return the name in a listed action: {"bridge": {"move": {"name": "2C"}}}."""
    (kinds,) = listed.values()
    return str(kinds["move"]["name"])


if __name__ == "__main__":
    main()
