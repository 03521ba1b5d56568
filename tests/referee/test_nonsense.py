"""Bots that answer with bytes that are not a message, and messages with too many answers."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import grpc
import pytest
from pokearena.v1 import bot_pb2

from referee.game_codec import GameCodec
from referee.games.registry import find_game
from tests.referee.authors import Answer, Author, first, play

NO_MESSAGE = b"\xff" * 40
Raw = Callable[[bytes], bytes]


@contextmanager
def raw_bot(folder: Path, **methods: Raw) -> Iterator[str]:
    """Run a bot that answers in bytes; "Play" receives one message after another."""

    def stream(answer: Raw) -> Callable[[Iterator[bytes], Any], Iterator[bytes]]:
        return lambda requests, context: map(answer, requests)

    def single(answer: Raw) -> Callable[[bytes, Any], bytes]:
        return lambda request, context: answer(request)

    handlers: dict[str, Any] = {
        name: grpc.stream_stream_rpc_method_handler(stream(answer))
        if name == "Play"
        else grpc.unary_unary_rpc_method_handler(single(answer))
        for name, answer in methods.items()
    }
    address = f"unix:{folder}/raw"
    server = grpc.server(ThreadPoolExecutor(4))
    service = grpc.method_handlers_generic_handler("pokearena.v1.BotService", handlers)
    server.add_generic_rpc_handlers((service,))
    server.add_insecure_port(address)
    server.start()
    try:
        yield address
    finally:
        server.stop(None)


@pytest.mark.parametrize(("method", "kind"), [("Act", "ActResponse"), ("Play", "PlayResponse")])
def test_an_answer_that_is_not_a_message_breaks_the_protocol(
    tmp_path: Path, method: str, kind: str
) -> None:
    with raw_bot(tmp_path, **{method: lambda request: NO_MESSAGE}) as address:
        played = play([address, Author()])
    assert played.verdicts == [["protocol", "finished"]]
    assert f"it answered 40 bytes that are not a valid {kind}" in played.sentences[0]


def test_a_start_response_that_is_not_a_message_is_refused(tmp_path: Path) -> None:
    methods: dict[str, Raw] = {"Start": lambda request: NO_MESSAGE, "Act": lambda request: b""}
    with raw_bot(tmp_path, **methods) as address:
        played = play([address, Author()])
    assert played.verdicts == [["init", "finished"]]
    assert "it answered 40 bytes that are not a valid StartResponse" in played.sentences[0]


def test_a_message_that_answers_a_question_twice_breaks_the_protocol(tmp_path: Path) -> None:
    def twice(request: bytes) -> bytes:
        questions = bot_pb2.PlayRequest.FromString(request).questions
        answers = [first(question) for question in questions]
        return bot_pb2.PlayResponse(answers=answers * 2).SerializeToString()

    with raw_bot(tmp_path, Play=twice) as address:
        played = play([address, Author()])
    assert played.verdicts == [["protocol", "finished"]]
    assert "every question is answered once" in played.sentences[0]


def test_bot_text_in_a_verdict_is_truncated_and_escaped() -> None:
    def tricky(question: bot_pb2.ActRequest) -> Answer:
        answer = first(question)
        answer.action.poke.draw.discards[:] = ["\x1b[2J\u202e", "x" * 10_000]
        return answer

    (sentence,) = play([Author(tricky), Author()]).sentences
    assert 'it answered "draw \\x1b[2J\\u202e xxx' in sentence
    assert sentence.isprintable()
    assert len(sentence) < 2000


def test_unknown_fields_of_a_valid_action_are_ignored_and_not_recorded() -> None:
    codec = GameCodec(find_game("poke"))
    action = bot_pb2.Action()
    action.poke.stand.SetInParent()
    for padding in range(50):
        unknown = b"\xfa\x01\x02" + padding.to_bytes(2, "big")
        padded = bot_pb2.Action.FromString(action.SerializeToString() + unknown)
        assert codec.action_json(codec.decode(padded)) == {"poke": {"stand": {}}}
    assert codec._known.cache_info().currsize == 1


def test_oversized_actions_are_not_recorded() -> None:
    codec = GameCodec(find_game("poke"))
    for letter in "abc":
        action = bot_pb2.Action()
        action.poke.draw.discards.append(letter * 100_000)
        codec.decode(action)
    assert codec._known.cache_info().currsize == 0
