"""Win probabilities: shares of the first place, from public views and of recorded games."""

from itertools import islice
from typing import Any

import pytest
from google.protobuf.json_format import MessageToDict
from pokearena.v1 import bot_pb2

from arena.records.analysis.engine import engine_of
from arena.records.analysis.win_probability import (
    WinProbabilityRater,
    first_place_shares,
    rate_recorded_games,
    seats_worlds,
    spectators_worlds,
)
from arena.services.win_probability_process import win_probabilities
from referee.game_checks.recorded_matches import match_record
from referee.games.contract import Game, State
from referee.games.registry import GAMES, find_game
from referee.games.shared.dealing import Seeded
from referee.record import read
from referee.replay import codec_of
from tests.arena.web.closed_matches import table

SEED = bytes(32)


def start(game: Game, seats: int) -> State:
    return game.start(Seeded(SEED), seats, {})


def public_view(game: Game, state: State) -> dict[str, Any]:
    return MessageToDict(bot_pb2.View.FromString(codec_of(game).view(state.public())))


def test_a_shared_first_place_is_shared_equally_among_its_sides() -> None:
    assert first_place_shares((3, 3, 1), (0, 1, 2)) == (0.5, 0.5, 0.0)
    assert first_place_shares((3, 1, 3, 1), (0, 1, 0, 1)) == (1.0, 0.0, 1.0, 0.0)


@pytest.mark.parametrize("game_id", ["poke", "saint_poker", "pouku", "pokex", "pokino"])
def test_the_probabilities_of_all_sides_add_up_to_one(game_id: str) -> None:
    game = find_game(game_id)
    seats = max(game.seats)
    sides = game.sides(seats, game.settle({}))
    rater = WinProbabilityRater(game_id, engine_of(game_id), sides)
    worlds = spectators_worlds(game, start(game, seats).public(), game.settle({}), SEED)
    by_side = dict(zip(sides, rater.rate(islice(worlds, 3)), strict=True))
    assert sum(each.mean for each in by_side.values()) == pytest.approx(1)
    assert all(0 < each.mean < 1 for each in by_side.values())


def test_a_finished_game_has_its_result() -> None:
    game = GAMES["saint_poker"]
    engine, state = engine_of(game.id), start(game, 2)
    while state.actors:
        state = state.after({seat: engine.move(state, seat) for seat in state.actors})
    rated = WinProbabilityRater(game.id, engine, (0, 1)).rate([state])
    assert tuple(each.mean for each in rated) == first_place_shares(state.place_keys, (0, 1))


def test_hidden_cards_do_not_influence_the_probability_for_spectators() -> None:
    game = GAMES["saint_poker"]
    state = start(game, 3)
    other = state.redeal(None, Seeded(b"\1" * 32))
    assert other != state
    first, second = (
        win_probabilities(game.id, {}, 3, public_view(game, s)) for s in (state, other)
    )
    assert first == second


@pytest.mark.parametrize(("game_id", "seats"), [("saint_poker", 3), ("pokex", 2)])
def test_hidden_cards_do_not_influence_the_probability_for_a_seat(game_id: str, seats: int) -> None:
    game = GAMES[game_id]
    sides = game.sides(seats, game.settle({}))
    state = start(game, seats)
    other = state.redeal(1, Seeded(b"\1" * 32))
    assert other != state
    rater = WinProbabilityRater(game_id, engine_of(game_id), sides)
    first, second = (rater.rate(islice(seats_worlds(s, 1, SEED), 3)) for s in (state, other))
    assert first == second


@pytest.mark.long
def test_a_recorded_position_is_rated_from_the_knowledge_of_each_seat() -> None:
    first, *_ = rate_recorded_games(read(match_record(table("saint_poker-3"), SEED, 1)))
    assert len({first.by_seat, *first.known_to}) == 4
    for by_seat in first.known_to:
        assert sum(each.mean for each in by_seat) == pytest.approx(1)
