"""The client of the object storage: contents, addresses, and one sentence for each error."""

import hashlib
import io
import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from obstore.store import MemoryStore

from arena.store.objects import object_storage
from arena.store.objects.object_storage import ObjectMissing, ObjectStorage, ObjectStorageError
from tests.errors import has_code

LARGE = os.urandom(6 << 20)


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


@pytest.fixture(params=["memory", "folder"])
def storage(request: pytest.FixtureRequest, tmp_path: Path) -> ObjectStorage:
    if request.param == "memory":
        return ObjectStorage(MemoryStore(), "memory")
    return object_storage.from_url(f"file://{tmp_path}/objects")


@pytest.mark.parametrize("content", [b"", b"small", LARGE], ids=["empty", "small", "large"])
def test_an_object_is_read_as_it_was_written(storage: ObjectStorage, content: bytes) -> None:
    file = io.BytesIO(b"before" + content)
    file.seek(len(b"before"))
    storage.put("a/b", file)
    assert b"".join(storage.read("a/b", sha256(content))) == content
    assert storage.size("a/b") == len(content)
    assert list(storage.listing()) == ["a/b"]
    for _ in range(2):
        storage.delete("a/b")
    assert list(storage.listing()) == []


def test_a_changed_object_is_refused(storage: ObjectStorage) -> None:
    storage.put("a", io.BytesIO(b"changed"))
    with pytest.raises(ObjectStorageError, check=has_code("object-damaged")):
        list(storage.read("a", sha256(b"original")))


def test_a_missing_object_is_reported(storage: ObjectStorage) -> None:
    with pytest.raises(ObjectMissing, check=has_code("object-missing")):
        list(storage.read("a", sha256(b"")))
    with pytest.raises(ObjectMissing):
        storage.size("a")


def test_the_probe_leaves_no_object(storage: ObjectStorage) -> None:
    storage.probe()
    assert list(storage.listing()) == []


@pytest.mark.parametrize(
    "url",
    ["bucket", "s3://", "s3://Bucket", "https://a:secret@host/b", "file://relative", "s3:///x"],
)
def test_an_invalid_address_is_refused_without_its_password(url: str) -> None:
    with pytest.raises(ObjectStorageError, check=has_code("not-an-address")) as caught:
        object_storage.from_url(url)
    assert "secret" not in str(caught.value)


def test_the_client_is_an_optional_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "obstore.store", None)
    with pytest.raises(ObjectStorageError, check=has_code("package-missing")) as caught:
        object_storage.from_url("s3://bucket")
    assert "pokearena[s3]" in str(caught.value)


def test_the_environment_names_the_storage(tmp_path: Path) -> None:
    assert object_storage.from_environment({}) is None
    (tmp_path / "url").write_text("s3://bucket/arena/\n")
    named = object_storage.from_environment(
        {"POKEARENA_OBJECT_STORAGE_URL_FILE": str(tmp_path / "url")}
    )
    assert named is not None
    assert named.shown == "s3://bucket/arena"


Answer = Callable[[int, str], None]


@pytest.fixture
def answer(monkeypatch: pytest.MonkeyPatch) -> Iterator[Answer]:
    """Run an S3 server that answers every request with a status and an error document."""

    class Refusal(BaseHTTPRequestHandler):
        status, document = 500, ""

        def do_GET(self) -> None:
            body = self.document.encode()
            self.send_response(self.status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def do_PUT(self) -> None:
            self.do_GET()

        def log_request(self, *_: object) -> None:
            pass

    def set_answer(status: int, document: str) -> None:
        Refusal.status, Refusal.document = status, document

    server = ThreadingHTTPServer(("127.0.0.1", 0), Refusal)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{server.server_port}")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "key")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "hush")
    yield set_answer
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.mark.parametrize(
    ("status", "error", "message", "code"),
    [
        (403, "SignatureDoesNotMatch", "The signature is wrong.", "access-denied"),
        (401, "Unauthorized", "Who are you?", "access-denied"),
        (404, "NoSuchBucket", "The bucket does not exist.", "no-bucket"),
        (404, "NoSuchKey", "The key does not exist.", "object-missing"),
        (400, "InvalidRequest", "Not like this.", "cannot-connect"),
        (503, "SlowDown", "Please retry later.", "cannot-connect"),
    ],
)
def test_an_error_of_the_server_is_one_sentence(
    answer: Answer, status: int, error: str, message: str, code: str
) -> None:
    answer(status, f"<Error><Code>{error}</Code><Message>{message}</Message></Error>")
    storage = object_storage.from_url("s3://bucket/prefix")
    with pytest.raises(ObjectStorageError, check=has_code(code)) as caught:
        list(storage.read("a", sha256(b"")))
    text = str(caught.value)
    assert "s3://bucket/prefix" in text
    assert len(text.splitlines()) == 1
    assert text.endswith(".")
    assert not text.endswith("..")
    assert "hush" not in text
    if code == "cannot-connect":
        assert message.removesuffix(".") in text


def test_an_unreachable_server_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "key")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "hush")
    storage = object_storage.from_url("s3://bucket")
    with pytest.raises(ObjectStorageError, check=has_code("cannot-connect")) as caught:
        storage.probe()
    assert str(caught.value) == (
        "the object storage s3://bucket cannot be used: Connection refused."
    )


FORKED = """
import io, json, os, sys
from arena.store.objects import object_storage
storage = object_storage.from_url(sys.argv[1])
codes = []
def child():
    reading, writing = os.pipe()
    if os.fork() == 0:
        try:
            storage.put("a", io.BytesIO(b"a"))
            os.write(writing, b"written")
        except object_storage.ObjectStorageError as error:
            os.write(writing, error.code.encode())
        os._exit(0)
    os.wait()
    return os.read(reading, 100).decode()
before = child()
storage.put("a", io.BytesIO(b"a"))
print(json.dumps([before, child()]))
"""


def test_a_fork_can_use_the_storage_only_if_its_parent_has_not(tmp_path: Path) -> None:
    """The threads of obstore do not exist in a fork, so that it would wait for ever."""
    command = [sys.executable, "-c", FORKED, f"file://{tmp_path}"]
    result = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    assert json.loads(result.stdout) == ["written", "forked"]
