"""Commands wait and repeat their request while an arena answers 429."""

import json
import random
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from arena.api_client import ArenaClient
from arena.cli.bots import arena_requests, push
from arena.cli.errors import FAILED, UNREACHABLE, CommandError

DATE = "Fri, 27 Nov 2026 12:00:00 GMT"
LATER = "Fri, 27 Nov 2026 12:00:05 GMT"
TOMORROW = "Sat, 28 Nov 2026 12:00:00 GMT"
Response = tuple[int, dict[str, str], bytes]
BUSY = b'{"error": "too many requests; retry in 3 s."}'


@contextmanager
def scripted(*responses: Response) -> Iterator[ArenaClient]:
    """Serve these responses, one for each request, and repeat the last one."""
    left = list(responses)

    class Handler(BaseHTTPRequestHandler):
        def respond(self) -> None:
            status, headers, body = left.pop(0) if len(left) > 1 else left[0]
            self.send_response_only(status)
            for name, value in {"Date": DATE, "Content-Length": str(len(body)), **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        do_GET = do_POST = respond  # noqa: N815

        def log_message(self, *_: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield ArenaClient(f"http://127.0.0.1:{server.server_port}", "token")
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Record the pauses instead of waiting, without their random factor; the clock follows."""
    made: list[float] = []
    monkeypatch.setattr(time, "sleep", made.append)
    monkeypatch.setattr(time, "monotonic", lambda: sum(made))
    monkeypatch.setattr(random, "uniform", lambda least, most: least)
    return made


def busy(**headers: str) -> Response:
    return 429, {name.replace("_", "-"): value for name, value in headers.items()}, BUSY


OK: Response = 200, {}, b'{"page": "/"}'


@pytest.mark.parametrize(
    ("headers", "pause"),
    [
        ({"Retry_After": "3"}, 3),
        ({"Retry_After": "0"}, 1),
        ({"Retry_After": LATER}, 5),
        ({"Retry_After": "Thu, 01 Jan 1970 00:00:00 GMT"}, 1),
        ({}, 1),
        ({"Retry_After": "soon"}, 1),
        ({"Retry_After": "-3"}, 1),
        ({"Retry_After": "\u00b2"}, 1),
    ],
)
def test_a_request_is_repeated_after_the_requested_time(
    pauses: list[float],
    capsys: pytest.CaptureFixture[str],
    headers: dict[str, str],
    pause: float,
) -> None:
    with scripted(busy(**headers), OK) as arena:
        content = arena_requests.content_of(arena, arena.get_challenges)
    assert (content, pauses) == ({"page": "/"}, [pause])
    assert "too many requests" in capsys.readouterr().err


def test_pauses_without_a_header_grow(pauses: list[float]) -> None:
    with scripted(*[busy()] * 7, OK) as arena:
        arena_requests.content_of(arena, arena.get_challenges)
    assert pauses == [1, 2, 4, 8, 10, 10, 10]


@pytest.mark.parametrize("wait", ["11", "60", "3600", "9" * 400, TOMORROW])
def test_a_limit_per_day_is_not_waited_for(pauses: list[float], wait: str) -> None:
    with scripted(busy(Retry_After=wait)) as arena, pytest.raises(CommandError) as refused:
        arena_requests.content_of(arena, arena.get_challenges)
    assert (refused.value.code, refused.value.status, pauses) == ("refused", FAILED, [])


def test_a_command_gives_up_after_five_minutes(
    pauses: list[float], capsys: pytest.CaptureFixture[str]
) -> None:
    with scripted(busy(Retry_After="7")) as arena, pytest.raises(CommandError) as refused:
        arena_requests.content_of(arena, arena.get_challenges)
    assert refused.value.code == "refused"
    assert 300 <= sum(pauses) < 310
    assert 10 < len(capsys.readouterr().err.splitlines()) <= 30


def test_an_arena_that_starts_is_asked_for_ten_seconds(pauses: list[float]) -> None:
    with scripted((503, {}, b"")) as arena, pytest.raises(CommandError) as refused:
        arena_requests.content_of(arena, arena.get_challenges)
    assert (refused.value.status, sum(pauses)) == (UNREACHABLE, 10)


def test_a_submission_is_followed_through_a_busy_time(pauses: list[float]) -> None:
    state = {"submission": "s-1", "state": "running", "stage": "testing", "stages": []}
    decided = json.dumps({**state, "state": "accepted"}).encode()
    with scripted(busy(Retry_After="2"), busy(), (200, {}, decided)) as arena:
        *_, last = push.follow(arena, state)
    assert last["state"] == "accepted"
    assert pauses == [0.5, 2, 2]


def test_a_push_waits_for_its_turn_in_a_full_queue(pauses: list[float]) -> None:
    with scripted(busy(Retry_After="60"), OK) as arena:
        arena_requests.content_of(arena, arena.get_challenges, push._QUEUE_PAUSE_SECONDS)
    assert pauses == [60]
