"""A file is written completely or not at all."""

import os
import stat
from pathlib import Path

import pytest

from arena.system import output_file
from tests.full_disk import largest_file


def test_a_file_is_replaced_and_keeps_its_mode(tmp_path: Path) -> None:
    file = tmp_path / "result.txt"
    output_file.write_text(file, "first\r\n")
    file.chmod(0o640)
    output_file.write_text(file, "second\r\n")
    assert file.read_bytes() == b"second\r\n"
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    assert list(tmp_path.iterdir()) == [file]


def test_a_new_file_has_the_mode_of_the_umask(tmp_path: Path) -> None:
    usual, file = tmp_path / "usual", tmp_path / "result.txt"
    usual.touch()
    output_file.write_text(file, "text")
    assert file.stat().st_mode == usual.stat().st_mode


def test_a_link_is_followed(tmp_path: Path) -> None:
    file, link = tmp_path / "result.txt", tmp_path / "link"
    link.symlink_to(file)
    output_file.write_text(link, "text")
    assert link.is_symlink()
    assert file.read_text() == "text"


def test_a_device_is_written_directly() -> None:
    output_file.check_writable(Path("/dev/null"))
    output_file.write_text(Path("/dev/null"), "text")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)


def test_a_full_disk_leaves_the_earlier_file_and_the_error_names_it(tmp_path: Path) -> None:
    file = tmp_path / "result.txt"
    file.write_text("precious")
    with largest_file(1000), pytest.raises(OSError, match="too large") as raised:
        output_file.write_text(file, "x" * 2000)
    assert raised.value.filename == str(file)
    assert file.read_text() == "precious"
    assert list(tmp_path.iterdir()) == [file]


def test_an_error_within_the_block_leaves_the_earlier_file(tmp_path: Path) -> None:
    file = tmp_path / "result.txt"
    file.write_text("precious")

    def write_half() -> None:
        with output_file.complete(file) as part:
            part.write_text("half")
            raise KeyError

    with pytest.raises(KeyError):
        write_half()
    assert file.read_text() == "precious"
    assert list(tmp_path.iterdir()) == [file]


def test_a_check_finds_a_missing_folder_and_a_full_disk_and_leaves_nothing(tmp_path: Path) -> None:
    file = tmp_path / "result.txt"
    output_file.check_writable(file)
    with largest_file(1000), pytest.raises(OSError, match="too large") as full:
        output_file.check_writable(file)
    assert full.value.filename == str(file)
    assert list(tmp_path.iterdir()) == []
    missing = tmp_path / "nowhere" / "result.txt"
    with pytest.raises(FileNotFoundError) as absent:
        output_file.check_writable(missing)
    assert absent.value.filename == str(missing)


def test_a_folder_is_not_a_file(tmp_path: Path) -> None:
    with pytest.raises(IsADirectoryError):
        output_file.check_writable(tmp_path)
    with pytest.raises(IsADirectoryError):
        output_file.write_text(tmp_path, "text")
