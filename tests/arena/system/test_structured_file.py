"""Test files that are parsed into models: the place of each error, in TOML and in JSON."""

import json
import pickle
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import pytest
from msgspec import Meta

from arena.system.structured_file import FileError, FileProblem, read_json, read_toml

Whole = Annotated[int, Meta(ge=0, le=9)]


@dataclass(frozen=True)
class Part:
    size: Whole
    names: tuple[str, ...] = ()


@dataclass(frozen=True)
class Document:
    size: Whole
    part: Part | None = None
    parts: tuple[Part, ...] = ()


def toml_error(folder: Path, text: str) -> tuple[FileProblem, str, int | None]:
    path = folder / "file.toml"
    path.write_bytes(text.encode())
    with pytest.raises(FileError) as caught:
        read_toml(path, Document)
    assert caught.value.file == path
    return caught.value.problem, caught.value.key, caught.value.line


def json_error(folder: Path, value: object) -> tuple[FileProblem, str, int | None]:
    path = folder / "file.json"
    path.write_text(value if isinstance(value, str) else json.dumps(value, indent=1))
    with pytest.raises(FileError) as caught:
        read_json(path, Document)
    return caught.value.problem, caught.value.key, caught.value.line


@pytest.mark.parametrize(
    ("text", "problem", "key", "line"),
    [
        ("size = 10", FileProblem.VALUE, "size", 1),
        ("# size = 1\n\nsize = '''\n1'''", FileProblem.VALUE, "size", 3),
        ("size = 1\r\nsice = 2\r\n", FileProblem.UNKNOWN_KEY, "sice", 2),
        ("size = 1\n[part]\n", FileProblem.MISSING_KEY, "part.size", 2),
        ("size = 1\n[part]\n# a\nsize = -1", FileProblem.VALUE, "part.size", 4),
        ("size = 1\npart.size = 1.0", FileProblem.VALUE, "part.size", 2),
        ("size = 1\npart = { size = true }", FileProblem.VALUE, "part.size", 2),
        ("part = 3\nsize = 1", FileProblem.VALUE, "part", 1),
        (
            "size = 1\n[[parts]]\nsize = 1\n[[parts]]\nsize=99",
            FileProblem.VALUE,
            "parts[1].size",
            5,
        ),
        ("size = 1\nparts = [\n {size = 1},\n 3]", FileProblem.VALUE, "parts[1]", 2),
        ("size = 1\n[part]\nsize = 1\nnames = [\n 3,\n]", FileProblem.VALUE, "part.names", 4),
        ("size = 1\nsize = 2", FileProblem.SYNTAX, "", 2),
        ("size = [\n", FileProblem.SYNTAX, "", 1),
        ("size = " + "[" * 5000 + "]" * 5000, FileProblem.SYNTAX, "", None),
    ],
)
def test_an_error_in_toml_has_its_key_and_line(
    tmp_path: Path, text: str, problem: FileProblem, key: str, line: int | None
) -> None:
    assert toml_error(tmp_path, text) == (problem, key, line)


@pytest.mark.parametrize(
    ("value", "problem", "key", "line"),
    [
        ({"size": 10}, FileProblem.VALUE, "size", None),
        ([], FileProblem.VALUE, "", None),
        ({}, FileProblem.MISSING_KEY, "size", None),
        ({"size": 1, "parts": [{"size": 1}, {}]}, FileProblem.MISSING_KEY, "parts[1].size", None),
        ({"size": 1, "part": {"size": 1, "names": [2]}}, FileProblem.VALUE, "part.names", None),
        ('{"size":\n 1,}', FileProblem.SYNTAX, "", 2),
        ("[" * 100_000, FileProblem.SYNTAX, "", None),
    ],
)
def test_an_error_in_json_has_its_key_and_an_error_of_syntax_its_line(
    tmp_path: Path, value: object, problem: FileProblem, key: str, line: int | None
) -> None:
    assert json_error(tmp_path, value) == (problem, key, line)


def test_unknown_members_of_json_are_ignored(tmp_path: Path) -> None:
    (tmp_path / "file.json").write_text('{"size": 3, "later": [1]}')
    assert read_json(tmp_path / "file.json", Document) == Document(3)


def test_a_missing_key_names_its_misspelling(tmp_path: Path) -> None:
    path = tmp_path / "file.json"
    path.write_text('{"sise": 3}')
    with pytest.raises(FileError) as caught:
        read_json(path, Document)
    assert '"sise"' in caught.value.sentence


def test_an_error_survives_the_way_between_processes(tmp_path: Path) -> None:
    error = FileError(tmp_path, FileProblem.VALUE, "wrong.", "size", 3)
    copied = pickle.loads(pickle.dumps(error))
    assert (str(copied), copied.key, copied.line) == (str(error), "size", 3)


def test_a_file_that_does_not_exist_is_reported(tmp_path: Path) -> None:
    with pytest.raises(FileError) as caught:
        read_toml(tmp_path / "no.toml", Document)
    assert caught.value.problem is FileProblem.ABSENT


def test_a_folder_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(FileError) as caught:
        read_toml(tmp_path, Document)
    assert caught.value.problem is FileProblem.UNREADABLE
