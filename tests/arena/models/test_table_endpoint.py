"""Test the endpoint of a bot: what passes in both directions, its budget, and failures."""

import http.client
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from arena.models import table_endpoint, transcripts
from arena.models.endpoint_client import EndpointClient
from arena.models.excused_time import TimeReport
from arena.models.models_file import Model, ModelLimits
from arena.models.table_endpoint import Ledger, ModelUnavailable, Seat, TableEndpoint
from arena.models.transcripts import RecordedReplies, TranscriptWriter
from arena.ratings.call_figures import CallFigures
from arena.store.matches.model_calls import CallPlace
from tests.sample_bots.scripted_endpoint import (
    ScriptedEndpoint,
    Send,
    data,
    message,
    reset,
    scripted_endpoint,
)
from tests.waiting import wait_until

KEY = "key-of-the-organiser"
ASK = {"model": "small", "messages": [{"role": "user", "content": "Which card?"}]}
POISONED = {**ASK, "messages": [{"role": "user", "content": "poison"}]}


class Calls:
    """A ledger in memory."""

    def __init__(self) -> None:
        self.figures: list[CallFigures] = []
        self.places: list[CallPlace] = []
        self.refusal = ""

    def reserve(self, place: CallPlace, model: str, worst: CallFigures) -> str:
        if self.refusal:
            raise ModelUnavailable(self.refusal)
        self.figures.append(worst)
        self.places.append(place)
        return str(len(self.figures) - 1)

    def settle(self, call: str, figures: CallFigures) -> None:
        self.figures[int(call)] = figures


class Proxy:
    """An endpoint of a bot, the endpoint behind it, and what the arena gets from it."""

    def __init__(self, folder: Path, upstream: ScriptedEndpoint) -> None:
        self.folder, self.upstream = folder, upstream
        self.calls = Calls()
        self.lost: list[str] = []
        self.times: list[TimeReport] = []
        self.endpoints: list[TableEndpoint] = []

    def open(
        self,
        *,
        table: int = 0,
        attempt: int = 1,
        budget: int = 100_000,
        recorded: RecordedReplies | None = None,
        cache_field: str = "",
        **limits: Any,
    ) -> Path:
        """Open the endpoint of a table and return its socket."""
        model = Model(self.upstream.base_url, "small-1", 1.0, 2.0, "KEY", cache_field)
        folder = self.folder / f"table-{table}-{len(self.endpoints)}"
        folder.mkdir(parents=True)
        endpoint = TableEndpoint(
            folder,
            Seat(attempt, table, 0),
            {"small": EndpointClient(model, KEY, 30)},
            ModelLimits(**limits),
            budget,
            Ledger(self.calls.reserve, self.calls.settle),
            None if recorded else TranscriptWriter(self.folder, "bot@1"),
            recorded,
            self.lost.append,
            f"cache-{table}",
            self.times.append,
        )
        self.endpoints.append(endpoint)
        return endpoint.path


@contextmanager
def proxy(folder: Path, *script: Send) -> Iterator[Proxy]:
    with scripted_endpoint(*script) as upstream:
        opened = Proxy(folder, upstream)
        try:
            yield opened
        finally:
            for endpoint in opened.endpoints:
                endpoint.close()


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path: Path) -> None:
        super().__init__("models")
        self._path = str(path)

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(self._path)


def post(path: Path, body: object) -> tuple[int, dict[str, str], Any]:
    """Send a request; return the status, the headers and the document."""
    text = body if isinstance(body, bytes) else json.dumps(body).encode()
    with closing(UnixConnection(path)) as connection:
        connection.request("POST", "/v1/chat/completions", text)
        response = connection.getresponse()
        received = response.read()
    headers = {name.lower(): value for name, value in response.getheaders()}
    is_json = headers["content-type"] == "application/json"
    return response.status, headers, json.loads(received) if is_json else received


def completion(text: str, **members: Any) -> Send:
    choice = {"message": {"content": text}, "finish_reason": "stop"}
    return data(json.dumps({"choices": [choice], **members}).encode())


USAGE = {"prompt_tokens": 20, "completion_tokens": 5, "prompt_tokens_details": {"cached_tokens": 9}}


