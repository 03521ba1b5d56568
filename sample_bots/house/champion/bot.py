"""The house bot `champion`: a search per game with learned values and its own fast simulator."""

import sys
import time
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from poke import Poke
from pokearena.v1.bot_pb2 import Action, ActRequest, StartRequest, StartResponse
from pokearena_bot import run
from pokex import Pokex
from pokino import Pokino
from pouku import Pouku
from saint_poker import SaintPoker
from search_interface import DeadlineCheck, GameSearch

from referee.game_codec import GameCodec
from referee.games.registry import find
from referee.games.shared.dealing import Seeded, derive

GAMES_IN_FLIGHT = 16
NODES_OPTION = "--nodes"
"""Option of the command in bot.toml: factor of the numbers of playouts."""
ALLOWANCE_SHARE = 0.8
"""Share of the time allowance of a decision after which the search ends."""
BANK_DIVISOR = 50
"""The search of a decision may use this fraction (1/50) of the time bank in addition."""
SEARCHES: Mapping[str, Callable[[int, float], GameSearch]] = {
    "poke": Poke,
    "pokex": Pokex,
    "pokino": Pokino,
    "pouku": Pouku,
    "saint_poker": SaintPoker,
}
"""The search of each game, by its identifier. Arguments: number of seats, playout factor."""


def _nodes() -> float:
    """Return the playout factor of the command line.

    If another program has loaded the bot, its command line has no such option. Then the factor of
    bot.toml counts.
    """
    command = sys.argv
    if NODES_OPTION not in command:
        manifest = Path(__file__).with_name("bot.toml").read_text(encoding="utf-8")
        command = tomllib.loads(manifest)["run"]
    return float(command[command.index(NODES_OPTION) + 1])


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
        """Return the action, and its value as text; the text is empty without playouts."""
        seed = derive(turn.luck.to_bytes(32, "big"), "champion", 0)
        view = self.codec.decode_view(turn.view)
        state: Any = self.game.from_view(view, turn.seat, self.options, Seeded(seed))
        result = self.search.choose(state, turn.seat, seed, _deadline_check(turn))
        action = Action.FromString(self.codec.action(result.action))
        rating = f"{result.value:+.2f} after {result.playouts} playouts" if result.playouts else ""
        return action, rating


def _deadline_check(turn: ActRequest) -> DeadlineCheck:
    """Return the check for the deadline of a decision; without a clock there is no deadline.

    On a fast enough machine, the number of playouts ends the search long before.
    """
    if not turn.HasField("clock"):
        return lambda: False
    clock = turn.clock
    milliseconds = clock.allowance_ms * ALLOWANCE_SHARE + clock.bank_ms / BANK_DIVISOR
    deadline = time.monotonic() + milliseconds / 1000
    return lambda: time.monotonic() > deadline


if __name__ == "__main__":
    run(Champion())
