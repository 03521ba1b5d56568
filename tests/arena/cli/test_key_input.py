"""Keys from the characters of a terminal."""

import os
import pty
import tty
from collections.abc import Iterator

import pytest

from arena.cli.key_input import keys_from, read_keys, split_keys


@pytest.fixture
def terminal() -> Iterator[tuple[int, int]]:
    """Return both ends of a terminal: the user's, and the program's."""
    user, program = pty.openpty()
    tty.setraw(program)
    yield user, program
    os.close(user)
    os.close(program)


def test_characters_are_split_into_keys() -> None:
    assert list(split_keys("\x1b[B\x1bOAq\x1b")) == ["down", "up", "q", "escape"]


def test_the_rest_of_a_cut_sequence_is_read(
    terminal: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    user, program = terminal
    os.write(user, b"\x1b[B\x1b[A")
    read = os.read
    monkeypatch.setattr(os, "read", lambda descriptor, size: read(descriptor, 4))
    assert list(split_keys(read_keys(program))) == ["down", "up"]


def test_a_lone_escape_is_a_key(terminal: tuple[int, int]) -> None:
    user, program = terminal
    os.write(user, b"\x1b")
    assert list(split_keys(read_keys(program))) == ["escape"]


def test_long_sequences_and_bursts_do_not_become_other_keys(terminal: tuple[int, int]) -> None:
    user, program = terminal
    delete, shift_right, f5 = b"\x1b[3~", b"\x1b[1;2C", b"\x1b[15~"
    os.write(user, delete + b"\x1b[C" + shift_right + f5 + b"nq")
    keys = keys_from(program)
    assert [next(keys) for _ in range(3)] == ["right", "n", "q"]