def test_only_listed_members_of_a_request_are_forwarded(tmp_path: Path) -> None:
    state = {
        "user": "table-1",
        "store": True,
        "metadata": {"card": "7"},
        "previous_response_id": "resp-1",
        "prompt_cache_key": "bit",
        "service_tier": "flex",
        "n": 3,
        "tools": [],
        "logprobs": True,
    }
    messages = [{"role": "user", "name": "spy", "content": [{"type": "text", "text": "Hi"}]}]
    kept = {"temperature": 0.5, "seed": 3, "stop": "END", "max_tokens": 7}
    with proxy(tmp_path, completion("ok", usage=USAGE)) as arena:
        path = arena.open(cache_field="prompt_cache_key")
        assert post(path, {**state, **kept, "model": "small", "messages": messages})[0] == 200
        [sent] = arena.upstream.requests
        assert arena.upstream.keys == [f"Bearer {KEY}"]
    assert sent == {
        "model": "small-1",
        "stream": False,
        "messages": [{"role": "user", "content": "Hi"}],
        "temperature": 0.5,
        "seed": 3,
        "stop": ["END"],
        "max_tokens": 7,
        "prompt_cache_key": "cache-0",
    }


def test_replies_contain_nothing_that_differs_between_calls(tmp_path: Path) -> None:
    def identified(number: int) -> Send:
        body = {
            "id": f"chatcmpl-{number}",
            "created": 1_700_000_000 + number,
            "model": f"small-1-{number}",
            "system_fingerprint": f"fp-{number}",
            "service_tier": f"tier-{number}",
            "choices": [
                {
                    "index": number,
                    "message": {"content": "7", "annotations": [number], "audio": {"id": number}},
                    "logprobs": {"content": [number]},
                    "finish_reason": "stop",
                }
            ],
            "usage": {**USAGE, "cached_tokens": number, "prompt_tokens_details": {"a": number}},
        }
        limits: dict[str, Any] = {
            f"x_ratelimit_remaining_{number}": str(number),
            "Set_Cookie": f"a={number}",
        }
        return data(json.dumps(body).encode(), **limits)

    with proxy(tmp_path, identified(1), identified(2)) as arena:
        first, second = post(arena.open(table=0), ASK), post(arena.open(table=1), ASK)
    assert first == second
    assert set(first[1]) == {"content-type", "content-length"}
    assert first[2]["usage"] == {"prompt_tokens": 20, "completion_tokens": 5, "total_tokens": 25}
    assert set(first[2]) == {"id", "object", "created", "model", "choices", "usage"}


def test_a_stream_is_one_event(tmp_path: Path) -> None:
    with proxy(tmp_path, completion("ok", usage=USAGE)) as arena:
        status, headers, body = post(arena.open(), {**ASK, "stream": True})
    assert (status, headers["content-type"]) == (200, "text/event-stream")
    event, done = [line for line in body.decode().splitlines() if line]
    assert json.loads(event.removeprefix("data: "))["choices"][0]["delta"]["content"] == "ok"
    assert done == "data: [DONE]"


def test_figures_replace_the_worst_case(tmp_path: Path) -> None:
    with proxy(tmp_path, completion("a", usage=USAGE), message("b")) as arena:
        path = arena.open(output_tokens=100)
        assert post(path, ASK)[0] == post(path, ASK)[0] == 200
    measured, worst = arena.calls.figures
    assert measured == CallFigures(20, 5, 30 / 1_000_000)
    assert worst.input_tokens > len(json.dumps(ASK["messages"]))
    assert worst.output_tokens == 100


def test_a_call_belongs_to_the_decision_during_which_it_arrives(tmp_path: Path) -> None:
    with proxy(tmp_path, message("hello")) as it:
        path = it.open()
        [endpoint] = it.endpoints
        for question in ((3, 14), None):
            post(path, ASK)
            endpoint.note_questions(question)
        post(path, ASK)
        endpoint.note_questions((3, 16))
        post(path, ASK)
        assert it.calls.places == [
            CallPlace(0),
            CallPlace(0, 3, 14),
            CallPlace(0),
            CallPlace(0, 3, 16),
        ]


