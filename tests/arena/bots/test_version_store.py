"""Test the version store: the name of a folder is the hash of its content."""

import io
import os
from pathlib import Path

import pytest

from arena.bots import build_archive, version_store
from arena.bots.bot import Bot
from arena.bots.resolver import local
from arena.bots.version_store import admit, content_hash
from arena.errors import BotError
from tests.errors import has_code


def make(folder: Path, build: str = "") -> Path:
    folder.mkdir(parents=True)
    (folder / "bot.toml").write_text(f'name = "mine"\nrun = ["./bot"]\n{build}')
    (folder / "bot").write_text("#!/bin/sh\n")
    (folder / "bot").chmod(0o755)
    (folder / "data").mkdir()
    (folder / "data" / "book.txt").write_bytes(b"\x00book")
    return folder


def test_the_hash_does_not_depend_on_the_path(tmp_path: Path) -> None:
    first, second = make(tmp_path / "a"), make(tmp_path / "b" / "c")
    assert content_hash(local(first)) == content_hash(local(second))


def test_the_hash_is_the_same_in_every_release(tmp_path: Path) -> None:
    # Ratings and records refer to versions by this hash, so the algorithm must not change.
    assert content_hash(local(make(tmp_path / "a"))) == (
        "1cc918e0aa6b5df832661b951b8098d4b9bb69f301c4d2290703f48a4502ac5a"
    )


def test_one_byte_changes_the_hash(tmp_path: Path) -> None:
    folder = make(tmp_path / "a")
    before = content_hash(local(folder))
    (folder / "data" / "book.txt").write_bytes(b"\x01book")
    assert content_hash(local(folder)) != before


def test_a_file_name_or_the_executable_bit_changes_the_hash(tmp_path: Path) -> None:
    folder = make(tmp_path / "a")
    before = content_hash(local(folder))
    (folder / "data" / "book.txt").chmod(0o755)
    executable = content_hash(local(folder))
    (folder / "data" / "book.txt").chmod(0o644)
    (folder / "data" / "book.txt").rename(folder / "data" / "look.txt")
    assert len({before, executable, content_hash(local(folder))}) == 3


@pytest.mark.parametrize(
    "name",
    [
        *("__pycache__/x.py", ".git/config", ".venv/bin/x", "old.pyc", ".DS_Store", "._bot.py"),
        *("data/._book.txt", "__MACOSX/._bot.py", "Thumbs.db", "data/thumbs.db", "desktop.ini"),
        *("data/Desktop.ini", "__MACOSX/data/book.txt"),
    ],
)
def test_tool_leftovers_are_not_content(tmp_path: Path, name: str) -> None:
    folder = make(tmp_path / "a")
    before = content_hash(local(folder))
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text("x")
    assert content_hash(local(folder)) == before
    admitted = admit(local(folder), tmp_path / "versions")
    assert admitted.folder is not None
    assert not (admitted.folder / name).exists()


