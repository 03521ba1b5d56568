"""Read TOML and JSON files into typed models; each error names the file and the key.

Errors of TOML files, which people write, and of syntax also name the line.

A model is a dataclass whose annotations state what is valid: a type, and `msgspec.Meta` for ranges,
patterns and the description that an error prints. `Meta.extra` may hold two functions: `allows`
returns whether a value of the right type is valid; `choices` returns the valid words, and an
error suggests the nearest one.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import MISSING, dataclass, fields, is_dataclass
from datetime import datetime
from enum import Enum, StrEnum, auto
from pathlib import Path
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Final,
    Literal,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

import msgspec

from arena.errors import nearest
from referee.sanitizing import HIDDEN, quote

T = TypeVar("T")
KeyPath = tuple[str | int, ...]
"""Keys and list indices from the top of a document to a value."""

_LONGEST_VALUE: Final = 60
_LONGEST_STATEMENT: Final = 1000
"""Lines of a TOML statement after which the search for a line number ends."""
_TOML_POSITION: Final = re.compile(r"(.*) \(at (?:line (\d+), column \d+|end of document)\)")
_EXPECTED: Final[Mapping[object, str]] = {
    str: "a string",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    dict: "a table of keys and values",
    list: "a list",
    tuple: "a list",
    datetime: "an ISO 8601 time with its offset from UTC",
}


class FileProblem(StrEnum):
    """The kind of a problem with a file."""

    ABSENT = auto()
    UNREADABLE = auto()
    SYNTAX = auto()
    UNKNOWN_KEY = auto()
    MISSING_KEY = auto()
    VALUE = auto()


class FileError(Exception):
    """A file cannot be read or is not valid; the text is one sentence for the user.

    Attributes:
        file: path of the file.
        problem: the kind of the problem.
        sentence: the error and the valid values, without the place.
        key: the key with the problem, such as "clock.bank_ms"; empty for the file as a whole.
        line: number of its line, from 1; None if the problem has no line.
    """

    def __init__(
        self,
        file: Path,
        problem: FileProblem,
        sentence: str,
        key: str = "",
        line: int | None = None,
    ) -> None:
        super().__init__(file, problem, sentence, key, line)
        self.file, self.problem, self.sentence = file, problem, sentence
        self.key, self.line = key, line

    def __str__(self) -> str:
        place = f"{self.file}: " if self.line is None else f"{self.file}: line {self.line}: "
        return place + self.sentence


class InvalidKey(Exception):
    """A value is not valid; a model's own check may raise it, and the reader adds the place."""

    def __init__(
        self, path: KeyPath, sentence: str, problem: FileProblem = FileProblem.VALUE
    ) -> None:
        super().__init__(path, sentence, problem)
        self.path, self.sentence, self.problem = path, sentence, problem


@dataclass(frozen=True, slots=True)
class TomlDocument:
    """The content of a valid TOML file, without a model."""

    path: Path
    values: dict[str, Any]
    text: str

    def line(self, *keys: str | int) -> int | None:
        """Return the line of a value, or of the nearest table around it, from 1."""
        return _toml_line(self.text, keys)

    def error(self, wrong: InvalidKey, error: type[FileError]) -> FileError:
        """Return an invalid value as an error of a class that names its file and line."""
        line = self.line(*wrong.path)
        return error(self.path, wrong.problem, wrong.sentence, _key(wrong.path), line)

    def unknown_key(self, path: KeyPath, known: Iterable[str]) -> FileError:
        """Return the error that a key is unknown, with the nearest known one."""
        sentence = _unknown_key_sentence(path, known)
        return FileError(self.path, FileProblem.UNKNOWN_KEY, sentence, _key(path), self.line(*path))

    def invalid(self, path: KeyPath, sentence: str) -> FileError:
        """Return the error that a value is not valid; the sentence continues with the key."""
        sentence = f'"{_key(path)}" {sentence}'
        return FileError(self.path, FileProblem.VALUE, sentence, _key(path), self.line(*path))

    def check_type(self, path: KeyPath, value: object, kind: Any) -> None:
        """Check the type of a value.

        Raises:
            FileError: the value has another type.
        """
        for fault in _faults(value, kind, path, closed=True):
            raise self.error(fault, FileError)