@pytest.mark.parametrize(
    ("limits", "status", "code"),
    [
        ({"budget": 150}, 403, "table_budget"),
        ({"call_tokens": 150}, 400, "call_too_large"),
    ],
)
def test_a_call_that_may_exceed_a_limit_is_refused_before_it_is_sent(
    tmp_path: Path, limits: dict[str, Any], status: int, code: str
) -> None:
    with proxy(tmp_path, message("a")) as arena:
        answer = post(arena.open(output_tokens=100, **limits), ASK)
        assert (answer[0], answer[2]["error"]["code"]) == (status, code)
        assert arena.upstream.requests == []
        assert arena.calls.figures == []
        assert arena.lost == []


def test_a_used_up_budget_and_rate_concern_one_table_only(tmp_path: Path) -> None:
    with proxy(tmp_path, completion("a", usage=USAGE)) as arena:
        first = arena.open(table=0, calls_per_minute=1)
        other = arena.open(table=1, calls_per_minute=1)
        codes = [post(first, ASK)[2].get("error", {}).get("code") for _ in range(2)]
        assert codes == [None, "table_rate"]
        fresh = Proxy(tmp_path / "fresh", arena.upstream)
        fresh.folder.mkdir()
        untouched = fresh.open(table=1, calls_per_minute=1)
        assert post(other, ASK) == post(untouched, ASK)
        fresh.endpoints[0].close()


BAD: list[object] = [
    b"{",
    b"[" * 100_000,
    [],
    {},
    {"model": "large", "messages": ASK["messages"]},
    {"model": ["small"], "messages": ASK["messages"]},
    {"model": "small", "messages": []},
    {**ASK, "temperature": "hot"},
    {**ASK, "temperature": -1},
    {**ASK, "seed": 1.5},
    {**ASK, "seed": True},
    {**ASK, "top_k": 10**400},
    json.dumps({**ASK, "top_p": float("nan")}).encode(),
    {"model": "small", "messages": [{"role": "tool", "content": "a"}]},
    {"model": "small", "messages": [{"role": ["user"], "content": "a"}]},
    {"model": "small", "messages": [{"role": "user", "content": None}]},
    {
        "model": "small",
        "messages": [
            {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "http://a"}}]}
        ],
    },
]


def test_invalid_requests_get_a_readable_refusal(tmp_path: Path) -> None:
    with proxy(tmp_path, message("a")) as arena:
        path = arena.open()
        for body in BAD:
            status, _, document = post(path, body)
            assert (status, document["error"]["code"]) == (400, "invalid_request"), body
        assert arena.upstream.requests == []
        assert arena.times == []


def test_members_of_a_wrong_type_are_left_out(tmp_path: Path) -> None:
    with proxy(tmp_path, completion("a", usage=USAGE)) as arena:
        wrong = {"reasoning_effort": [], "stop": 7, "max_tokens": -5, "temperature": None}
        assert post(arena.open(output_tokens=9), {**ASK, **wrong})[0] == 200
        [sent] = arena.upstream.requests
    assert sent == {**ASK, "model": "small-1", "stream": False, "max_tokens": 9}


def test_the_worst_case_counts_each_byte_that_is_sent(tmp_path: Path) -> None:
    text = chr(0xD800) * 1000
    with proxy(tmp_path, message("a")) as arena:
        asked = {**ASK, "messages": [{"role": "user", "content": text}]}
        assert post(arena.open(), asked)[0] == 200
        [sent] = arena.upstream.requests
    [worst] = arena.calls.figures
    assert worst.input_tokens >= len(
        sent["messages"][0]["content"].encode("utf-8", "surrogatepass")
    )


def test_a_reply_with_an_unknown_reason_of_its_end_is_used(tmp_path: Path) -> None:
    choice = {"message": {"content": "7"}, "finish_reason": {"type": "stop"}}
    with proxy(tmp_path, data(json.dumps({"choices": [choice]}).encode())) as arena:
        status, _, document = post(arena.open(), ASK)
    assert (status, document["choices"][0]["finish_reason"]) == (200, "stop")


