"""Win probabilities of live tables: where they are hidden, and their computation on request."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest
from google.protobuf.json_format import MessageToDict
from pokearena.v1 import bot_pb2

from arena.store.events.messages import Position
from arena.store.match_settings import MatchSettings
from arena.web.data.changes import Changes, position_of
from arena.web.data.win_probabilities import (
    CANNOT_REDEAL,
    HELPS_A_PLAYER,
    WinProbabilities,
    why_hidden,
)
from referee.games.registry import find_game
from referee.games.shared.dealing import Seeded
from referee.replay import codec_of
from tests.event_loop import in_event_loop

pytestmark = pytest.mark.timeout(300)

SETTINGS = MatchSettings(game="saint_poker", seats=2)


def position(seed: int = 0, match: str = "m-1") -> Position:
    game = find_game("saint_poker")
    state = game.start(Seeded(bytes([seed] * 32)), 2, {})
    view = MessageToDict(bot_pb2.View.FromString(codec_of(game).view(state.public())))
    return Position(match, 0, 0, 0, 0, state.actors, ("a@1", "b@1"), view)


def test_a_table_with_a_bot_that_runs_elsewhere_has_no_probability() -> None:
    hosted = {"a@1", "b@1"}
    assert why_hidden("poke", ["a@1", "b@1"], hosted) == ""
    assert why_hidden("poke", ["a@1", "remote@1"], hosted) == HELPS_A_PLAYER
    assert why_hidden("chess", ["a@1", "b@1"], hosted) == CANNOT_REDEAL


@asynccontextmanager
async def computing(changes: Changes) -> AsyncIterator[WinProbabilities]:
    """Compute what is requested within this context."""
    probabilities = WinProbabilities(changes)
    task = asyncio.create_task(probabilities.run())
    # One pass of the loop, in which the task begins.
    await asyncio.sleep(0)
    try:
        yield probabilities
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


@pytest.mark.long
@in_event_loop
async def test_a_requested_position_is_computed_in_another_process() -> None:
    changes = Changes()
    async with computing(changes) as probabilities:
        at = position()
        assert probabilities.of(at, SETTINGS) is None
        await asyncio.wait_for(changes.after({position_of(at.match)}, 0), 240)
        computed = probabilities.of(at, SETTINGS)
        assert computed is not None
        assert computed.engine == "strong"
        assert sum(mean for mean, _ in computed.by_seat) == pytest.approx(1)
        # Until all simultaneous choices are made, the public view is the same.
        undecided = replace(at, decision=1)
        assert probabilities.of(undecided, SETTINGS) == computed
        # Another game of the match does not show it.
        assert probabilities.of(replace(at, game=1), SETTINGS) is None


@pytest.mark.long
@in_event_loop
async def test_only_the_newest_position_of_each_table_waits() -> None:
    changes = Changes()
    async with computing(changes) as probabilities:
        for seed in range(3):
            probabilities.of(position(seed), SETTINGS)
        probabilities.of(position(3, "m-2"), SETTINGS)
        await asyncio.wait_for(changes.after({position_of("m-2")}, 0), 240)
        # Two computations were recorded: the positions 0 and 1 were dropped.
        assert changes.last == 2
        shown = probabilities.of(position(2), SETTINGS)
        assert shown is not None
        assert changes.newest({position_of("m-1")}) == 1
