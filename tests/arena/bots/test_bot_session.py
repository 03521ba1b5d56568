"""Test sessions with a bot that requests texts: questions and answers are those of the referee."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import grpc
import pytest
from pokearena.v1 import bot_pb2, bot_pb2_grpc

from arena.bots.bot import Bot
from arena.bots.bot_session import BotSession
from arena.store.match_settings import MatchSettings
from referee.games.game_packages import SETTING
from referee.games.registry import find_game
from referee.games.shared.dealing import Seeded
from referee.presentation.question_text import question_text
from referee.replay import codec_of
from tests.game_package import installed_packages
from tests.sample_games.installation import TIC_TAC_TOE, install_package

folder = pytest.fixture(installed_packages)


class InWords(bot_pb2_grpc.BotServiceServicer):
    """Answers with a text, and stores the text of the question."""

    def __init__(self, answer: str) -> None:
        self.answer = answer
        self.texts: list[str] = []

    def Start(self, request: bot_pb2.StartRequest, context: Any) -> bot_pb2.StartResponse:
        return bot_pb2.StartResponse(with_text=True)

    def Act(self, request: bot_pb2.ActRequest, context: Any) -> bot_pb2.ActResponse:
        self.texts.append(request.text)
        return bot_pb2.ActResponse(text=self.answer)


@pytest.mark.parametrize(
    ("game", "answer", "has_action"),
    [
        ("poke", "0", True),
        ("poke", "stand", True),
        ("poke", "fold", False),
        ("tic_tac_toe", "0", True),
        ("tic_tac_toe", "pass", False),
    ],
)
def test_a_session_asks_in_words_and_reads_words(
    tmp_path: Path,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    game: str,
    answer: str,
    has_action: bool,
) -> None:
    monkeypatch.setenv(SETTING, install_package(folder, TIC_TAC_TOE))
    rules = find_game(game)
    options = rules.settle({})
    state = rules.start(Seeded(bytes(32)))
    (seat,) = state.actors
    head = bot_pb2.ActRequest(seat=seat, complete=True)
    view, legal = state.view(seat), state.legal(seat)
    request = bot_pb2.ActRequest.FromString(codec_of(rules).question(head, view, legal))
    bot = InWords(answer)
    server = grpc.server(ThreadPoolExecutor(2))
    bot_pb2_grpc.add_BotServiceServicer_to_server(bot, server)
    address = f"unix:{tmp_path / 'bot'}"
    server.add_insecure_port(address)
    server.start()
    opening = MatchSettings(game=game, options=options, seats=2).start_request("m", seat)
    try:
        with BotSession(Bot("words", address=address), opening, 60.0, 60.0) as session:
            response = session.act(request)
    finally:
        server.stop(None).wait()
    assert bot.texts == [question_text(rules, options, 2, view, seat, (seat,), legal)]
    assert response.HasField("action") == has_action
    assert not has_action or response.action == request.legal[0]
