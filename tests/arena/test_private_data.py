"""Test that only the user of the arena may access the data folder, whatever the umask is."""

import json
import os
import re
import shutil
import signal
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from arena.bots import version_store
from arena.bots.resolver import local
from arena.cli.develop import machine_checks
from arena.cli.workspace import Workspace
from arena.config import Folder
from arena.matches.local_records import path_of
from arena.services.queue import redis_server
from arena.store.bots import owners
from arena.submissions.pending_uploads import PendingUploads
from arena.system import file_tree, private_files
from tests.arena.cli.terminal import POKEARENA
from tests.guarded_process import GuardedProcess
from tests.waiting import wait_until

OTHERS = 0o077
VERSION = re.compile(r"versions/[0-9a-f]{64}(/|$)")
UMASKS = pytest.mark.parametrize(
    "umask", [0o000, pytest.param(0o022, marks=pytest.mark.repetition)], ids=oct
)


@pytest.fixture
def umask_000() -> Iterator[None]:
    old = os.umask(0)
    yield
    os.umask(old)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


def open_to_others(data: Path) -> list[str]:
    """Return what others may access in a data folder, except below the folders of versions."""
    loose = [f". {mode(data):o}"] if mode(data) & OTHERS else []
    return loose + [
        f"{entry.path} {entry.stat.st_mode:o}"
        for entry in file_tree.walk(data)
        if entry.stat.st_mode & OTHERS and not entry.is_link and not VERSION.match(entry.path)
    ]


def version_folders(data: Path) -> list[Path]:
    return [path for path in (data / "versions").iterdir() if path.is_dir()]


