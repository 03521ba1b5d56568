"""Searches: plays out many possible deals of the hidden cards (search.py), with one plan per game.

This is the only house bot that uses the arena's rules as a library (docs/how-to/search.md): it
plays out states of the referee.
"""

import time
from collections.abc import Mapping

from plan import Plan, Position
from poke import PokePlan
from pokearena.v1.bot_pb2 import Action, ActRequest, StartRequest, StartResponse
from pokearena_bot import run
from pokex import PokexPlan
from pokino import PokinoPlan
from pouku import PoukuPlan
from saint_poker import SaintPokerPlan
from search import Hurry, choose

from referee.game_codec import GameCodec
from referee.games.registry import find
from referee.games.shared.dealing import Seeded, derive

PLANS: Mapping[str, Plan] = {
    "poke": PokePlan(),
    "pokex": PokexPlan(),
    "pokino": PokinoPlan(),
    "pouku": PoukuPlan(),
    "saint_poker": SaintPokerPlan(),
}
GAMES_IN_FLIGHT = 16


class Strong:
    """A bot at one table. Its only memory is the start request."""

    def start(self, start: StartRequest) -> StartResponse:
        """Store the game and its options."""
        self.game = find(start.game)
        self.codec = GameCodec(self.game)
        self.options = self.game.settle(start.options)
        self.sides = self.game.sides(start.seats, self.options)
        return StartResponse(games_in_flight=GAMES_IN_FLIGHT, without_legal=True)

    def act(self, turn: ActRequest) -> tuple[Action, str]:
        """Return the action and its rating by the search; the rating is None without playouts."""
        hurry = _hurry(turn)
        seed = derive(turn.luck.to_bytes(32, "big"), "strong", 0)
        view = self.codec.decode_view(turn.view)
        state = self.game.from_view(view, turn.seat, self.options, Seeded(seed))
        plan = PLANS[self.game.id]
        choice = choose(plan, Position(state, turn.seat, self.sides), seed, hurry)
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
    run(Strong())
