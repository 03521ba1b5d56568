"""The caches of the codec are bounded, and hold no game that is over."""

import random
import sys
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import Any

import pytest
from pokearena.v1 import bot_pb2

from referee import game_codec
from referee.game_codec import GameCodec
from referee.games.contract import Legal, View
from referee.games.registry import GAMES
from referee.games.shared.dealing import Seeded, board_seed

_LIMIT = 64


def _questions(game_id: str, boards: int) -> Iterator[tuple[View, Legal]]:
    """Yield the views and legal actions of random play, at most 40 per board."""
    chance = random.Random(1)
    for board in range(boards):
        state = GAMES[game_id].start(Seeded(board_seed(bytes(32), board)))
        for _ in range(40):
            if not state.actors:
                break
            for seat in state.actors:
                yield state.view(seat), state.legal(seat)
            state = state.play({seat: state.legal(seat).any(chance) for seat in state.actors})


@pytest.mark.parametrize("game_id", sorted(GAMES))
def test_caches_are_bounded_and_change_no_byte(
    game_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    head, usual = bot_pb2.ActRequest(), GameCodec(GAMES[game_id])
    for name in ("_LISTED", "_RECENT", "REMEMBERED_ACTIONS"):
        monkeypatch.setattr(game_codec, name, _LIMIT)
    small, longest = GameCodec(GAMES[game_id]), 0
    for view, legal in _questions(game_id, 2):
        assert small.question(head, view, legal) == usual.question(head, view, legal)
        held = [(len(cache), len(cache._older)) for cache in small._spelled.values()]
        newer, older = (sum(column) for column in zip((0, 0), *held, strict=True))
        longest = max(longest, len(list(legal)))
        # The actions of one question are encoded before the caches are limited.
        assert newer <= _LIMIT
        assert older <= _LIMIT + longest
    assert small._listed.cache_info().currsize <= _LIMIT


@pytest.mark.parametrize("game_id", sorted(GAMES))
def test_values_of_a_game_are_released_when_its_table_is_over(game_id: str) -> None:
    head, codec = bot_pb2.ActRequest(), GameCodec(GAMES[game_id])
    *_, (view, legal) = _questions(game_id, 1)
    nested: list[Any] = [
        value
        for value in (getattr(view, member.name) for member in fields(view))
        if isinstance(value, tuple) and value and is_dataclass(value[0])
    ]
    before = [sys.getrefcount(value) for value in nested]
    codec.question(head, view, legal)
    assert sum(sys.getrefcount(value) for value in nested) > sum(before)
    codec.forget_games()
    assert [sys.getrefcount(value) for value in nested] == before
