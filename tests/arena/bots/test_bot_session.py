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
from referee.games.registry import find_game
from referee.games.shared.dealing import Seeded
from referee.presentation.question_text import question_text
from referee.replay import codec_of

POKE = find_game("poke")
OPTIONS = POKE.settle({})
STATE = POKE.start(Seeded(bytes(32)))


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


@pytest.mark.parametrize(("answer", "has_action"), [("0", True), ("stand", True), ("fold", False)])
def test_a_session_asks_in_words_and_reads_words(
    tmp_path: Path, answer: str, has_action: bool
) -> None:
    (seat,) = STATE.actors
    head = bot_pb2.ActRequest(seat=seat, complete=True)
    legal = STATE.legal(seat)
    data = codec_of(POKE).question(head, STATE.view(seat), legal)
    request = bot_pb2.ActRequest.FromString(data)
    bot = InWords(answer)
    server = grpc.server(ThreadPoolExecutor(2))
    bot_pb2_grpc.add_BotServiceServicer_to_server(bot, server)
    address = f"unix:{tmp_path / 'bot'}"
    server.add_insecure_port(address)
    server.start()
    opening = MatchSettings(game="poke", options=OPTIONS, seats=2).start_request("m", seat)
    try:
        with BotSession(Bot("words", address=address), opening, 60.0, 60.0) as session:
            response = session.act(request)
    finally:
        server.stop(None).wait()
    assert bot.texts == [question_text(POKE, OPTIONS, 2, STATE.view(seat), seat, (seat,), legal)]
    assert response.HasField("action") == has_action
    assert not has_action or response.action == request.legal[0]
