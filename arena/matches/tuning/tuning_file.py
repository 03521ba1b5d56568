"""Read what `pokearena tune` tunes from a TOML file (docs/how-to/tune.md)."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from msgspec import Meta

from arena.config import BOARDS
from arena.matches.tuning.spsa import Parameter
from arena.store.match_settings import MatchSettings, within
from arena.system.structured_file import FileError, InvalidKey, read_toml

NAME: Final = re.compile(r"[a-z][a-z0-9_-]{0,39}")
MOST_PARAMETERS: Final = 256
"""Maximum number of parameters: the number of bits of a seed."""


class TuningFileError(FileError):
    """A tuning file cannot be read or is not valid."""


@dataclass(frozen=True, slots=True)
class _ParameterTable:
    start: float
    minimum: float
    maximum: float
    c_end: Annotated[float, Meta(gt=0, description="a number above 0")]
    r_end: Annotated[float, Meta(gt=0, description="a number above 0")] = 0.002
    integer: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class TuningFile(MatchSettings):
    """The keys of a tuning file."""

    bot: str
    iterations: Annotated[int, Meta(ge=1, le=1_000_000, description="1 to 1,000,000")]
    parameters: dict[str, _ParameterTable]
    boards: Annotated[int, within(BOARDS)] = 1
    """Boards of an iteration, each played in both seatings."""
    parallel: Annotated[int, Meta(ge=1, le=256, description="1 to 256")] = 1
    """Iterations that are played at the same time with the same values."""
    seed: str = "1"
    faults: Literal["lenient", "unforgiving"] = "lenient"

    @property
    def tuned(self) -> tuple[Parameter, ...]:
        """The parameters in the order of their names."""
        return tuple(
            Parameter(n, t.start, t.minimum, t.maximum, t.c_end, t.r_end, t.integer)
            for n, t in sorted(self.parameters.items())
        )


def read(path: Path) -> TuningFile:
    """Read and validate a tuning file.

    Raises:
        TuningFileError: the file is missing, unreadable or not valid.
    """
    return read_toml(path, TuningFile, TuningFileError, _check)


def _check(content: TuningFile) -> None:
    if not 0 < len(content.parameters) <= MOST_PARAMETERS:
        raise InvalidKey(("parameters",), f'"parameters" must have 1 to {MOST_PARAMETERS} tables')
    for name, table in content.parameters.items():
        _check_parameter(name, table)


def _check_parameter(name: str, table: _ParameterTable) -> None:
    def wrong(key: str, sentence: str) -> InvalidKey:
        return InvalidKey(("parameters", name, key) if key else ("parameters", name), sentence)

    if not NAME.fullmatch(name):
        raise wrong(
            "",
            f'the name "{name}" must begin with a lowercase letter and have up to 40 lowercase '
            "letters, digits, - and _",
        )
    if not table.minimum < table.maximum:
        raise wrong("maximum", f'"maximum" must be greater than "minimum", {table.minimum:g}')
    if not table.minimum <= table.start <= table.maximum:
        raise wrong("start", f'"start" must be from {table.minimum:g} to {table.maximum:g}')
    for key in ("start", "minimum", "maximum", "c_end", "r_end"):
        if not math.isfinite(getattr(table, key)):
            raise wrong(key, f'"{key}" must be a finite number')
    if table.integer and table.c_end < 0.5:
        raise wrong(
            "c_end", '"c_end" of an integer must be at least 0.5; smaller steps change nothing'
        )
    for key in ("start", "minimum", "maximum"):
        if table.integer and not float(getattr(table, key)).is_integer():
            raise wrong(key, f'"{key}" of an integer must be a whole number')


def with_arguments(run: tuple[str, ...], values: Mapping[str, str]) -> tuple[str, ...]:
    """Return a command with the arguments "--NAME VALUE"; existing ones are replaced."""
    words: list[Any] = list(run)
    for name, value in values.items():
        flag = f"--{name}"
        if flag in words[:-1]:
            words[words.index(flag) + 1] = value
        else:
            words += [flag, value]
    return tuple(words)
