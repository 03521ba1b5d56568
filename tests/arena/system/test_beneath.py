"""Opening below a folder: which paths the kernel resolves, and which it refuses."""

import ctypes
import errno
import os
import threading
from pathlib import Path

import pytest

from arena.system import beneath
from arena.system.beneath import open_beneath, open_file_beneath, read_beneath
from tests.errors import has_number

SECRET = b"a secret of the arena"


@pytest.fixture(params=["openat2", "walk"])
def folder(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder of a bot beside a secret file, with openat2 and without it."""
    if request.param == "walk":
        monkeypatch.setattr(beneath, "_OPENAT2", 100_000)
    (tmp_path / "secret").write_bytes(SECRET)
    bot = tmp_path / "bot"
    (bot / "inner").mkdir(parents=True)
    (bot / "file").write_bytes(b"own")
    (bot / "inner" / "file").write_bytes(b"inner")
    return bot


def _refused(folder: Path, path: str, *numbers: int) -> None:
    with pytest.raises(OSError, check=has_number(*numbers)):
        os.close(open_beneath(folder, path))


def test_files_and_folders_below_are_opened(folder: Path) -> None:
    assert read_beneath(folder, "file", 3) == b"own"
    assert read_beneath(folder, "./inner//file", 10) == b"inner"
    for path in (".", "inner", "inner/"):
        descriptor = open_beneath(folder, path, os.O_RDONLY | os.O_DIRECTORY)
        assert not os.get_inheritable(descriptor)
        os.close(descriptor)


def test_missing_paths_and_wrong_arguments_have_their_own_errors(folder: Path) -> None:
    _refused(folder, "absent", errno.ENOENT)
    _refused(folder, "", errno.ENOENT)
    _refused(folder, "file/", errno.ENOTDIR)
    _refused(folder, "file\0", errno.EINVAL)
    with pytest.raises(OSError, check=has_number(errno.EINVAL)):
        open_beneath(folder, "new", os.O_WRONLY | os.O_CREAT)
    assert not (folder / "new").exists()


@pytest.mark.parametrize("path", ["../secret", "inner/../../secret", "/etc/passwd", ".."])
def test_paths_that_lead_out_are_refused(folder: Path, path: str) -> None:
    _refused(folder, path, errno.EXDEV)


@pytest.mark.parametrize(
    "target",
    ["../secret", "/etc/passwd", "/proc/self/root/etc/passwd", "inner/../../secret", "link"],
)
def test_links_that_lead_out_are_refused(folder: Path, target: str) -> None:
    (folder / "link").symlink_to(target)
    _refused(folder, "link", errno.EXDEV, errno.ELOOP)


def test_a_link_whose_text_hides_where_it_leads_is_refused(folder: Path) -> None:
    """By its text "inner/deep/../../../secret" stays inside; the kernel goes over the link."""
    (folder / "a" / "b" / "c").mkdir(parents=True)
    (folder / "deep").symlink_to("a/b/c")
    (folder / "in").symlink_to("deep/../../../file")
    (folder / "out").symlink_to("deep/../../../../secret")
    _refused(folder, "out", errno.EXDEV, errno.ELOOP)


def test_magic_links_are_refused() -> None:
    """A file system of /proc below the folder has links that no text describes."""
    if not hasattr(os, "O_PATH"):
        pytest.skip("this system has no /proc")
    for path in ("self/root", "self/cwd/secret", "self/exe", "self/fd/0"):
        _refused(Path("/proc"), path, errno.ELOOP, errno.EXDEV)


def test_links_that_stay_inside_are_followed_where_the_caller_permits_it(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"own")
    (tmp_path / "link").symlink_to("file")
    assert read_beneath(tmp_path, "link", 3, links=True) == b"own"
    with pytest.raises(OSError, check=has_number(errno.ELOOP)):
        read_beneath(tmp_path, "link", 3)


def test_the_walk_refuses_links_that_o_path_would_open(folder: Path) -> None:
    (folder / "link").symlink_to("../secret")
    with pytest.raises(OSError, check=has_number(errno.ELOOP, errno.EXDEV)):
        open_beneath(folder, "link", os.O_PATH)


def test_pipes_sockets_and_folders_are_not_files_and_do_not_block(folder: Path) -> None:
    os.mkfifo(folder / "pipe")
    for path in ("pipe", "inner"):
        with pytest.raises(OSError, check=has_number(errno.EINVAL)):
            open_file_beneath(folder, path)


def test_the_limit_of_a_read_is_exact(folder: Path) -> None:
    with pytest.raises(OSError, check=has_number(errno.EFBIG)):
        read_beneath(folder, "file", 2)


def test_folders_that_are_swapped_meanwhile_never_lead_out(folder: Path) -> None:
    """One thread swaps a folder with a link to the outside while the path is opened."""
    (folder.parent / "file").write_bytes(SECRET)
    (folder / "link").symlink_to("..")
    ended = threading.Event()
    libc = ctypes.CDLL(None)
    inner, link = (os.fsencode(folder / name) for name in ("inner", "link"))

    def swap() -> None:
        while not ended.is_set():
            libc.renameat2(-100, inner, -100, link, 2)

    swapping = threading.Thread(target=swap)
    swapping.start()
    try:
        contents = {_content(folder, path) for path in ["inner/file", "inner/../file"] * 1000}
    finally:
        ended.set()
        swapping.join()
    assert contents <= {b"inner", b"own", b"EXDEV", b"ELOOP", b"ENOTDIR", b"EAGAIN"}


def _content(folder: Path, path: str) -> bytes:
    try:
        return read_beneath(folder, path, 100)
    except OSError as error:
        return errno.errorcode[error.errno or 0].encode()
