"""Test the requests of the starter bot for models, through HTTP on loopback."""

import json
import time
from email.utils import formatdate

import pytest
from model_endpoint import Endpoint, TimeLimit
from model_replies import ACTION, read_reply

from tests.sample_bots.model_reply_corpus import ACTIONS, Case, cases
from tests.sample_bots.scripted_endpoint import (
    ScriptedEndpoint,
    Send,
    data,
    delta,
    message,
    reset,
    scripted_endpoint,
    stream,
)

GOOD = message('{"action": 4}')
SELECTION = [case for group in cases().values() for case in group[:: max(1, len(group) // 2)]]
FOR_EVER = 60.0


def asking(endpoint: ScriptedEndpoint, key: str = "", stall: float = FOR_EVER) -> Endpoint:
    return Endpoint(endpoint.base_url, "m", key, {"max_tokens": 9}, stall)


def text_of(endpoint: ScriptedEndpoint, seconds: float = FOR_EVER, stall: float = FOR_EVER) -> str:
    """Return the text of a reply, or the reason why none arrived."""
    reply = asking(endpoint, stall=stall).complete([], TimeLimit(seconds))
    return reply.text or reply.failure


def test_a_selection_of_the_corpus_has_the_same_meaning_through_http() -> None:
    with scripted_endpoint() as endpoint:
        for case in SELECTION:
            endpoint.set_script(_response(case))
            reply = asking(endpoint).complete([], TimeLimit(FOR_EVER))
            reading = read_reply(reply, ACTIONS)
            assert reading.kind == (case.kind or ACTION), case


def _response(case: Case) -> Send:
    """Return the response with a reply: of two equal ones, one is streamed."""
    reply = case.reply
    if reply.refusal or len(case.name) % 2:
        return message(reply.text, reply.finish, refusal=reply.refusal)
    half = len(reply.text) // 2
    parts = (reply.text[:half], reply.text[half:])
    return stream(delta(parts[0]), delta(parts[1], reply.finish or "stop"), "[DONE]")


def test_a_request_has_the_model_the_key_and_the_parameters() -> None:
    with scripted_endpoint(GOOD) as endpoint:
        asking(endpoint, "secret").complete([{"role": "user", "content": "é"}], TimeLimit(FOR_EVER))
        (request,) = endpoint.requests
        assert (request["model"], request["max_tokens"], request["stream"]) == ("m", 9, True)
        assert request["messages"] == [{"role": "user", "content": "é"}]
        assert endpoint.keys == ["Bearer secret"]


USAGE = {"prompt_tokens": 900, "completion_tokens": 80, "total_tokens": 980}


def with_usage(usage: object) -> str:
    return json.dumps({"choices": [], "usage": usage})


@pytest.mark.parametrize(
    ("script", "tokens"),
    [
        (stream(delta("a", "stop"), with_usage(USAGE), "[DONE]"), (900, 80)),
        (stream(delta("a", "stop"), with_usage(USAGE), with_usage(None), "[DONE]"), (900, 80)),
        (stream(delta("a", "stop"), with_usage({"prompt_tokens": -1}), "[DONE]"), (0, 0)),
        (stream(delta('"usage"', "stop"), "[DONE]"), (0, 0)),
        (message("a"), (0, 0)),
        (
            data(json.dumps({"choices": [{"message": {"content": "a"}}], "usage": USAGE}).encode()),
            (900, 80),
        ),
    ],
)
def test_the_tokens_that_an_endpoint_states_are_counted(
    script: Send, tokens: tuple[int, int]
) -> None:
    with scripted_endpoint(script) as endpoint:
        reply = asking(endpoint).complete([], TimeLimit(FOR_EVER))
    assert (reply.tokens_in, reply.tokens_out) == tokens
    assert reply.text


def test_thoughts_apart_from_the_reply_are_kept() -> None:
    thought = json.dumps({"choices": [{"delta": {"reasoning_content": "hm "}}]})
    script = stream(thought, thought, delta('{"action": 4}', "stop"), "[DONE]")
    with scripted_endpoint(script) as endpoint:
        reply = asking(endpoint).complete([], TimeLimit(FOR_EVER))
    assert (reply.thoughts, reply.text) == ("hm hm ", '{"action": 4}')


@pytest.mark.parametrize(
    "failing",
    [
        data(b"", 429, Retry_After="0"),
        data(b"", 429, Retry_After=formatdate(0, usegmt=True)),
        data(b"{}", 503, Retry_After="0"),
        data(b"busy", 500, "text/plain", Retry_After="0"),
    ],
)
def test_a_busy_endpoint_is_asked_again_after_its_delay(failing: Send) -> None:
    with scripted_endpoint(failing, failing, GOOD) as endpoint:
        assert text_of(endpoint) == '{"action": 4}'
        assert len(endpoint.requests) == 3


@pytest.mark.parametrize(
    "failing",
    [
        reset,
        data(b"<html>", kind="text/html"),
        data(b"not json"),
        data(b"[]"),
        data(b'{"error": {"message": "overloaded"}}'),
        data(b'{"choices": [3]}'),
        data(b'{"choices": [{"message": 3}]}'),
        data(b'{"choices": [{"message"'),
        stream(),
        stream("not json"),
        stream(delta('{"action": ')),
        data(b"", 429),
    ],
)
def test_a_request_is_repeated_after_a_failure_of_the_transport(
    failing: Send, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("model_endpoint._PAUSES", (0.0,))
    with scripted_endpoint(failing, GOOD) as endpoint:
        assert text_of(endpoint) == '{"action": 4}'


@pytest.mark.parametrize("status", [400, 401, 403, 404, 301])
def test_a_refused_request_is_not_repeated(status: int) -> None:
    with scripted_endpoint(data(b"", status, Location="/elsewhere"), GOOD) as endpoint:
        assert str(status) in text_of(endpoint)
        assert len(endpoint.requests) == 1


@pytest.mark.parametrize("key", ["sk-7f3k9q\nsk-7f3k9q", "sk-7f3k9q\u2026"])
def test_an_invalid_key_is_not_in_the_reason(key: str) -> None:
    with scripted_endpoint(GOOD) as endpoint:
        reply = asking(endpoint, key).complete([], TimeLimit(FOR_EVER))
        assert "invalid character" in reply.failure
        assert "sk-" not in reply.failure


def test_a_stalled_stream_is_requested_again() -> None:
    with scripted_endpoint() as endpoint:
        endpoint.set_script(endpoint.stall(delta('{"action": ')), GOOD)
        assert text_of(endpoint, stall=0.1) == '{"action": 4}'


@pytest.mark.parametrize("is_date", [False, True])
def test_a_delay_beyond_the_clock_ends_the_wait_at_once(is_date: bool) -> None:
    delay = formatdate(time.time() + 3600, usegmt=True) if is_date else "3600"
    with scripted_endpoint(data(b"", 429, Retry_After=delay)) as endpoint:
        # Whoever waits for the clock exceeds the time limit of the test.
        assert "429" in text_of(endpoint, seconds=3000)


def test_a_stalled_stream_does_not_exceed_the_clock() -> None:
    with scripted_endpoint() as endpoint:
        endpoint.set_script(endpoint.stall())
        assert text_of(endpoint, seconds=0.1) == "the time is up"


def test_a_port_without_an_endpoint_is_a_failure_of_the_transport() -> None:
    with scripted_endpoint() as endpoint:
        pass
    assert text_of(endpoint, seconds=0.2)


def test_a_huge_response_is_not_read_to_its_end() -> None:
    with scripted_endpoint(message("x" * (2 << 20))) as endpoint:
        assert read_reply(asking(endpoint).complete([], TimeLimit(60)), []).kind != ACTION


def test_a_content_of_parts_is_joined() -> None:
    parts = [{"type": "text", "text": '{"action"'}, {"type": "text", "text": ": 4}"}]
    body = {"choices": [{"message": {"content": parts}, "finish_reason": "stop"}]}
    with scripted_endpoint(data(json.dumps(body).encode())) as endpoint:
        assert text_of(endpoint) == '{"action": 4}'