@pytest.mark.parametrize(
    "raw",
    [
        b"GET / HTTP/1.1\r\n\r\n",
        b"POST /v1/other HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}",
        b"POST /chat/completions HTTP/1.1\r\n\r\n",
        b"POST /chat/completions HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n",
        b"POST /chat/completions HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
        b"\x16\x03\x01\x00\xff\r\n\r\n",
        b"GET " + b"a" * 70_000 + b" HTTP/1.1\r\n\r\n",
    ],
)
def test_other_bytes_neither_stop_the_endpoint_nor_reach_a_model(
    tmp_path: Path, raw: bytes
) -> None:
    with proxy(tmp_path, completion("a", usage=USAGE)) as arena:
        path = arena.open()
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(str(path))
            client.sendall(raw)
            client.shutdown(socket.SHUT_WR)
            received = b"".join(iter(lambda: client.recv(65536), b""))
        assert b"200 OK" not in received
        assert b"Server:" not in received
        assert b"Date:" not in received
        assert post(path, ASK)[0] == 200
        assert len(arena.upstream.requests) == 1


@pytest.mark.parametrize(
    "failure", [reset, data(b"", 429), data(b"", 503), data(b"{}"), data(b"[]", 200)]
)
def test_failed_calls_are_repeated_by_the_proxy(
    tmp_path: Path, failure: Send, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(table_endpoint, "_FIRST_PAUSE_SECONDS", 0.0)
    with proxy(tmp_path, failure, completion("a", usage=USAGE)) as arena:
        path = arena.open()
        assert post(path, ASK)[0] == 200
        assert len(arena.upstream.requests) == 2
        assert arena.lost == []
    assert arena.calls.figures[1] == CallFigures(20, 5, 30 / 1_000_000)
    # A call that an endpoint may have answered may cost.
    is_answered = failure != reset and arena.calls.figures[0] == CallFigures()
    assert is_answered or arena.calls.figures[0].tokens > 0


@pytest.mark.parametrize(
    "error",
    [
        {"error": {"message": "no", "code": "invalid_api_key"}},
        {"error": {"message": "no", "type": "authentication_error"}},
        [{"error": {"code": 400, "details": [{"reason": "API_KEY_INVALID"}]}}],
        {"error": {"message": "no", "code": "billing_hard_limit_reached"}},
    ],
)
def test_a_key_that_is_refused_with_status_400_pauses_the_match(
    tmp_path: Path, error: object
) -> None:
    with proxy(tmp_path, data(json.dumps(error).encode(), 400)) as arena:
        assert post(arena.open(), ASK)[0] == 503
        assert len(arena.lost) == 1


def test_a_request_cannot_imitate_a_refused_key(tmp_path: Path) -> None:
    refused = data(b'{"error": {"code": "invalid_api_key"}}', 400)
    with proxy(tmp_path, failing_at("poison", refused)) as arena:
        assert post(arena.open(), POISONED)[0] == 400
        assert arena.lost == []


def test_requests_that_make_an_endpoint_fail_use_up_the_tables_budget_only(tmp_path: Path) -> None:
    with proxy(tmp_path, failing_at("poison", reset)) as arena:
        path = arena.open(repeat_seconds=0, budget=10_000)
        answers = [post(path, POISONED) for _ in range(4)]
        assert [status for status, *_ in answers] == [400, 400, 403, 403]
        assert answers[-1][2]["error"]["code"] == "table_budget"
        assert arena.lost == []
    # What is stored for the owner's day is at most the budget and one call's repeat.
    assert sum(each.tokens for each in arena.calls.figures) < 10_000 + 4_000


def test_a_connection_that_is_kept_calls_no_model_after_the_table(tmp_path: Path) -> None:
    with proxy(tmp_path, message("a")) as arena:
        connection = UnixConnection(arena.open())
        connection.request("GET", "/v1/models")
        assert connection.getresponse().read()
        arena.endpoints.pop().close()
        connection.request("POST", "/v1/chat/completions", json.dumps(ASK))
        response = connection.getresponse()
        assert json.loads(response.read())["error"]["code"] == "unavailable"
        connection.close()
        assert arena.upstream.requests == []
        assert arena.lost == []


@pytest.mark.parametrize("status", [401, 402, 403, 404, 302])
def test_a_failure_of_the_organiser_pauses_the_match(tmp_path: Path, status: int) -> None:
    with proxy(tmp_path, data(b"", status, Location="http://127.0.0.1:1/")) as arena:
        answer = post(arena.open(), ASK)
        assert (answer[0], answer[2]["error"]["code"]) == (503, "unavailable")
        [sentence] = arena.lost
        assert str(status) in sentence
        assert KEY not in sentence
        assert arena.upstream.base_url not in sentence
        # The second one is that of the arena, which shows that the bot's content is not the reason.
        assert len(arena.upstream.requests) == 2
    assert arena.calls.figures == [CallFigures()] * 2


def failing_at(word: str, failure: Send) -> Send:
    """Answer all requests but those that contain a word."""

    def send(exchange: Any) -> None:
        fails = word in json.dumps(exchange.body)
        (failure if fails else completion("a", usage=USAGE))(exchange)

    return send


@pytest.mark.parametrize("failure", [reset, data(b"", 403), data(b"", 500), data(b"{}")])
def test_a_request_that_makes_an_endpoint_fail_is_refused_and_excuses_no_time(
    tmp_path: Path, failure: Send
) -> None:
    with proxy(tmp_path, failing_at("poison", failure)) as arena:
        path = arena.open(repeat_seconds=0)
        status, _, document = post(path, POISONED)
        assert (status, document["error"]["code"]) == (400, "invalid_request")
        assert arena.lost == []
        assert excused(arena) == [0]
        assert excused_ms(path) == 0
        assert post(path, ASK)[0] == 200


def excused(arena: Proxy) -> list[float]:
    """Return the excused seconds of each call that is over."""
    assert all(time.hold > 0 for time in arena.times[::2])
    assert not any(time.hold for time in arena.times[1::2])
    return [time.excused_from - time.excused_to for time in arena.times[1::2]]


def test_the_clock_stands_from_the_first_try_of_a_failing_call_to_its_last(tmp_path: Path) -> None:
    during: list[int] = []

    def fail(exchange: Any) -> None:
        during.append(excused_ms(path))
        data(b"", 500)(exchange)

    def answer(exchange: Any) -> None:
        during.append(excused_ms(path))
        completion("a", usage=USAGE)(exchange)

    with proxy(tmp_path, fail, answer, completion("a", usage=USAGE)) as arena:
        path = arena.open()
        assert [post(path, ASK)[0] for _ in range(2)] == [200, 200]
        first, second = excused(arena)
        total = excused_ms(path)
    # A call that is answered at once, and the try that is answered, use the bot's clock.
    assert first >= table_endpoint._FIRST_PAUSE_SECONDS
    assert second == 0
    assert during[0] == 0
    assert during[1] >= 1000 * table_endpoint._FIRST_PAUSE_SECONDS
    assert total == round(1000 * first)


def test_calls_that_fail_at_the_same_time_excuse_it_once(tmp_path: Path) -> None:
    both = threading.Barrier(2)

    def fail(exchange: Any) -> None:
        both.wait(10)
        data(b"", 429)(exchange)

    with proxy(tmp_path, fail, fail, completion("a", usage=USAGE)) as arena:
        path = arena.open()
        threads = [threading.Thread(target=post, args=(path, ASK)) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        ended = [time for time in arena.times if time.excused_from]
        lengths = [time.excused_from - time.excused_to for time in ended]
        assert len(lengths) == 2
        # Each call waits at least half a second between its tries.
        assert min(lengths) - 0.01 < excused_ms(path) / 1000 < sum(lengths) - 0.4


def excused_ms(path: Path) -> int:
    with closing(UnixConnection(path)) as connection:
        connection.request("GET", "/v1/clock")
        document = json.loads(connection.getresponse().read())
    milliseconds: int = document["excused_ms"]
    return milliseconds


def test_an_endpoint_that_keeps_failing_pauses_the_match(tmp_path: Path) -> None:
    with proxy(tmp_path, data(b"", 500)) as arena:
        assert post(arena.open(repeat_seconds=0), ASK)[0] == 503
        assert len(arena.lost) == 1


def test_a_refused_reservation_pauses_the_match_before_the_call(tmp_path: Path) -> None:
    with proxy(tmp_path, message("a")) as arena:
        arena.calls.refusal = "All calls are stopped."
        assert post(arena.open(), ASK)[0] == 503
        assert arena.lost == ["All calls are stopped."]
        assert arena.upstream.requests == []


def test_a_refused_request_is_the_bots_own(tmp_path: Path) -> None:
    body = json.dumps({"error": {"message": "request req-123 too long"}}).encode()
    with proxy(tmp_path, data(body, 400)) as arena:
        status, _, document = post(arena.open(), ASK)
        assert (status, document["error"]["code"]) == (400, "invalid_request")
        assert "req-123" not in json.dumps(document)
        assert arena.lost == []
    assert arena.calls.figures == [CallFigures()]


def test_a_transcript_answers_equal_requests_without_calls(tmp_path: Path) -> None:
    texts = [completion(text, usage=USAGE) for text in ("first", "second", "third")]
    other = {**ASK, "temperature": 0.5}
    with proxy(tmp_path, *texts) as arena:
        path = arena.open()
        played = [post(path, body) for body in (ASK, other, ASK)]
        recorded = RecordedReplies(tmp_path, "bot@1")
        calls = len(arena.calls.figures)
        path = arena.open(recorded=recorded)
        assert [post(path, body) for body in (ASK, other, ASK)] == played
        assert len(arena.upstream.requests) == 3
        assert len(arena.calls.figures) == calls
        assert post(path, ASK)[0] == 503
        assert len(arena.lost) == 1
    file = tmp_path / "bot@1.models.jsonl"
    assert file.stat().st_mode & 0o077 == 0
    assert KEY not in file.read_text()


def test_a_full_transcript_does_not_grow_and_calls_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transcripts, "MOST_BYTES", 600)
    with proxy(tmp_path, completion("a", usage=USAGE)) as arena:
        path = arena.open()
        assert [post(path, ASK)[0] for _ in range(5)] == [200] * 5
    file = tmp_path / "bot@1.models.jsonl"
    lines = file.read_text().splitlines()
    assert file.stat().st_size <= 600
    assert 0 < len(lines) < 5
    assert all(map(json.loads, lines))


def test_a_bot_cannot_hold_all_connections_of_the_endpoint(tmp_path: Path) -> None:
    with proxy(tmp_path, completion("a", usage=USAGE)) as arena:
        path = arena.open()
        open_connections = [socket.socket(socket.AF_UNIX) for _ in range(12)]
        for client in open_connections:
            client.connect(str(path))
        ended = open_connections[-1].recv(1)
        assert ended == b""
        for client in open_connections:
            client.close()
        wait_until(lambda: _answers(path))


@pytest.mark.parametrize("keeps_connection", [True, False])
def test_requests_beyond_a_rate_wait(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, keeps_connection: bool
) -> None:
    monkeypatch.setattr(table_endpoint, "_REQUEST_BURST", 1)
    with proxy(tmp_path) as arena:
        connection = UnixConnection(arena.open(calls_per_minute=1))
        began = time.monotonic()
        for _ in range(6):
            connection.request("POST", "/v1/chat/completions", b"{")
            response = connection.getresponse()
            assert (response.status, bool(response.read())) == (400, True)
            if not keeps_connection:
                connection.close()
        connection.close()
    assert time.monotonic() - began >= 5 / table_endpoint._REQUESTS_PER_SECOND


def _answers(path: Path) -> bool:
    try:
        return post(path, ASK)[0] == 200
    except (OSError, http.client.HTTPException):
        return False


def test_calls_of_one_table_run_at_the_same_time(tmp_path: Path) -> None:
    both = threading.Barrier(2)

    def together(exchange: Any) -> None:
        both.wait(10)
        completion("a", usage=USAGE)(exchange)

    with proxy(tmp_path, together) as arena:
        path = arena.open()
        results: list[int] = []
        ask: Callable[[], None] = lambda: results.append(post(path, ASK)[0])  # noqa: E731
        threads = [threading.Thread(target=ask) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert results == [200, 200]
