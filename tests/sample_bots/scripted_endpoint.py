"""An endpoint of the OpenAI chat form on loopback that answers from a script."""

import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Send = Callable[["Exchange"], None]
"""Writes the response to a request."""


class Exchange:
    def __init__(self, handler: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
        self.handler = handler
        self.body = body

    @property
    def messages(self) -> list[dict[str, str]]:
        messages: list[dict[str, str]] = self.body["messages"]
        return messages

    def send(self, status: int, kind: str, data: bytes, **headers: str) -> None:
        self.handler.send_response(status)
        for name, value in headers.items():
            self.handler.send_header(name.replace("_", "-"), value)
        self.handler.send_header("Content-Type", kind)
        self.handler.send_header("Content-Length", str(len(data)))
        self.handler.end_headers()
        self.handler.wfile.write(data)

    def begin_stream(self, *events: str) -> None:
        """Send the beginning of a stream of events; it ends with the connection."""
        self.handler.send_response(200)
        self.handler.send_header("Content-Type", "text/event-stream")
        self.handler.end_headers()
        self.handler.wfile.write("".join(f"data: {event}\n\n" for event in events).encode())
        self.handler.wfile.flush()


def message(text: str, finish: str = "stop", **members: Any) -> Send:
    choice = {"message": {"content": text, **members}, "finish_reason": finish}
    return data(json.dumps({"choices": [choice]}).encode())


def data(body: bytes, status: int = 200, kind: str = "application/json", **headers: str) -> Send:
    return lambda exchange: exchange.send(status, kind, body, **headers)


def delta(text: str, finish: str | None = None) -> str:
    return json.dumps({"choices": [{"delta": {"content": text}, "finish_reason": finish}]})


def stream(*events: str) -> Send:
    return lambda exchange: exchange.begin_stream(*events)


def reset(exchange: Exchange) -> None:
    exchange.handler.connection.shutdown(socket.SHUT_RDWR)


class ScriptedEndpoint:
    """The endpoint: the n-th request gets the n-th response, later requests the last one."""

    def __init__(self, script: tuple[Send, ...]) -> None:
        self._script = script
        self._lock = threading.Lock()
        self.requests: list[dict[str, Any]] = []
        self.keys: list[str | None] = []
        self.released = threading.Event()
        """Set at the end: responses that stall wait for it."""
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.server.daemon_threads = True

    @property
    def base_url(self) -> str:
        """The address for `bot.toml`."""
        return f"http://127.0.0.1:{self.server.server_port}/v1"

    def stall(self, *events: str) -> Send:
        def send(exchange: Exchange) -> None:
            exchange.begin_stream(*events)
            self.released.wait()

        return send

    def set_script(self, *script: Send) -> None:
        self._script = script

    def respond(self, exchange: Exchange, key: str | None) -> None:
        with self._lock:
            number = len(self.requests)
            self.requests.append(exchange.body)
            self.keys.append(key)
        self._script[min(number, len(self._script) - 1)](exchange)

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        endpoint = self

        class Handler(BaseHTTPRequestHandler):
            # Otherwise a body waits 40 ms for the acknowledgement of its headers.
            disable_nagle_algorithm = True

            def do_POST(self) -> None:
                size = int(self.headers["Content-Length"])
                body = json.loads(self.rfile.read(size))
                try:
                    endpoint.respond(Exchange(self, body), self.headers.get("Authorization"))
                except OSError:
                    self.close_connection = True

            def log_message(self, *_: Any) -> None:
                """Print nothing."""

        return Handler


@contextmanager
def scripted_endpoint(*script: Send) -> Iterator[ScriptedEndpoint]:
    endpoint = ScriptedEndpoint(script)
    thread = threading.Thread(target=endpoint.server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield endpoint
    finally:
        endpoint.released.set()
        endpoint.server.shutdown()
        endpoint.server.server_close()
        thread.join()