def parse_toml(
    path: Path, error: type[FileError] = FileError, read: Callable[[Path], bytes] = Path.read_bytes
) -> TomlDocument:
    """Return the content of a TOML file, which `read` returns or raises OSError.

    Raises:
        FileError: the file cannot be read or is not TOML; of the class `error`.
    """
    text = _text(path, error, read)
    try:
        values = tomllib.loads(text)
    except tomllib.TOMLDecodeError as wrong:
        reason, line = str(wrong), None
        if position := _TOML_POSITION.fullmatch(reason):
            reason = position[1]
            line = int(position[2]) if position[2] else len(text.splitlines()) or 1
        raise error(path, FileProblem.SYNTAX, f"not valid TOML: {reason}.", "", line) from None
    except RecursionError:
        raise error(path, FileProblem.SYNTAX, "values are nested too deeply.") from None
    return TomlDocument(path, values, text)


def read_toml(
    path: Path,
    model: type[T],
    error: type[FileError] = FileError,
    check: Callable[[T], None] = lambda content: None,
    read: Callable[[Path], bytes] = Path.read_bytes,
) -> T:
    """Return the content of a TOML file; keys that are not in the model are errors.

    Args:
        path: the file.
        model: the dataclass to return.
        error: the class of errors to raise.
        check: checks what a type cannot express; raises InvalidKey.
        read: as for `parse_toml`.

    Raises:
        FileError: the file cannot be read or is not valid; of the class `error`.
    """
    toml = parse_toml(path, error, read)
    try:
        content = convert(toml.values, model)
        check(content)
    except InvalidKey as wrong:
        raise toml.error(wrong, error) from None
    return content


def convert(document: object, model: type[T]) -> T:
    """Return values, as in a TOML file, as a model; keys that are not in the model are errors.

    Raises:
        InvalidKey: a value is not valid.
    """
    fault = next(_faults(document, model, (), closed=True), None)
    if fault is not None:
        raise fault
    return msgspec.convert(document, model)


def read_json(path: Path, model: type[T], error: type[FileError] = FileError) -> T:
    """Return the content of a JSON file; members that are not in the model are ignored.

    Raises:
        FileError: the file cannot be read or is not valid; of the class `error`.
    """
    text = _text(path, error)
    try:
        document = json.loads(text)
    except json.JSONDecodeError as wrong:
        sentence = f"not valid JSON: {wrong.msg}."
        raise error(path, FileProblem.SYNTAX, sentence, "", wrong.lineno) from None
    except (ValueError, RecursionError) as wrong:
        raise error(path, FileProblem.SYNTAX, f"not valid JSON: {wrong}.") from None
    try:
        return msgspec.convert(document, model)
    except msgspec.ValidationError as wrong:
        fault = next(_faults(document, model, (), closed=False), None)
        if fault is None:
            raise error(path, FileProblem.VALUE, f"{wrong}.") from None
        raise error(path, fault.problem, fault.sentence, _key(fault.path)) from None


def shown(value: object) -> str:
    """Format a value as in its file, with at most 60 characters."""
    text = toml_string(value) if isinstance(value, str) else quote(json.dumps(value, default=str))
    return text if len(text) <= _LONGEST_VALUE else text[: _LONGEST_VALUE - 3] + "..."


def toml_string(text: str) -> str:
    """Return a text as a TOML string in quotes; characters that cannot be seen are escaped."""
    return f'"{"".join(map(_escaped, text))}"'


def _escaped(character: str) -> str:
    if character in '"\\':
        return "\\" + character
    if character.isprintable() and character not in HIDDEN:
        return character
    code = ord(character)
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


