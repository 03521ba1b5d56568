"""Plays by rules of thumb, with one file per game."""

import poke
import pokex
import pokino
import pouku
import saint_poker
from pokearena.v1.bot_pb2 import Action, ActRequest
from pokearena_bot import run

PLAYS = {
    "poke": poke.choose,
    "saint_poker": saint_poker.choose,
    "pokex": pokex.choose,
    "pouku": pouku.choose,
    "pokino": pokino.choose,
}


def choose(turn: ActRequest) -> tuple[Action, str]:
    """Return the action and a short reason."""
    return PLAYS[turn.view.WhichOneof("game") or ""](turn)


if __name__ == "__main__":
    run(choose)
