"""Test file trees that a bot controls: no depth, name or permission may stop the arena."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from arena.system import file_tree
from arena.system.file_tree import DEPTH, TreeTooLarge


def nest(root: Path, levels: int, name: str = "folder") -> None:
    """Nest folders by descriptors, because their paths exceed the kernel's limit."""
    current = os.open(root, os.O_RDONLY | os.O_DIRECTORY)
    for _ in range(levels):
        os.mkdir(name, dir_fd=current)
        inner = os.open(name, os.O_RDONLY | os.O_DIRECTORY, dir_fd=current)
        os.close(current)
        current = inner
    os.close(os.open("file", os.O_WRONLY | os.O_CREAT, dir_fd=current))
    os.close(current)


@pytest.fixture
def tree(tmp_path: Path) -> Iterator[Path]:
    root = tmp_path / "tree"
    root.mkdir()
    yield root
    # pytest itself cannot remove a deep tree.
    file_tree.remove(root)


@pytest.mark.parametrize("levels", [1_500, pytest.param(20_000, marks=pytest.mark.long)])
def test_a_tree_of_any_depth_is_removed(tree: Path, levels: int) -> None:
    nest(tree, levels)
    assert file_tree.remove(tree)
    assert not tree.exists()


def test_everything_a_process_can_create_is_removed(tree: Path) -> None:
    for number in range(50):
        nest(tree, 3, f"branch-{number}")
    os.mkfifo(tree / "pipe")
    (tree / "link").symlink_to("/")
    (tree / "loop").symlink_to(tree)
    os.mkdir(os.fsencode(tree) + b"/not\xff utf-8\n")
    (tree / "locked").mkdir()
    nest(tree / "locked", 2)
    (tree / "locked").chmod(0)
    assert file_tree.remove(tree)
    assert not tree.exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_a_user_without_privileges_removes_folders_without_permissions(tree: Path) -> None:
    nest(tree, 100)
    for path in [tree, *tree.rglob("folder")]:
        os.chown(path, 65534, 65534)
        path.chmod(0)
    os.chown(tree.parent, 65534, 65534)
    for above in tree.parents[:-2]:
        above.chmod(above.stat().st_mode | 0o111)
    if (pid := os.fork()) == 0:
        os.setresuid(65534, 65534, 65534)
        os._exit(0 if file_tree.remove(tree) else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    assert not tree.exists()


def test_a_removal_follows_no_link(tree: Path) -> None:
    kept = tree.parent / "kept"
    kept.mkdir(mode=0o755)
    (kept / "file").touch()
    (tree / "link").symlink_to(kept)
    assert file_tree.remove(tree)
    assert (kept / "file").exists()
    (tree.parent / "link").symlink_to(kept)
    assert file_tree.remove(tree.parent / "link")
    assert (kept / "file").exists()
    assert stat.S_IMODE(kept.stat().st_mode) == 0o755


def test_removing_a_missing_folder_succeeds(tree: Path) -> None:
    assert file_tree.remove(tree / "missing")
    assert file_tree.remove(tree / "missing" / "deeper")


def test_a_walk_stops_at_its_bounds(tree: Path) -> None:
    nest(tree, DEPTH + 1)
    with pytest.raises(TreeTooLarge) as deep:
        file_tree.measure(str(tree), 10_000)
    assert (deep.value.bound, deep.value.limit) == ("depth", DEPTH)
    wide = tree.parent / "wide"
    wide.mkdir()
    for number in range(20):
        (wide / str(number)).touch()
    with pytest.raises(TreeTooLarge) as many:
        file_tree.measure(str(wide), 19)
    assert (many.value.bound, many.value.limit) == ("entries", 19)
    assert file_tree.measure(str(wide), 20) == (0, 20)


def test_a_walk_lists_folders_first_and_follows_no_link(tree: Path) -> None:
    (tree / "b").mkdir()
    (tree / "b" / "c").write_bytes(b"x" * 10_000)
    (tree / "a").symlink_to("/usr")
    assert [entry.path for entry in file_tree.walk(tree)] == ["a", "b", "b/c"]
    size, count = file_tree.measure(str(tree), 10)
    assert size >= 10_000
    assert count == 3


def test_a_copy_is_readable_to_all_and_leaves_out_pipes(tree: Path) -> None:
    (tree / "inner").mkdir(mode=0o700)
    (tree / "inner" / "program").write_text("text")
    (tree / "inner" / "program").chmod(0o700)
    (tree / "link").symlink_to("inner/program")
    os.mkfifo(tree / "pipe")
    copy = tree.parent / "copy"
    file_tree.copy(str(tree), str(copy))
    assert file_tree.is_readable_to_all(str(copy))
    assert not file_tree.is_readable_to_all(str(tree))
    assert sorted(entry.path for entry in file_tree.walk(copy)) == [
        "inner",
        "inner/program",
        "link",
    ]
    assert (copy / "inner" / "program").read_text() == "text"
