"""Test the size limit of fetched versions, and that versions in use are never deleted."""

import contextlib
import fcntl
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from arena.bots import version_cache
from arena.bots.resolver import fetched
from tests.guarded_process import GuardedProcess

HOLD = """
import sys
from collections.abc import Iterator
from pathlib import Path
from arena.bots import version_cache as cache
assert cache.held(Path(sys.argv[1])) is not None
print("held", flush=True)
sys.stdin.read()
"""


def fetch(versions: Path, name: str, used: int) -> Path:
    """Create a version of 100 bytes that was last used at this time."""
    folder = versions / name
    (folder / "data").mkdir(parents=True)
    (folder / "bot").write_bytes(bytes(60))
    (folder / "data" / "book").write_bytes(bytes(40))
    file_size = (folder / "data").lstat().st_size
    version_cache.note_fetched(folder)
    assert int(fetched(folder).read_text()) == 100 + file_size
    fetched(folder).write_text("100")
    os.utime(fetched(folder), (used, used))
    return folder


def remaining_files(versions: Path) -> list[str]:
    return sorted(path.name for path in versions.iterdir())


def make_room(versions: Path, most: int) -> list[str]:
    return version_cache.make_room(versions, most, lambda content: True)


def test_the_least_recently_played_versions_are_evicted_first(
    tmp_path: Path,
) -> None:
    for name, used in (("a", 3), ("b", 1), ("c", 2), ("d", 4)):
        fetch(tmp_path, name, used)
    assert make_room(tmp_path, 400) == []
    assert make_room(tmp_path, 200) == ["b", "c"]
    assert remaining_files(tmp_path) == ["a", "a.fetched", "d", "d.fetched"]


def test_playing_a_version_renews_it(tmp_path: Path) -> None:
    old = fetch(tmp_path, "old", 1)
    fetch(tmp_path, "new", 2)
    version_cache.note_use(old)
    assert make_room(tmp_path, 100) == ["new"]


def test_locally_added_versions_are_never_evicted(tmp_path: Path) -> None:
    folder = fetch(tmp_path, "mine", 1)
    fetched(folder).unlink()
    version_cache.note_use(folder)
    assert make_room(tmp_path, 0) == []
    assert remaining_files(tmp_path) == ["mine"]


def test_versions_missing_from_the_store_are_not_evicted(tmp_path: Path) -> None:
    fetch(tmp_path, "only", 1)
    fetch(tmp_path, "other", 2)
    assert version_cache.make_room(tmp_path, 0, lambda content: content != "only") == ["other"]
    assert remaining_files(tmp_path) == ["only", "only.fetched"]


def test_a_version_in_use_is_kept_and_an_idle_one_evicted(tmp_path: Path) -> None:
    held = version_cache.held(fetch(tmp_path, "played", 1))
    assert held is not None
    fetch(tmp_path, "idle", 2)
    assert make_room(tmp_path, 100) == ["idle"]
    assert make_room(tmp_path, 0) == []
    os.close(held)
    assert make_room(tmp_path, 0) == ["played"]
    assert remaining_files(tmp_path) == []


def test_a_version_used_by_another_process_is_kept_until_that_exits(tmp_path: Path) -> None:
    folder = fetch(tmp_path, "played", 1)
    with GuardedProcess[bytes](
        [sys.executable, "-c", HOLD, str(folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"held\n"
        assert make_room(tmp_path, 0) == []
        other.kill()
        other.wait()
    assert make_room(tmp_path, 0) == ["played"]


def test_two_users_can_hold_a_version_at_once(tmp_path: Path) -> None:
    folder = fetch(tmp_path, "played", 1)
    first, other = version_cache.held(folder), version_cache.held(folder)
    assert first is not None
    assert other is not None
    os.close(first)
    assert make_room(tmp_path, 0) == []
    os.close(other)


def test_a_folder_deleted_before_it_is_locked_is_not_held(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = fetch(tmp_path, "played", 1)
    lock = fcntl.flock

    def late(descriptor: int, kind: int) -> None:
        monkeypatch.setattr(fcntl, "flock", lock)
        assert make_room(tmp_path, 0) == ["played"]
        lock(descriptor, kind)

    monkeypatch.setattr(fcntl, "flock", late)
    assert version_cache.held(folder) is None
    assert not list(opened(tmp_path))


def opened(within: Path) -> Iterator[str]:
    for descriptor in os.listdir("/proc/self/fd"):
        # One descriptor belonged to the directory listing itself.
        with contextlib.suppress(FileNotFoundError):
            name = os.readlink(f"/proc/self/fd/{descriptor}")
            if name.startswith(str(within)):
                yield name


def test_the_marker_of_a_deleted_folder_is_removed(tmp_path: Path) -> None:
    folder = fetch(tmp_path, "gone", 1)
    (folder / "bot").unlink()
    (folder / "data" / "book").unlink()
    (folder / "data").rmdir()
    folder.rmdir()
    assert make_room(tmp_path, 0) == ["gone"]
    assert remaining_files(tmp_path) == []
