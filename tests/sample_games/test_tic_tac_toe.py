"""A game without chance, whose positions cannot be made from views, works nevertheless."""

from pathlib import Path

import numpy as np
import pytest
from pokearena.v1 import bot_pb2

from arena.presentation.encodings import encoding_of
from arena.records.analysis.engine import NoEngine, engine_of
from referee.game_checks.recorded_matches import play_game
from referee.game_checks.tables import Table
from referee.games.contract import Game, ListedLegal
from referee.games.game_packages import SETTING
from referee.games.registry import find_game
from referee.games.shared.dealing import Seeded
from referee.presentation.question_text import question_text, question_text_of_view
from tests.game_package import installed_packages
from tests.sample_games.installation import TIC_TAC_TOE, install_package

folder = pytest.fixture(installed_packages)
BOARDS = 12


@pytest.fixture
def game(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Game:
    monkeypatch.setenv(SETTING, install_package(folder, TIC_TAC_TOE))
    return find_game("tic_tac_toe")


def first(question: bot_pb2.ActRequest) -> bot_pb2.Action:
    return question.legal[0]


def played(game: Game, opening: int) -> list[tuple[bytes, ...]]:
    """Return the questions of each board in a match of bots that play the first listed action."""
    game.opening_actions = opening  # type: ignore[misc]
    table = Table(game, 2, ())
    games = [play_game(table, bytes(32), 0, board, first) for board in range(BOARDS)]
    again = [play_game(table, bytes(32), 0, board, first) for board in range(BOARDS)]
    assert [each.questions for each in games] == [each.questions for each in again]
    views = [map(bot_pb2.ActRequest.FromString, each.questions) for each in games]
    return [tuple(question.view.SerializeToString() for question in each) for each in views]


def test_openings_make_the_boards_of_a_game_without_chance_differ(game: Game) -> None:
    assert len(set(played(game, 0))) == 1
    assert len(set(played(game, 2))) > BOARDS / 2


def test_an_opening_never_ends_the_game(game: Game) -> None:
    game.opening_actions = 100  # type: ignore[misc]
    assert all(game.start(Seeded(bytes((number,) * 32))).actors for number in range(20))


def test_a_question_has_the_text_of_its_listed_actions(game: Game) -> None:
    state = game.start(Seeded(bytes(32)))
    (seat,) = state.actors
    view, legal = state.view(seat), state.legal(seat)
    text = question_text(game, {}, 2, view, seat, state.actors, legal)
    assert question_text_of_view(game, {}, 2, view, seat, ListedLegal(legal)) == text


def test_no_engine_searches_the_game(game: Game) -> None:
    with pytest.raises(NoEngine) as raised:
        engine_of(game.id)
    assert raised.value.code == "not-redealt"


def test_observations_have_the_declared_bounds(game: Game) -> None:
    encoding = encoding_of(game.id, 2)
    state = game.start(Seeded(bytes(32)))
    (seat,) = state.actors
    view = state.view(seat)
    seen = encoding.observe(view, seat, encoding.choices(view, state.legal(seat)))
    board = next(field for field in encoding.layout.fields if field.name == "board")
    assert board.length == len(view.board)
    numbers = seen[board.start : board.start + board.length]
    assert np.array_equal(numbers, (np.array(view.board, np.float32) + 1) / 2)
