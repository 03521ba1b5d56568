"""Uploads of bots over HTTP are stored, or refused with a status and a message."""

import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

import pytest
from httpx2 import Response
from starlette.testclient import TestClient

from arena.api_client import ArenaClient
from arena.cli.workspace import Workspace
from arena.store.bots import owners, submissions, versions
from arena.store.schema import SubmissionState
from arena.submissions.pending_uploads import PendingUploads
from arena.web.app import create
from arena.web.data.web_state import ServerSettings, WebState
from arena.web.serving import request_limits, uploads
from tests.arena.web.page_server import served
from tests.arena.web.stored_submissions import add_submission

UPLOAD = b"\x1f\x8b not looked at here"


class UploadServer:
    """An arena that accepts uploads, with two owners."""

    def __init__(self, folder: Path) -> None:
        self.workspace = Workspace(folder / "data")
        self.pending_uploads = PendingUploads(self.workspace.folder.submissions)
        self.tokens = {
            name: owners.add_owner(self.workspace.store, name) for name in ("ada", "bob")
        }
        self.settings = ServerSettings(rate=0, pending_uploads=self.pending_uploads, push_mib=1)
        self.stack = ExitStack()

    def client(self, **changed: Any) -> TestClient:
        """Return a client of the pages, with these settings changed."""
        web = WebState(self.workspace.store, replace(self.settings, **changed))
        return self.stack.enter_context(TestClient(create(web)))

    @cached_property
    def default_client(self) -> TestClient:
        """A client of the pages with the settings of the server."""
        return self.client()

    def post(
        self,
        path: str = "",
        content: bytes = UPLOAD,
        owner: str = "ada",
        client: TestClient | None = None,
    ) -> Response:
        """Send an upload of an owner, by default to the address of `mybot`."""
        headers = self.authorization(owner)
        client = client or self.default_client
        return client.post(path or address(), headers=headers, content=content)

    @contextmanager
    def sending(self, length_header: str, begun: bytes = b"") -> Iterator[socket.socket]:
        """Open a connection on which the server expects an upload with this length header.

        Args:
            length_header: the header.
            begun: the begin of the upload, which is sent at once with the headers.
        """
        url = urlsplit(
            self.stack.enter_context(served(WebState(self.workspace.store, self.settings)))
        )
        with socket.create_connection((url.hostname, url.port), 30) as line:
            head = f"POST {address()} HTTP/1.1\r\nHost: x\r\n{length_header}\r\n"
            head += f"Authorization: Bearer {self.tokens['ada']}\r\n\r\n"
            line.sendall(head.encode() + begun)
            yield line

    def authorization(self, owner: str = "ada") -> dict[str, str]:
        """Return the header with the token of an owner."""
        return {"Authorization": f"Bearer {self.tokens[owner]}"}


@pytest.fixture
def upload_server(tmp_path: Path) -> Iterator[UploadServer]:
    upload_server = UploadServer(tmp_path)
    with upload_server.stack, upload_server.pending_uploads.attended():
        yield upload_server


def address(name: str = "mybot", content: str = "5", version: str = "") -> str:
    """Return the address at which an upload is announced and sent."""
    return "/submissions?" + urlencode({"name": name, "content": content * 64, "version": version})


def stored_uploads(upload_server: UploadServer) -> list[str]:
    """Return the names of the stored uploads."""
    return sorted(
        path.name for path in upload_server.pending_uploads.root.iterdir() if path.name != "lock"
    )


def test_an_upload_is_stored_and_queued(upload_server: UploadServer) -> None:
    client = upload_server.client()
    response = upload_server.post(content=b"", client=client)
    assert (response.status_code, response.json()) == (200, {"wanted": True, "most_bytes": 2**20})
    assert stored_uploads(upload_server) == []
    answer = upload_server.post(client=client)
    document = answer.json()
    name = document["submission"]
    assert (answer.status_code, answer.headers["location"]) == (201, f"/submissions/{name}")
    assert (document["state"], document["owner"], document["bot"]) == ("waiting", "ada", "mybot")
    assert upload_server.pending_uploads.archive(name).read_bytes() == UPLOAD
    submission = submissions.find_submission(upload_server.workspace.store, name)
    assert (submission.content_hash, submission.bytes) == ("5" * 64, len(UPLOAD))
    # A client that lost the response sends the upload again.
    for body in (b"", UPLOAD):
        again = upload_server.post(content=body, client=client)
        assert (again.status_code, again.json()["submission"]) == (200, name)
    assert stored_uploads(upload_server) == [f"{name}.tar.gz"]