class User:
    def __init__(self, folder: Path, umask: int) -> None:
        self.folder, self.umask = folder, umask
        self.data = folder / "data"

    def run(self, *words: str, **environment: str) -> str:
        done = subprocess.run(
            [POKEARENA, *words],
            cwd=self.folder,
            env={**os.environ, "POKEARENA_DATA": str(self.data), **environment},
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            umask=self.umask,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def write_bot(self) -> Path:
        """Write a bot whose build writes files and folders that only their owner may read."""
        self.run("new", "mine")
        bot = self.folder / "mine"
        text = (bot / "bot.toml").read_text()
        build = 'build = ["sh", "-c", "umask 077; mkdir -p made/deep; echo > made/deep/file"]\n'
        (bot / "bot.toml").write_text(build + text)
        return bot


@pytest.mark.long
@UMASKS
def test_a_data_folder_is_private_and_files_of_the_user_keep_their_umask(
    tmp_path: Path, umask: int
) -> None:
    user = User(tmp_path, umask)
    user.write_bot()
    user.run("play", "poke", "sample:random", "sample:meek", "-n", "1", "--record", "own.jsonl")
    user.run("play", "poke", "./mine", "sample:meek", "-n", "1")
    user.run("bot", "add", "./mine")
    user.run("tournament", "run", "poke", "mine", "sample:meek", "-n", "1")
    user.run("export", "poke", "--output", "own.csv")
    user.run("db", "backup", "own.db")
    assert open_to_others(user.data) == []
    names = {path.name for path in user.data.iterdir()}
    assert {"arena.db", "logs", "plays", "builds", "versions", ".gitignore"} <= names
    assert version_folders(user.data)
    assert all(file_tree.is_readable_to_all(str(path)) for path in version_folders(user.data))
    assert list(user.data.glob("versions/*/made/deep/file"))
    for name in ("own.jsonl", "own.csv"):
        assert mode(tmp_path / name) == 0o666 & ~umask, name
    assert mode(tmp_path / "mine") == 0o777 & ~umask
    # A backup contains the seeds and the hashes of the store.
    assert mode(tmp_path / "own.db") == 0o600


@pytest.mark.long
@pytest.mark.skipif(shutil.which("bwrap") is None, reason="pushed bots need a sandbox")
def test_services_write_only_private_files(tmp_path: Path) -> None:
    user = User(tmp_path, 0o000)
    user.write_bot()
    workspace = Workspace(user.data)
    token = owners.add_owner(workspace.store, "ada")
    command = [
        str(POKEARENA),
        "serve",
        "--data",
        str(user.data),
        "--port",
        "0",
        "--workers",
        "1",
        "--json",
        "--ladder",
        "poke",
    ]
    with GuardedProcess(command, stdout=subprocess.PIPE, text=True, umask=0) as serve:
        assert serve.stdout is not None
        try:
            page = json.loads(serve.stdout.readline())["page"].rstrip("/")
            user.run("bot", "push", "mine", "--to", page, POKEARENA_TOKEN=token)
            running = workspace.folder.running()
            assert running is not None
            wait_until(lambda: any((user.data / "logs").rglob("worker*.log")))
            assert open_to_others(user.data) == []
            assert {"running.json", "submissions"} <= {path.name for path in user.data.iterdir()}
            sockets = Path(running.sockets)
            assert mode(sockets) == 0o700
            inside = [path for path in sockets.iterdir() if path.is_file() or path.is_socket()]
            assert [path.name for path in inside if mode(path) & OTHERS] == []
        finally:
            serve.send_signal(signal.SIGINT)
    assert all(file_tree.is_readable_to_all(str(path)) for path in version_folders(user.data))
    assert open_to_others(user.data) == []


def _loosened(root: Path) -> Folder:
    """Return a data folder as an earlier version or its user left it: open to everybody."""
    workspace = Workspace(root)
    assert workspace.store.dialect.name == "sqlite"
    workspace.store.dispose()
    for name in ("plays", "builds"):
        (root / name).mkdir()
    (root / "running.json").write_text("{}")
    (root / "arena.db-wal").touch()
    for entry in file_tree.walk(root):
        os.chmod(root / entry.path, 0o777 if entry.is_folder else 0o666)
    root.chmod(0o777)
    return workspace.folder


def test_a_loose_folder_is_closed_when_it_is_opened(tmp_path: Path) -> None:
    folder = _loosened(tmp_path / "data")
    assert Workspace(folder.root).existing_store is not None
    assert open_to_others(folder.root) == []


def test_a_folder_with_other_files_keeps_its_mode_but_the_arenas_are_private(
    tmp_path: Path,
) -> None:
    folder = _loosened(tmp_path / "data")
    own = folder.root / "thesis.tex"
    own.touch()
    own.chmod(0o644)
    folder.create()
    assert mode(folder.root) == 0o777
    assert mode(own) == 0o644
    assert [line.split()[0] for line in open_to_others(folder.root)] == [".", "thesis.tex"]


def test_links_in_a_loose_folder_are_not_followed(tmp_path: Path) -> None:
    foreign, logs = tmp_path / "foreign", tmp_path / "foreign-logs"
    foreign.touch()
    logs.mkdir()
    foreign.chmod(0o666)
    logs.chmod(0o777)
    root = tmp_path / "data"
    root.mkdir()
    (root / "running.json").symlink_to(foreign)
    (root / "logs").symlink_to(logs)
    Folder(root).make_private()
    assert (mode(foreign), mode(logs)) == (0o666, 0o777)


def test_a_missing_folder_is_not_made_private(tmp_path: Path) -> None:
    Folder(tmp_path / "absent").make_private()
    assert not (tmp_path / "absent").exists()


def test_files_and_folders_are_created_with_private_modes() -> None:
    # The mode is also that before `opener` removes the permissions of an existing file.
    modes = private_files.FOLDER_MODE, private_files.FILE_MODE, private_files.UMASK
    assert modes == (0o700, 0o600, 0o077)


@pytest.mark.usefixtures("umask_000")
def test_files_that_the_arena_creates_itself_are_private(tmp_path: Path) -> None:
    folder = Folder(tmp_path / "data").create()
    private_files.write_text(path_of(folder, "match"), "record")
    with PendingUploads(folder.submissions).create().attended():
        pass
    with redis_server.resolve(folder, {}) as redis:
        socket = Path(redis.url.removeprefix("unix://"))
        assert (mode(socket.parent), mode(socket) & OTHERS) == (0o700, 0)
    assert open_to_others(folder.root) == []


@pytest.mark.usefixtures("umask_000")
def test_an_existing_loose_file_is_closed_when_it_is_written(tmp_path: Path) -> None:
    file = tmp_path / "worker.log"
    file.write_text("a")
    assert mode(file) == 0o666
    with open(file, "a", opener=private_files.opener) as log:
        log.write("b")
    assert (mode(file), file.read_text()) == (0o600, "ab")
    private_files.create_folder(tmp_path / "a" / "b")
    assert {mode(tmp_path / "a"), mode(tmp_path / "a" / "b")} == {0o700}


def test_devices_keep_their_mode() -> None:
    before = mode(Path(os.devnull))
    with open(os.devnull, "a", opener=private_files.opener):
        pass
    private_files.make_private(Path(os.devnull))
    assert mode(Path(os.devnull)) == before


def test_versions_are_readable_to_all_under_umask_077(tmp_path: Path) -> None:
    bot = tmp_path / "mine"
    (bot / "data").mkdir(parents=True)
    (bot / "data" / "book").write_text("book")
    (bot / "bot.toml").write_text('name = "mine"\nrun = ["python", "bot.py"]\n')
    old = os.umask(0o077)
    try:
        kept = version_store.admit(local(bot), tmp_path / "versions")
    finally:
        os.umask(old)
    assert mode(tmp_path / "versions") == 0o700
    assert file_tree.is_readable_to_all(str(kept.folder))


def test_doctor_warns_of_a_folder_that_others_may_enter(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path / "data")
    workspace.folder.create()
    assert machine_checks._data(workspace)[0] == machine_checks.OK
    workspace.folder.root.chmod(0o755)
    assert machine_checks._data(workspace)[0] == machine_checks.WARN


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder to another user")
def test_doctor_warns_of_a_folder_of_another_user(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path / "data")
    workspace.folder.create()
    os.chown(workspace.folder.root, 65534, 65534)
    assert machine_checks._data(workspace)[0] == machine_checks.WARN
