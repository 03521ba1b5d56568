"""Test the sockets, addresses and liveness checks of the web server process."""

import threading
from argparse import ArgumentParser
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from arena.services.web_process import (
    Pages,
    PortTaken,
    WebSettings,
    add_arguments,
    listen,
    listen_near,
    settings_from,
)


def test_a_used_port_is_refused() -> None:
    with listen("127.0.0.1", 0) as first:
        port = first.getsockname()[1]
        with pytest.raises(PortTaken, match=str(port)):
            listen("127.0.0.1", port)


def test_the_next_free_port_is_taken_where_nobody_minds() -> None:
    with listen("127.0.0.1", 0) as first:
        port = first.getsockname()[1]
        with listen_near("127.0.0.1", port) as second:
            assert second.getsockname()[1] != port


def test_the_address_is_one_that_a_browser_can_open() -> None:
    with listen("0.0.0.0", 0) as listening:
        port = listening.getsockname()[1]
        assert Pages(listening).address == f"http://127.0.0.1:{port}/"


def test_what_others_can_read_of_the_command_line_are_settings_only() -> None:
    with listen("127.0.0.1", 0) as listening:
        manners = WebSettings(spectators=False, delay=3.0, rate=0, proxied=True)
        words = Pages(listening, manners).arguments()
        assert words.pop(0) == f"--socket={listening.fileno()}"
    parser = ArgumentParser()
    add_arguments(parser)
    assert settings_from(parser.parse_args(words)) == manners


def test_a_socket_at_which_nobody_answers_is_no_server() -> None:
    with listen("127.0.0.1", 0) as listening:
        assert not Pages(listening).answers(0.05)


@pytest.mark.parametrize(("status", "answers"), [(200, True), (503, False)])
def test_a_server_answers_if_it_says_that_it_is_alive(status: int, answers: bool) -> None:
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
