"""A receiver of webhooks at a real address, in a thread of the test."""

import base64
import hashlib
import hmac
import ssl
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path


@dataclass(frozen=True)
class ReceivedRequest:
    """A request to the receiver."""

    headers: dict[str, str]
    body: bytes

    def is_signed_with(self, secret: str) -> bool:
        """Verify the signature as the specification Standard Webhooks describes."""
        key = base64.b64decode(secret.split("_", 1)[1])
        content = b".".join(
            (
                self.headers["webhook-id"].encode(),
                self.headers["webhook-timestamp"].encode(),
                self.body,
            )
        )
        expected = base64.b64encode(hmac.new(key, content, hashlib.sha256).digest()).decode()
        return f"v1,{expected}" in self.headers["webhook-signature"].split(" ")


@dataclass
class WebhookReceiver:
    """The requests received so far, and the statuses of the next responses."""

    url: str = ""
    requests: list[ReceivedRequest] = field(default_factory=list)
    statuses: list[int] = field(default_factory=list)
    """Statuses of the next responses; then 204."""
    headers: dict[str, str] = field(default_factory=dict)
    """Headers of each response."""
    hold: threading.Event | None = None
    """Responses wait for this event."""


@contextmanager
def receiver(
    statuses: Sequence[int] = (), certificate: Path | None = None
) -> Iterator[WebhookReceiver]:
    """Receive requests until the block ends.

    Args:
        statuses: the statuses of the first responses.
        certificate: PEM file with certificate and key; None: without TLS.
    """
    state = WebhookReceiver(statuses=list(statuses))

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            headers = {name.lower(): value for name, value in self.headers.items()}
            state.requests.append(ReceivedRequest(headers, body))
            if state.hold is not None:
                state.hold.wait()
            self.send_response(state.statuses.pop(0) if state.statuses else 204)
            for name, value in state.headers.items():
                self.send_header(name, value)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Print nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    if certificate is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    scheme = "http" if certificate is None else "https"
    state.url = f"{scheme}://127.0.0.1:{server.server_port}/hook?key=1"
    try:
        yield state
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
