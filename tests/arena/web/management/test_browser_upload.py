"""Uploads with the browser pass the checks of pushes; nothing reaches the arena beside them."""

import io
import stat
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from arena.bots import browser_archive, resolver, upload_archive, version_store
from arena.store.bots import submissions
from arena.submissions.uploaded_bot import read_uploaded_bot
from tests.arena.web.management.test_management_access import sign_in
from tests.arena.web.serving.test_uploads import UploadServer, stored_uploads

MANIFEST = 'name = "mybot"\nrun = ["./bot"]\nlanguage = "Python"\n'
FILES = {"bot.toml": (MANIFEST, 0o644), "bot": ("#!/usr/bin/env python3\n", 0o755)}
Entry = tuple[str, int]


@pytest.fixture
def server(tmp_path: Path) -> Iterator[UploadServer]:
    server = UploadServer(tmp_path)
    with server.stack, server.pending_uploads.attended():
        yield server


@pytest.fixture
def client(server: UploadServer) -> TestClient:
    client = server.client()
    client.follow_redirects = False
    client.headers["Accept"] = "text/html"
    return client


@pytest.fixture
def form(client: TestClient, server: UploadServer) -> dict[str, str]:
    return {"form_token": sign_in(client, server.tokens["ada"])}


def zipped(files: dict[str, Entry], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    """Return a zip archive of texts with their modes."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", method) as archive:
        for name, (text, mode) in files.items():
            entry = zipfile.ZipInfo(name)
            # Without a mode, only the archive bit of DOS is set.
            entry.external_attr = mode << 16 or 0x20
            entry.compress_type = method
            archive.writestr(entry, text)
    return made.getvalue()


def send(client: TestClient, form: dict[str, str], archive: bytes, **headers: str) -> Any:
    files = {"zip": ("bot.zip", archive, "application/zip")}
    return client.post("/account/upload", data=form, files=files, headers=headers)


def content_of_folder(folder: Path) -> str:
    """Return the content hash of FILES as `pokearena bot push` computes it."""
    folder.mkdir()
    for name, (text, mode) in FILES.items():
        (folder / name).write_text(text)
        (folder / name).chmod(mode)
    return version_store.content_hash(resolver.from_folder(folder))


@pytest.mark.parametrize("prefix", ["", "mybot/"])
@pytest.mark.parametrize("modes", [True, False])
def test_a_zip_has_the_content_of_a_push(
    client: TestClient,
    server: UploadServer,
    form: dict[str, str],
    tmp_path: Path,
    prefix: str,
    modes: bool,
) -> None:
    files = {prefix + name: (text, mode * modes) for name, (text, mode) in FILES.items()}
    others = {f"{prefix}.git/x": ("x", 0o120777), "__MACOSX/._bot": ("x", 0)}
    answer = send(client, form, zipped(files | others))
    assert answer.status_code == 303, answer.text
    number = answer.headers["location"].rpartition("/")[2]
    stored = submissions.find_submission(server.workspace.store, number)
    assert (stored.owner, stored.name) == ("ada", "mybot")
    assert stored.content_hash == content_of_folder(tmp_path / "pushed")
    assert stored_uploads(server) == [f"{number}.tar.gz"]
    archive = server.pending_uploads.archive(number)
    assert stored.bytes == archive.stat().st_size
    _, content = read_uploaded_bot(archive, tmp_path / "again")
    assert content == stored.content_hash
    # The same upload again leads to the same submission.
    again = send(client, form, zipped(files))
    assert again.headers["location"] == answer.headers["location"]
    assert stored_uploads(server) == [f"{number}.tar.gz"]


def test_a_folder_has_the_content_of_a_push(
    client: TestClient, server: UploadServer, form: dict[str, str], tmp_path: Path
) -> None:
    files = [("folder", (f"mybot/{name}", text.encode(), "")) for name, (text, _) in FILES.items()]
    answer = client.post("/account/upload", data=form, files=files)
    assert answer.status_code == 303, answer.text
    number = answer.headers["location"].rpartition("/")[2]
    stored = submissions.find_submission(server.workspace.store, number)
    assert stored.content_hash == content_of_folder(tmp_path / "pushed")
    assert client.get(answer.headers["location"]).status_code == 200


BAD = {
    "link": {"data": ("/etc/passwd", stat.S_IFLNK | 0o777)},
    "device": {"data": ("", stat.S_IFCHR | 0o666)},
    "parent": {"../data": ("x", 0o644)},
    "absolute": {"/data": ("x", 0o644)},
    "setuid": {"data": ("x", 0o4755)},
    "backslash": {"..\\data": ("x", 0o644)},
    "similar names": {"BOT": ("x", 0o644)},
    "a file in a file": {"bot/data": ("x", 0o644)},
    "Windows device": {"con.txt": ("x", 0o644)},
    "ratio": {"data": ("0" * 3_000_000, 0o644)},
    "manifest": {"bot.toml": ("name = 1", 0o644)},
    "house bot": {"bot.toml": (MANIFEST.replace("mybot", "greedy"), 0o644)},
}


@pytest.mark.parametrize("name", BAD)
def test_a_zip_that_a_push_would_not_pass_is_refused(
    client: TestClient, server: UploadServer, form: dict[str, str], name: str
) -> None:
    answer = send(client, form, zipped(FILES | BAD[name]))
    assert answer.status_code in (403, 422)
    assert 'role="alert"' in answer.text
    assert 'class="wrong"' in answer.text
    assert stored_uploads(server) == []
    assert submissions.list_submissions(server.workspace.store) == ()


def test_files_that_are_no_zip_archive_are_refused(
    client: TestClient, server: UploadServer, form: dict[str, str]
) -> None:
    whole = zipped(FILES)
    encrypted = bytearray(whole)
    at = encrypted.rfind(b"PK\x01\x02")
    encrypted[at + 8] |= 1
    for broken in (
        *(b"", b"PK", b"PK\x05\x06", whole[:-30], whole[:40]),
        *(bytes(encrypted), zipped(FILES, zipfile.ZIP_LZMA)),
        zipped(FILES, zipfile.ZIP_STORED).replace(b"name = ", b"mane = "),
    ):
        assert send(client, form, broken).status_code == 422
    assert stored_uploads(server) == []


def test_sizes_of_a_zip_are_limited_before_it_is_unpacked(
    client: TestClient, form: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert send(client, form, bytes(2**21)).status_code == 413
    for limit, value in (("MOST_FILES", 1), ("MOST_BYTES", 10), ("_DIRECTORY_BYTES", 20)):
        with monkeypatch.context() as patch:
            patch.setattr(browser_archive, limit, value)
            patch.setattr(upload_archive, "unpack", lambda *_: pytest.fail("it is unpacked"))
            assert send(client, form, zipped(FILES)).status_code == 422


def test_only_a_form_of_the_session_uploads(
    client: TestClient, server: UploadServer, form: dict[str, str]
) -> None:
    whole = zipped(FILES)
    assert send(client, {}, whole).status_code == 403
    assert send(client, {"form_token": "0" * 64}, whole).status_code == 403
    assert send(client, form, whole, **{"Sec-Fetch-Site": "cross-site"}).status_code == 403
    assert send(client, form, whole, Origin="http://evil.example").status_code == 403
    bearer = {"Authorization": f"Bearer {server.tokens['ada']}"}
    assert send(client, form, whole, **bearer).status_code == 403
    client.cookies.clear()
    assert send(client, form, whole).headers["location"] == "/sign-in"
    assert stored_uploads(server) == []
    sent = {"form_token": sign_in(client, server.tokens["bob"])}
    assert send(client, sent, whole).status_code == 303
    client.cookies.clear()
    assert send(client, {"form_token": sign_in(client, server.tokens["ada"])}, whole).status_code
    assert {each.owner for each in submissions.list_submissions(server.workspace.store)} <= {
        "ada",
        "bob",
    }