def check_refused(answer: Any, status: int, *words: str) -> None:
    """Check that the response has this status and a sentence with these words."""
    assert (answer.status_code, answer.headers["content-type"]) == (status, "application/json")
    sentence = answer.json()["error"]
    assert sentence.endswith(".")
    for word in words:
        assert word in sentence


def test_a_request_without_a_valid_token_is_refused(upload_server: UploadServer) -> None:
    client = upload_server.client()
    for headers in ({}, {"Authorization": "Bearer nonsense"}, {"Authorization": "Basic eA=="}):
        answer = client.post(address(), headers=headers, content=UPLOAD)
        check_refused(answer, 401, "`pokearena owner add`")
        assert answer.headers["www-authenticate"] == "Bearer"
    # A token in a form or in the address is ignored.
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    token = upload_server.tokens["ada"]
    check_refused(client.post(address(), headers=form, content=f"token={token}"), 401)
    check_refused(client.post(f"{address()}&token={token}", content=UPLOAD), 401)
    assert stored_uploads(upload_server) == []


def test_the_bot_name_of_another_owner_and_existing_content_are_refused(
    upload_server: UploadServer,
) -> None:
    store = upload_server.workspace.store
    versions.add_version(store, "mybot", "7", "5" * 64, "/x", {}, "ada")
    for body in (b"", UPLOAD):
        check_refused(upload_server.post(content=body, owner="bob"), 403, "belongs to ada")
        check_refused(upload_server.post(address("greedy"), body), 403, "house bot")
        check_refused(upload_server.post(content=body), 409, "here already, as mybot@7")
        other = address(content="6", version="7")
        check_refused(upload_server.post(other, body), 409, "a version never changes")
    assert stored_uploads(upload_server) == []


@pytest.mark.parametrize(
    "wrong",
    [address("No"), address(""), address(content="x"), address(version="/"), "/submissions"],
)
def test_an_invalid_announcement_is_refused(upload_server: UploadServer, wrong: str) -> None:
    check_refused(upload_server.post(wrong), 422)


def test_a_declared_oversized_upload_is_refused_unread(upload_server: UploadServer) -> None:
    large = upload_server.post(content=bytes(2**20 + 1))
    check_refused(large, 413, "larger than 1048576 bytes")
    assert stored_uploads(upload_server) == []


def test_a_chunked_oversized_upload_is_cut_off(upload_server: UploadServer) -> None:
    """Send an upload in chunks, without a total length."""
    with upload_server.sending("Transfer-Encoding: chunked") as line:
        piece = b"%x\r\n" % 2**16 + bytes(2**16) + b"\r\n"
        # The upload is endless, so that only the server can end it.
        for _ in range(17):
            line.sendall(piece)
        answer = line.recv(2**16).decode()
        while "larger than 1048576 bytes" not in answer:
            answer += line.recv(2**16).decode()
    assert answer.startswith("HTTP/1.1 413 ")
    assert stored_uploads(upload_server) == []


def test_a_stalled_upload_times_out(
    upload_server: UploadServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uploads, "_SILENT_SECONDS", 0.2)
    with upload_server.sending("Content-Length: 1000", b"begun") as line:
        assert line.recv(2**16).startswith(b"HTTP/1.1 408 ")
    assert stored_uploads(upload_server) == []