def test_a_stored_version_whose_content_has_system_files_is_still_valid(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = make(tmp_path / "a")
    (folder / "data" / "._book.txt").write_text("x")
    (folder / "Thumbs.db").write_text("x")
    new = content_hash(local(folder))
    with monkeypatch.context() as earlier:
        earlier.setattr(version_store, "SYSTEM_FILES", ())
        old = content_hash(local(folder))
    assert old != new
    packed = io.BytesIO()
    build_archive.pack(folder, packed)
    for digest in (old, new):
        packed.seek(0)
        build_archive.unpack(packed, tmp_path / "versions", digest)
        assert (tmp_path / "versions" / digest / "Thumbs.db").exists()
    (folder / "Thumbs.db").write_text("y")
    assert version_store.is_content_of(folder, new)
    assert not version_store.is_content_of(folder, old)


def test_vendored_packages_are_content_only_without_a_build(tmp_path: Path) -> None:
    plain, built = make(tmp_path / "a"), make(tmp_path / "b", 'build = ["true"]')
    before = [content_hash(local(plain)), content_hash(local(built))]
    for folder in (plain, built):
        (folder / "node_modules").mkdir()
        (folder / "node_modules" / "x.js").write_text("x")
    assert content_hash(local(plain)) != before[0]
    assert content_hash(local(built)) == before[1]


def test_an_admitted_bot_is_an_independent_copy(tmp_path: Path) -> None:
    folder = make(tmp_path / "a")
    admitted = admit(local(folder), tmp_path / "versions")
    (folder / "bot").write_text("changed")
    assert admitted.folder == tmp_path / "versions" / admitted.content
    assert admitted.label == "mine"
    assert admitted.content == content_hash(local(admitted.folder))
    assert (admitted.folder / "bot").read_text() == "#!/bin/sh\n"
    assert os.access(admitted.folder / "bot", os.X_OK)


def test_a_single_file_is_admitted_with_a_manifest_only(tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "bot.py").write_text("pass")
    (tmp_path / "home" / "secret").write_text("x")
    admitted = admit(local(tmp_path / "home" / "bot.py"), tmp_path / "versions")
    assert admitted.folder is not None
    assert sorted(os.listdir(admitted.folder)) == ["bot.py", "bot.toml"]
    assert admitted.manifest is not None
    assert admitted.manifest.run == ("python", "bot.py")
    assert admitted.content == content_hash(local(tmp_path / "home" / "bot.py"))


def test_bots_in_one_folder_are_admitted_with_separate_manifests(tmp_path: Path) -> None:
    folder = make(tmp_path / "a")
    (folder / "greedy.toml").write_text('name = "greedy"\nrun = ["./bot", "greedy"]\n')
    greedy = local(folder / "greedy.toml")
    admitted = admit(greedy, tmp_path / "versions")
    assert admitted.folder is not None
    assert (admitted.label, admitted.manifest) == ("greedy", greedy.manifest)
    written = (admitted.folder / "bot.toml").read_text()
    assert written == (folder / "greedy.toml").read_text()
    assert admitted.content == content_hash(greedy) == content_hash(local(admitted.folder))
    assert admitted.content != content_hash(local(folder))


def test_a_manifest_with_another_name_needs_no_bot_toml(tmp_path: Path) -> None:
    folder = make(tmp_path / "a")
    (folder / "bot.toml").rename(folder / "only.toml")
    admitted = admit(local(folder / "only.toml"), tmp_path / "versions")
    assert admitted.folder is not None
    assert (admitted.folder / "bot.toml").exists()


def test_a_bot_is_built_once_in_the_copy(tmp_path: Path) -> None:
    log = tmp_path / "log"
    folder = make(tmp_path / "a", f'build = ["sh", "-c", "echo built >> {log}; touch made"]')
    first = admit(local(folder), tmp_path / "versions")
    second = admit(local(folder), tmp_path / "versions")
    assert first == second
    assert first.folder is not None
    assert (first.folder / "made").exists()
    assert not (folder / "made").exists()
    assert log.read_text() == "built\n"


def test_a_build_does_not_see_the_arena_s_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("POKEARENA_DATABASE_URL", "postgresql://secret")
    folder = make(tmp_path / "a", 'build = ["sh", "-c", "env > seen"]')
    admitted = admit(local(folder), tmp_path / "versions")
    assert admitted.folder is not None
    assert "secret" not in (admitted.folder / "seen").read_text()


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        (
            '["sh", "-c", "echo no such header; exit 3"]',
            "mine could not be built: \"sh -c 'echo no such header; exit 3'\" exited with status 3 "
            "and wrote:\nno such header",
        ),
        ('["false"]', 'mine could not be built: "false" exited with status 1 and wrote nothing.'),
        (
            '["no-such-compiler"]',
            'mine could not be built: the program "no-such-compiler" is not on the PATH of the '
            "arena.",
        ),
        ('["sh", "-c", "kill -9 $$"]', "was killed by SIGKILL and wrote nothing."),
    ],
)
def test_a_failed_build_is_explained_and_leaves_nothing(
    tmp_path: Path, command: str, expected: str
) -> None:
    folder = make(tmp_path / "a", f"build = {command}")
    with pytest.raises(BotError) as caught:
        admit(local(folder), tmp_path / "versions")
    assert expected in str(caught.value)
    assert os.listdir(tmp_path / "versions") == []


def test_a_link_is_refused(tmp_path: Path) -> None:
    folder = make(tmp_path / "a")
    (folder / "passwd").symlink_to("/etc/passwd")
    with pytest.raises(BotError, check=has_code("link")):
        content_hash(local(folder))


def test_a_pipe_is_refused(tmp_path: Path) -> None:
    folder = make(tmp_path / "a")
    os.mkfifo(folder / "pipe")
    with pytest.raises(BotError, check=has_code("not-a-plain-file")):
        content_hash(local(folder))


def test_too_many_files_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(version_store, "MOST_FILES", 2)
    with pytest.raises(BotError, check=has_code("too-many-files")):
        content_hash(local(make(tmp_path / "a")))


def test_too_many_bytes_are_refused(tmp_path: Path) -> None:
    folder = make(tmp_path / "a")
    with (folder / "weights").open("wb") as weights:
        weights.truncate(version_store.MOST_BYTES + 1)
    with pytest.raises(BotError, check=has_code("too-large")):
        content_hash(local(folder))


def test_a_remote_bot_has_no_files(tmp_path: Path) -> None:
    remote = Bot("grpc://h:1", address="h:1")
    assert content_hash(remote) == ""
    with pytest.raises(BotError, check=has_code("remote-bot")):
        admit(remote, tmp_path)
