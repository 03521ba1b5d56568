"""Test the temporary folders that killed processes leave."""

import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from arena import config
from arena.store import backup_file, database
from arena.system import output_file, temporary_folder
from arena.system.temporary_folder import HIDDEN_PREFIX, PREFIX
from tests.guarded_process import GuardedProcess
from tests.waiting import has_exited, wait_until

_OWNER = """
import sys
from pathlib import Path
from arena.system import temporary_folder
folder = temporary_folder.create(Path(sys.argv[1]), sys.argv[2])
(folder / "part").write_text("x")
print(folder, flush=True)
sys.stdin.read()
"""


@contextmanager
def _owner(parent: Path, prefix: str) -> Iterator[Path]:
    """Run a process that owns a temporary folder, and kill it at the end."""
    with GuardedProcess(
        [sys.executable, "-c", _OWNER, str(parent), prefix],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        try:
            yield Path(process.stdout.readline().strip())
        finally:
            process.kill()


def _write_file(folder: Path) -> None:
    output_file.write_text(folder / "made", "x")


def _back_up(folder: Path) -> None:
    engine = database.open(config.sqlite_url(folder / "arena.db"))
    database.upgrade(engine)
    backup_file.backup(engine, folder / "made", lambda *_: None)
    engine.dispose()


def _make_sockets(folder: Path) -> None:
    temporary_folder.remove(config.private_directory({"XDG_RUNTIME_DIR": str(folder)}))


@pytest.mark.parametrize(
    ("use", "prefix"),
    [(_write_file, HIDDEN_PREFIX), (_back_up, HIDDEN_PREFIX), (_make_sockets, PREFIX)],
)
def test_the_next_use_removes_what_a_killed_process_left(
    use: Callable[[Path], None], prefix: str, short_folder: Path
) -> None:
    with _owner(short_folder, prefix) as live:
        with _owner(short_folder, prefix) as killed:
            use(short_folder)
            assert (live.is_dir(), killed.is_dir()) == (True, True)
        use_again = _write_file if use is _back_up else use
        use_again(short_folder)
        assert (live.is_dir(), killed.exists()) == (True, False)


@pytest.fixture
def short_folder() -> Iterator[Path]:
    """Provide a folder whose path leaves room for the name of a socket."""
    with temporary_folder.temporary_folder(Path("/tmp"), PREFIX) as folder:
        yield folder


def test_only_folders_of_this_kind_are_removed(tmp_path: Path) -> None:
    names = (".pokearena.bak", "pokearena-tmp-", ".pokearena-tmp-notes-of-mine", "pokearena-tmp-A1")
    for name in names:
        (tmp_path / name).mkdir()
        temporary_folder.remove(tmp_path / name)
    (tmp_path / "pokearena-tmp-abcdefgh").write_text("a file")
    (tmp_path / "pokearena-tmp-link0000").symlink_to(tmp_path / names[0])
    temporary_folder.remove(tmp_path / "pokearena-tmp-link0000")
    made = temporary_folder.create(tmp_path)
    assert stat.S_IMODE(made.stat().st_mode) == 0o700
    temporary_folder.remove(made)
    left = {path.name for path in tmp_path.iterdir()}
    assert left == {*names, "pokearena-tmp-abcdefgh", "pokearena-tmp-link0000"}


def test_a_folder_is_kept_while_a_fork_of_its_process_uses_it(tmp_path: Path) -> None:
    forking = _OWNER.replace("print(", "if os.fork(): os._exit(0)\nprint(os.getpid(), ")
    command = [sys.executable, "-c", f"import os\n{forking}", str(tmp_path), PREFIX]
    with GuardedProcess(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        fork, _, path = process.stdout.readline().strip().partition(" ")
        folder = Path(path)
        process.wait()
        temporary_folder.remove_abandoned(tmp_path)
        assert folder.is_dir()
        # The fork ends when it reads the end of its standard input.
        process.stdin.close()
        # Its standard output ends before the lock of the folder does.
        wait_until(lambda: has_exited(int(fork)))
    temporary_folder.remove_abandoned(tmp_path)
    assert not folder.exists()