def test_a_slow_upload_times_out(
    upload_server: UploadServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(request_limits, "PUSH_SECONDS", 0.3)
    with upload_server.sending("Content-Length: 1000") as line:
        line.settimeout(0.05)
        while True:
            # The server may close the connection meanwhile; its response can still be read.
            with suppress(ConnectionError):
                line.sendall(b"x")
            try:
                answer = line.recv(2**16)
            except TimeoutError:
                continue
            break
    assert answer.startswith(b"HTTP/1.1 408 ")
    assert stored_uploads(upload_server) == []


def test_an_aborted_upload_leaves_no_file(upload_server: UploadServer) -> None:
    with upload_server.sending("Content-Length: 1000") as line:
        line.sendall(b"begun")
        while not stored_uploads(upload_server):
            pass
    while stored_uploads(upload_server):
        pass
    assert submissions.list_submissions(upload_server.workspace.store) == ()


def test_the_daily_submissions_of_an_owner_are_limited(upload_server: UploadServer) -> None:
    client = upload_server.client(pushes=4)
    for content in "123":
        assert upload_server.post(address(content=content), client=client).is_success
    for body in (b"", UPLOAD):
        answer = upload_server.post(address(content="4"), body, client=client)
        check_refused(answer, 429, "3 submissions of ada are being worked on")
        assert int(answer.headers["retry-after"]) > 0
    assert upload_server.post(address("other"), owner="bob", client=client).is_success
    for upload in submissions.undecided(upload_server.workspace.store):
        state = SubmissionState.REFUSED
        submissions.decide(upload_server.workspace.store, upload.id, state, "no.", status=422)
    assert upload_server.post(address(content="4"), client=client).is_success
    answer = upload_server.post(address(content="5"), client=client)
    check_refused(answer, 429, "4 submissions within a day")


def test_an_owner_has_a_limited_number_of_active_versions(upload_server: UploadServer) -> None:
    store = upload_server.workspace.store
    for name, number in (("other", 1), ("mybot", 1), ("mybot", 2)):
        versions.add_version(store, name, str(number), f"{number}" * 64, "/x", {}, "ada")
    client = upload_server.client(active_versions=3)
    for body in (b"", UPLOAD):
        answer = upload_server.post(content=body, client=client)
        check_refused(answer, 409, "`pokearena bot retire mybot@1 --to URL`")
    assert upload_server.post(address("bobs"), owner="bob", client=client).is_success
    new = upload_server.post(address("new"), b"", client=client)
    check_refused(new, 409, "retire other@1 ")
    unlimited = upload_server.client(active_versions=0)
    assert upload_server.post(content=b"", client=unlimited).is_success
    versions.retire(store, "other@1")
    assert upload_server.post(client=client).is_success


def test_the_waiting_submissions_of_all_owners_are_limited(upload_server: UploadServer) -> None:
    for number in range(20):
        for content in "abc":
            add_submission(upload_server.workspace, f"owner{number}", f"bot{number}", content)
    check_refused(upload_server.post(), 429, "60 submissions wait already")


def test_an_arena_without_a_runner_refuses_uploads(tmp_path: Path) -> None:
    upload_server = UploadServer(tmp_path)
    with upload_server.stack:
        answer = upload_server.post()
        check_refused(answer, 503, "`pokearena serve` is not running")
        assert answer.headers["retry-after"] == "10"
        for closed in ({"pushes": 0}, {"pending_uploads": None}):
            answer = upload_server.post(client=upload_server.client(**closed))
            check_refused(answer, 403, "this arena does not accept pushed bots")


def test_a_submission_has_private_fields_for_its_owner(upload_server: UploadServer) -> None:
    submission = add_submission(upload_server.workspace)
    refusal = submission.id, SubmissionState.REFUSED, "it could not be built."
    submissions.decide(upload_server.workspace.store, *refusal, status=422, output="a secret")
    client, page = upload_server.client(), f"/submissions/{submission.id}"
    public = client.get(f"{page}.json")
    owner_response = client.get(f"{page}.json", headers=upload_server.authorization())
    assert "secret" not in public.text + client.get(page).text
    values = owner_response.json()
    assert (values["sentence"], values["output"]) == ("it could not be built.", "a secret")
    assert owner_response.headers["cache-control"] == "private, no-store"
    assert owner_response.json()["status"] == 422
    shown = client.get(page, headers=upload_server.authorization()).text
    assert "a secret" in shown
    assert "it could not be built." in shown
    check_refused(
        client.get(f"{page}.json", headers=upload_server.authorization("bob")),
        403,
        "the token does not belong",
    )
    check_refused(client.get("/submissions/s-0.json"), 404, "unknown submission s-0")
    listed = client.get("/submissions.json").json()["submissions"]
    assert [(each["submission"], each["state"]) for each in listed] == [(submission.id, "refused")]
    assert " refused</span>" in client.get("/submissions").text


def test_a_client_reads_the_refusal_of_a_large_upload(
    upload_server: UploadServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(request_limits, "PUSH_RATE", 0.001)
    monkeypatch.setattr(request_limits, "PUSH_BURST", 1)
    settings = replace(upload_server.settings, rate=1, push_mib=16)
    with served(WebState(upload_server.workspace.store, settings)) as url:
        arena = ArenaClient(url, upload_server.tokens["ada"])
        assert arena.push(name="mine", content="0" * 64).is_success
        refused = arena.push(name="mine", content="0" * 64, upload=bytes(12 * 2**20))
    assert refused.status == 429
    assert refused.wait is not None
