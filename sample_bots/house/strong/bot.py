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
from search import DeadlineCheck, choose

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
ALLOWANCE_SHARE = 0.8
"""Share of the time allowance of a decision after which the search ends."""
BANK_DIVISOR = 50
"""The search of a decision may use this fraction (1/50) of the time bank in addition."""


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
        """Return the action, and its value as text; the text is empty without playouts."""
        out_of_time = _deadline_check(turn)
        seed = derive(turn.luck.to_bytes(32, "big"), "strong", 0)
        view = self.codec.decode_view(turn.view)
        state = self.game.from_view(view, turn.seat, self.options, Seeded(seed))
        plan = PLANS[self.game.id]
        result = choose(plan, Position(state, turn.seat, self.sides), seed, out_of_time)
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
    run(Strong())
