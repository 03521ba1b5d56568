"""Checks of what is sent and stored: views, actions, questions and records; and of the speed."""

import json
import time
from collections.abc import Iterator
from itertools import count

from pokearena.v1 import bot_pb2

from referee.game_checks import recorded_matches
from referee.game_checks.random_games import choose, dice, question, seen
from referee.game_checks.rule_checks import some_steps, viewers
from referee.game_checks.tables import Table
from referee.games.shared.dealing import Seeded
from referee.record import read
from referee.replay import position, steps, verify

LEAST_RATE = 100
"""Decisions per second of CPU time that a game must reach, with its messages."""
_MEASURED_SECONDS = 0.3
_SEED = bytes(range(100, 132))


def view_messages(table: Table) -> Iterator[str]:
    """Views have the type of the game and survive encoding and decoding."""
    codec, kind = table.codec, table.game.view_type
    for step in some_steps(table, 2):
        for viewer in viewers(table):
            view = seen(step.state, viewer)
            if type(view) is not kind:
                yield f"a view is a {type(view).__name__}; the view_type is {kind.__name__}"
                return
            if codec.decode_view(bot_pb2.View.FromString(codec.view(view))) != view:
                yield f"a view changes when it is encoded and decoded: {view}"


def action_messages(table: Table) -> Iterator[str]:
    """Actions survive encoding and decoding, as messages and as JSON, and stay legal."""
    codec = table.codec
    for step in some_steps(table, 2):
        for seat in step.moves:
            legal = step.state.legal(seat)
            for action in list(legal)[:40]:
                decoded = codec.decode(bot_pb2.Action.FromString(codec.action(action)))
                if decoded != action or codec.decode_json(codec.action_json(action)) != action:
                    yield f"{action} changes when it is encoded and decoded"
                elif decoded not in legal:
                    yield f"{action} is refused after it was encoded and decoded"
            message = bot_pb2.ActRequest.FromString(question(codec, step.state, seat))
            if [codec.decode(listed) for listed in message.legal] != list(legal):
                yield "the legal actions of a question are not those of the position"


def records(table: Table) -> Iterator[str]:
    """The record of a match verifies, and a replay repeats its positions."""
    text = recorded_matches.match_record(table, _SEED)
    record = read(text)
    yield from verify(record)
    if recorded_matches.new_match_record(table, _SEED) != text:
        yield "the record of a match differs when it is played again"
    for step in steps(record.match, record.games[0], _SEED):
        shown = position(step.state)
        if json.loads(json.dumps(shown)) != shown:
            yield "a position is not plain JSON"
            return


def speed(table: Table) -> Iterator[str]:
    """Random games with their messages are fast enough."""
    rate = decisions_per_second(table)
    if rate < LEAST_RATE:
        yield f"{rate:,.0f} decisions per second of CPU time; at least {LEAST_RATE} are needed"


def decisions_per_second(table: Table) -> float:
    """Return the decisions of random games per second of CPU time, with their messages."""
    began, decisions, codec = time.process_time(), 0, table.codec
    for number in count():
        rng = dice("speed", table, number)
        state = table.start(Seeded(rng.randbytes(32)))
        while state.actors:
            moves = {}
            for seat in state.actors:
                question(codec, state, seat)
                action = choose(state.legal(seat), rng)
                moves[seat] = codec.decode(bot_pb2.Action.FromString(codec.action(action)))
                decisions += 1
            state = state.play(moves)
            if (seconds := time.process_time() - began) > _MEASURED_SECONDS:
                return decisions / seconds
    raise AssertionError
