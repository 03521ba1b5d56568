"""HTTP server for Prometheus metrics, at an address that should not be public."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterable, Iterator
from socketserver import ThreadingMixIn
from typing import TYPE_CHECKING, Any
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer

from prometheus_client import make_wsgi_app

from arena.services.metrics_collector import ArenaCollector, registry

if TYPE_CHECKING:
    from wsgiref.types import StartResponse, WSGIEnvironment


METRICS, ALIVE = "/metrics", "/healthz"
_SILENT_SECONDS = 10.0


class CannotListen(OSError):
    """The address cannot be bound. The exception's text is a sentence for people."""


class _Handler(WSGIRequestHandler):
    """Does not log requests, and closes silent connections after 10 s."""

    timeout = _SILENT_SECONDS

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the library's name
        """Do not log requests."""


class _Server(ThreadingMixIn, WSGIServer):
    daemon_threads = True


class _ServerOfSix(_Server):
    address_family = socket.AF_INET6


@contextlib.contextmanager
def served(collector: ArenaCollector, host: str, port: int) -> Iterator[str]:
    """Serve the metrics in threads of this process until the block ends; yield their URL.

    Matches that close from now on are counted.

    Args:
        host: IPv4 or IPv6 address, or a host name.
        port: 0 selects a free port.

    Raises:
        CannotListen: the address cannot be bound.
    """
    answer = make_wsgi_app(registry(collector))

    def app(environ: WSGIEnvironment, start: StartResponse) -> Iterable[bytes]:
        if environ["PATH_INFO"] == METRICS:
            answered: Iterable[bytes] = answer(environ, start)
            return answered
        known = environ["PATH_INFO"] == ALIVE
        start("200 OK" if known else "404 Not Found", [("Content-Type", "text/plain")])
        return [b"alive\n" if known else b"there are /metrics and /healthz\n"]

    try:
        server = (_ServerOfSix if ":" in host else _Server)((host, port), _Handler)
    except OSError as error:
        raise CannotListen(
            f"metrics cannot be served at {host} port {port}: {error.strerror}; another port may "
            "be free, 0 takes one that is."
        ) from None
    server.set_app(app)
    collector.count()
    thread = threading.Thread(target=server.serve_forever, name="metrics", daemon=True)
    thread.start()
    try:
        shown = f"[{host}]" if ":" in host else host
        yield f"http://{shown}:{server.server_port}{METRICS}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