def _text(
    path: Path, error: type[FileError], read: Callable[[Path], bytes] = Path.read_bytes
) -> str:
    try:
        text = read(path).decode("utf-8")
        return text.replace("\r\n", "\n").replace("\r", "\n")
    except FileNotFoundError:
        raise error(path, FileProblem.ABSENT, "this file does not exist.") from None
    except OSError as wrong:
        sentence = f"cannot be read: {wrong.strerror or wrong}."
        raise error(path, FileProblem.UNREADABLE, sentence) from None
    except UnicodeDecodeError as wrong:
        line = wrong.object.count(b"\n", 0, wrong.start) + 1
        raise error(path, FileProblem.UNREADABLE, "is not UTF-8 text.", "", line) from None


def _faults(value: object, kind: Any, path: KeyPath, closed: bool) -> Iterator[InvalidKey]:
    """Yield the faults of a value of a file, in the order of the model.

    In a `closed` table, keys that are not in the model are faults.
    """
    kind, metas = _resolved(kind, value)
    if is_dataclass(kind) and isinstance(value, dict):
        yield from _table_faults(value, kind, path, closed)
        return
    elements = get_args(kind)[0] if get_origin(kind) in (list, tuple) else None
    if isinstance(value, list) and elements is not None and _is_described(elements):
        for index, element in enumerate(value):
            yield from _faults(element, elements, (*path, index), closed)
    members = get_args(kind)[1] if get_origin(kind) is dict else None
    if isinstance(value, dict) and members is not None and _is_described(members):
        for name, member in value.items():
            yield from _faults(member, members, (*path, name), closed)
    if not _is_valid(value, kind, metas):
        yield InvalidKey(path, _value_sentence(value, kind, metas, path))


def _table_faults(
    table: Mapping[str, object], model: Any, path: KeyPath, closed: bool
) -> Iterator[InvalidKey]:
    hints = get_type_hints(model, include_extras=True)
    unknown = [key for key in table if key not in hints]
    for key in unknown if closed else ():
        sentence = _unknown_key_sentence((*path, key), hints)
        yield InvalidKey((*path, key), sentence, FileProblem.UNKNOWN_KEY)
    for field in fields(model):
        inner = (*path, field.name)
        if field.name in table:
            yield from _faults(table[field.name], hints[field.name], inner, closed)
        elif field.default is MISSING and field.default_factory is MISSING:
            kind, metas = _resolved(hints[field.name], None)
            hint = nearest(field.name, unknown).replace("did you mean", "is it misspelled as")
            sentence = (
                f'"{_key(inner)}" is missing; it must be {_expected(kind, metas)}{hint or "."}'
            )
            yield InvalidKey(inner, sentence, FileProblem.MISSING_KEY)


def _unknown_key_sentence(path: KeyPath, known: Iterable[str]) -> str:
    names = list(known)
    hint = nearest(str(path[-1]), names) or f"; the keys are {', '.join(names)}."
    return f'unknown key "{quote(_key(path), _LONGEST_VALUE)}"{hint}'


def _resolved(kind: Any, value: object) -> tuple[Any, list[msgspec.Meta]]:
    """Return a type without `Annotated` and without an alternative None, and its constraints."""
    metas: list[msgspec.Meta] = []
    while True:
        if get_origin(kind) is Annotated:
            metas += [meta for meta in get_args(kind)[1:] if isinstance(meta, msgspec.Meta)]
            kind = get_args(kind)[0]
        elif get_origin(kind) in (Union, UnionType) and NoneType in get_args(kind):
            others = [other for other in get_args(kind) if other is not NoneType]
            if len(others) > 1 or value is None:
                return kind, metas
            kind = others[0]
        else:
            return kind, metas


def _is_described(kind: Any) -> bool:
    kind, metas = _resolved(kind, ...)
    return is_dataclass(kind) or any(meta.description or meta.extra for meta in metas)


def _extra(metas: list[msgspec.Meta], name: str) -> Callable[..., Any] | None:
    functions: list[Callable[..., Any]] = [
        meta.extra[name] for meta in metas if meta.extra and name in meta.extra
    ]
    return functions[0] if functions else None


