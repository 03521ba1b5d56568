"""Search with learned values and fast simulators of its own, one for each game."""

import sys
import time
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from answer import Hurry, Search
from poke import Poke
from pokearena.v1.bot_pb2 import Action, ActRequest, StartRequest, StartResponse
from pokearena_bot import run
from pokex import Pokex
from pokino import Pokino
from pouku import Pouku
from saint_poker import SaintPoker

from referee.game_codec import GameCodec
from referee.games.registry import find
from referee.games.shared.dealing import Seeded, derive

GAMES_IN_FLIGHT = 16
NODES = "--nodes"
"""Option of the command in bot.toml: multiplies the numbers of playouts."""


SEARCHES: Mapping[str, Callable[[int, float], Search]] = {
    "poke": Poke,
    "pokex": Pokex,
    "pokino": Pokino,
    "pouku": Pouku,
    "saint_poker": SaintPoker,
}


def _nodes() -> float:
    """Return the number in the command line, or else in bot.toml (if this is not its process)."""
    command = sys.argv
    if NODES not in command:
        manifest = Path(__file__).with_name("bot.toml").read_text(encoding="utf-8")
        command = tomllib.loads(manifest)["run"]
    return float(command[command.index(NODES) + 1])


class Champion:
    """A bot at one table. Its only memory is the start request."""

    def start(self, start: StartRequest) -> StartResponse:
        """Store the game and its options; load the weights."""
        self.game = find(start.game)
        self.codec = GameCodec(self.game)
        self.options = self.game.settle(start.options)
        self.search = SEARCHES[self.game.id](start.seats, _nodes())
        return StartResponse(games_in_flight=GAMES_IN_FLIGHT, without_legal=True)

    def act(self, turn: ActRequest) -> tuple[Action, str]:
        """Return the action and its rating by the search; the rating is None without playouts."""
        seed = derive(turn.luck.to_bytes(32, "big"), "champion", 0)
        view = self.codec.decode_view(turn.view)
        state: Any = self.game.from_view(view, turn.seat, self.options, Seeded(seed))
        choice = self.search.choose(state, turn.seat, seed, _hurry(turn))
        action = Action.FromString(self.codec.action(choice.action))
        rating = f"{choice.value:+.2f} after {choice.playouts} playouts" if choice.playouts else ""
        return action, rating


def _hurry(turn: ActRequest) -> Hurry:
    """Return a test whether most of the allowance and a fiftieth of the bank are used.

    On a fast enough machine, the number of playouts ends the search long before.
    """
    if not turn.HasField("clock"):
        return lambda: False
    clock = turn.clock
    ends = time.monotonic() + (clock.allowance_ms * 0.8 + clock.bank_ms / 50) / 1000
    return lambda: time.monotonic() > ends


if __name__ == "__main__":
    run(Champion())
