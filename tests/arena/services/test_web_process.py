"""Test the sockets, addresses and liveness checks of the web server process."""

import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import msgspec
import pytest

from arena.services.web_process import (
    Pages,
    PortTaken,
    WebSettings,
    listen,
    listen_near,
)


def test_a_used_port_is_refused() -> None:
    with listen("127.0.0.1", 0) as first:
        port = first.getsockname()[1]
        with pytest.raises(PortTaken):
            listen("127.0.0.1", port)


def test_without_a_required_port_the_next_free_one_is_used() -> None:
    with listen("127.0.0.1", 0) as first:
        port = first.getsockname()[1]
        with listen_near("127.0.0.1", port) as second:
            assert second.getsockname()[1] != port


def test_the_printed_address_can_be_opened() -> None:
    with listen("0.0.0.0", 0) as listening:
        port = listening.getsockname()[1]
        assert Pages(listening).address == f"http://127.0.0.1:{port}/"
        settings = WebSettings(root_path="/arena")
        assert Pages(listening, settings).address == f"http://127.0.0.1:{port}/arena/"


def test_the_command_line_contains_only_settings() -> None:
    with listen("127.0.0.1", 0) as listening:
        settings = WebSettings(spectators=False, delay=3.0, proxied=True, root_path="/arena")
        words = Pages(listening, settings).arguments()
        assert words.pop(0) == f"--socket={listening.fileno()}"
    (option,) = words
    assert msgspec.json.decode(option.removeprefix("--settings="), type=WebSettings) == settings


def test_a_socket_without_a_server_does_not_answer() -> None:
    with listen("127.0.0.1", 0) as listening:
        assert not Pages(listening).answers(0.05)


@pytest.mark.parametrize(("status", "answers"), [(200, True), (503, False)])
def test_a_server_with_a_passing_health_check_answers(status: int, answers: bool) -> None:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status if self.path == "/healthz" else 404)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            assert Pages(server.socket).answers(10) is answers
        finally:
            server.shutdown()
            thread.join()