def _is_valid(value: object, kind: Any, metas: list[msgspec.Meta]) -> bool:
    for meta in metas:
        kind = Annotated[kind, meta]
    try:
        converted = msgspec.convert(value, kind)
    except msgspec.ValidationError:
        return False
    allows, choices = _extra(metas, "allows"), _extra(metas, "choices")
    if allows is not None:
        return bool(allows(converted))
    return choices is None or converted in choices()


def _value_sentence(value: object, kind: Any, metas: list[msgspec.Meta], path: KeyPath) -> str:
    sentence = f'"{_key(path)}" must be {_expected(kind, metas)}, not {shown(value)}'
    choices = _words(kind, metas)
    hint = nearest(value, choices) if isinstance(value, str) and choices else ""
    return sentence + (hint or ".")


def _expected(kind: Any, metas: list[msgspec.Meta]) -> str:
    described = [meta.description for meta in metas if meta.description]
    if described:
        return described[0]
    if words := _words(kind, metas):
        return f"{', '.join(words[:-1])} or {words[-1]}" if words[1:] else words[0]
    if get_origin(kind) in (Union, UnionType):
        return " or ".join(
            "null" if other is NoneType else _expected(*_resolved(other, ...))
            for other in get_args(kind)
        )
    return _EXPECTED.get(get_origin(kind) or kind, _EXPECTED[dict])


def _words(kind: Any, metas: list[msgspec.Meta]) -> list[str]:
    """Return the words that are valid, if only some are."""
    if choices := _extra(metas, "choices"):
        return sorted(choices())
    if get_origin(kind) is Literal:
        return [str(word) for word in get_args(kind)]
    if isinstance(kind, type) and issubclass(kind, Enum):
        return [str(member.value) for member in kind]
    return []


def _key(path: KeyPath) -> str:
    """Format a path, such as "entrants[2].bot"."""
    key = ""
    for step in path:
        key += f"[{step}]" if isinstance(step, int) else f"{'.' if key else ''}{step}"
    return key


# Find the line of a value. The parser of the standard library does not report it.


def _toml_line(text: str, path: KeyPath) -> int | None:
    lines = _toml_lines(text)
    while path and path not in lines:
        path = path[:-1]
    return lines.get(path)


def _toml_lines(text: str) -> dict[KeyPath, int]:
    """Return the line of each key of a valid TOML document.

    A statement is parsed alone: lines are added until they are valid TOML by themselves.
    """
    lines: dict[KeyPath, int] = {}
    arrays: dict[KeyPath, int] = {}
    table: KeyPath = ()
    statement: list[str] = []
    for number, line in enumerate(text.replace("\r\n", "\n").split("\n"), 1):
        statement.append(line)
        try:
            parsed = tomllib.loads("\n".join(statement))
        except tomllib.TOMLDecodeError:
            if len(statement) > _LONGEST_STATEMENT:
                return lines
            continue
        first = number - len(statement) + 1
        if statement[0].lstrip().startswith("["):
            table = _header(parsed, arrays)
            lines.setdefault(table, first)
        else:
            _note(parsed, table, first, lines)
        statement = []
    return lines


def _header(parsed: Any, arrays: dict[KeyPath, int]) -> KeyPath:
    """Return the path of the table that a header opens, and count the elements of arrays."""
    path: KeyPath = ()
    while parsed:
        ((key, parsed),) = parsed.items()
        path = (*path, key)
        if isinstance(parsed, list):
            arrays[path] = arrays.get(path, -1) + 1
            parsed = parsed[0]
        if path in arrays:
            path = (*path, arrays[path])
    return path


def _note(value: Any, path: KeyPath, line: int, lines: dict[KeyPath, int]) -> None:
    if path:
        lines.setdefault(path, line)
    for key, inner in value.items() if isinstance(value, dict) else ():
        _note(inner, (*path, key), line, lines)
