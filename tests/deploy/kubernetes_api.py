"""A stand-in of the Kubernetes API that Helm asks for Secrets."""

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

VERSION = {"major": "1", "minor": "33", "gitVersion": "v1.33.0"}
RESOURCES = [
    {"name": "secrets", "singularName": "secret", "kind": "Secret", "namespaced": True}
    | {"verbs": ["get"]}
]


@contextmanager
def served_secrets(secrets: Mapping[str, str]) -> Iterator[str]:
    """Serve Secrets of the namespace "default"; yield the URL.

    Args:
        secrets: the resource version of each Secret.
    """

    def answer(path: str) -> dict[str, Any] | None:
        namespace = "/api/v1/namespaces/default/secrets/"
        name = path.removeprefix(namespace)
        if path == "/version":
            return VERSION
        if path == "/api":
            return {"kind": "APIVersions", "versions": ["v1"]}
        if path == "/apis":
            return {"kind": "APIGroupList", "apiVersion": "v1", "groups": []}
        if path == "/api/v1":
            return {"kind": "APIResourceList", "groupVersion": "v1", "resources": RESOURCES}
        if path.startswith(namespace) and name in secrets:
            metadata = {"name": name, "namespace": "default", "resourceVersion": secrets[name]}
            return {"kind": "Secret", "apiVersion": "v1", "metadata": metadata, "data": {}}
        return None

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            document = answer(self.path.partition("?")[0])
            status = {"kind": "Status", "apiVersion": "v1", "status": "Failure"}
            body = json.dumps(document or {**status, "reason": "NotFound", "code": 404}).encode()
            self.send_response(404 if document is None else 200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args: Any) -> None:
            """Do not log requests."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()
