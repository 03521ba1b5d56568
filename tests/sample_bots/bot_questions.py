"""Questions to a house bot in positions of random games, without a process of the bot."""

import random
from collections import Counter
from collections.abc import Iterator
from typing import Any

from pokearena.v1 import bot_pb2

from bench.strength import MeasuredForm, load
from referee.game_codec import GameCodec
from referee.games.contract import Action, State
from referee.games.shared.dealing import Seeded, board_seed


def question(
    form: MeasuredForm, state: State, seat: int, luck: int = 7, **fields: Any
) -> bot_pb2.ActRequest:
    """Return a question as the referee sends it, without the list of legal actions."""
    head = bot_pb2.ActRequest(seat=seat, luck=luck, **fields)
    return bot_pb2.ActRequest.FromString(GameCodec(form.game).question(head, state.view(seat), ()))


def positions(form: MeasuredForm, most: int) -> Iterator[tuple[State, int]]:
    """Yield at most this number of positions of each phase of a game, with a seat that acts."""
    chance = random.Random(str(form))
    state = form.game.start(Seeded(board_seed(bytes(32), 1)), form.seats, form.given)
    passed = []
    while state.actors:
        passed.append(state)
        state = state.play({s: chance.choice(list(state.legal(s))) for s in state.actors})
    phases = Counter(getattr(state, "phase", "") for state in passed)
    for phase in sorted(phases):
        of_phase = [state for state in passed if getattr(state, "phase", "") == phase]
        for position in chance.sample(of_phase, min(most, len(of_phase))):
            yield position, chance.choice(position.actors)


def bot_answer(
    bot: str, form: MeasuredForm, state: State, seat: int, luck: int = 7
) -> tuple[Action, str]:
    action, note = load(bot, form.start(seat))(question(form, state, seat, luck))
    return GameCodec(form.game).decode(action), note
