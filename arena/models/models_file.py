"""Read `models.toml`, in which the organiser names models, their prices and limits."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Final
from urllib.parse import urlsplit

from msgspec import Meta

from arena import config
from arena.bots.manifest import MODEL_NAME
from arena.system.structured_file import FileError, FileProblem, InvalidKey, read_toml

FILE: Final = "models.toml"
EXAMINATION_TOKENS: Final = 100_000
"""Tokens that the game of an examination may use, or those of one call if these are more."""
_PER_MILLION: Final = 1_000_000

_Tokens = Annotated[int, Meta(ge=1, le=10**12)]
_Price = Annotated[float, Meta(ge=0, description="a price per million tokens, 0 or more")]


class ModelsFileError(FileError):
    """`models.toml` is unreadable or not valid."""


def _is_address(address: str) -> bool:
    try:
        parts = urlsplit(address)
        return bool(parts.hostname) and parts.username is None and parts.port != 0
    except ValueError:
        return False


@dataclass(frozen=True, slots=True)
class Model:
    """A model that the organiser offers."""

    base_url: Annotated[
        str,
        Meta(
            pattern=r"\Ahttps?://[\x21-\x7e]+\Z",
            description='an address without a password, for example "https://api.example.org/v1"',
            extra={"allows": _is_address},
        ),
    ]
    model: Annotated[str, Meta(min_length=1, description="the name that the endpoint uses")]
    input_price: _Price
    output_price: _Price
    key: Annotated[
        str,
        Meta(
            pattern=r"\A([A-Za-z_][A-Za-z0-9_]*)?\Z",
            description='the name of an environment variable, for example "EXAMPLE_KEY"',
        ),
    ] = ""
    cache_field: Annotated[
        str,
        Meta(
            pattern=r"\A([a-z_]+)?\Z",
            description='a member of requests, for example "prompt_cache_key"',
        ),
    ] = ""
    """Member of a request by which the endpoint separates prompt caches; empty if it has none."""

    def cost(self, input_tokens: int, output_tokens: int) -> float:
        """Return the price of tokens, in the unit of the prices."""
        total = input_tokens * self.input_price + output_tokens * self.output_price
        return total / _PER_MILLION

    def key_value(self, environment: Mapping[str, str] = os.environ) -> str:
        """Return the key; empty if the model needs none or the variable is not set.

        `NAME_FILE` may name a file that contains it.

        Raises:
            SettingError: that file cannot be read.
        """
        named = config.setting((self.key,), environment) if self.key else None
        return named[1] if named else ""


@dataclass(frozen=True, slots=True)
class ModelLimits:
    """The limits of every model. Tokens are those of input and output together."""

    call_tokens: _Tokens = 32_000
    """The worst case of one call; a byte of the request counts as a token."""
    output_tokens: _Tokens = 2_000
    """Tokens of one reply."""
    table_tokens: _Tokens = 1_000_000
    match_tokens: _Tokens = 4_000_000
    owner_day_tokens: _Tokens = 20_000_000
    """Tokens of all versions of an owner between two midnights (UTC)."""
    calls_per_minute: Annotated[int, Meta(ge=1, le=100_000)] = 60
    """Calls of one bot at one table."""
    call_seconds: Annotated[float, Meta(gt=0, le=3600)] = 120.0
    """Time without a response after which a request is repeated."""
    repeat_seconds: Annotated[float, Meta(ge=0, le=3600)] = 20.0
    """Time after which a match pauses, if an endpoint fails for so long."""

    @property
    def longest_call_seconds(self) -> float:
        """Return how long a call can take: repetitions, the arena's own call and a last try."""
        return self.repeat_seconds + 3 * self.call_seconds

    def smaller_budget(self, tokens: int) -> int:
        """Return these tokens as the budget of a table, which covers one call at least."""
        return max(self.call_tokens, min(self.table_tokens, tokens))

    def table_budget(self, tables: int) -> int:
        """Return the tokens that each table of a match may use.

        The tokens of a match are divided before it begins. A common rest would carry information
        from table to table.
        """
        return min(self.table_tokens, self.match_tokens // max(1, tables))


@dataclass(frozen=True, slots=True)
class ModelsFile:
    """The content of `models.toml`."""

    models: Annotated[dict[str, Model], Meta(description="tables such as [models.small]")]
    limits: ModelLimits = field(default_factory=ModelLimits)
    transcripts: str = ""
    """Folder of recorded transcripts from which calls are answered; empty: by the endpoints."""

    def most_cost(self, names: Iterable[str], tokens: int) -> float:
        """Return the price of tokens at the highest price of these models."""
        models = [self.models[name] for name in names]
        return max(max(model.cost(tokens, 0), model.cost(0, tokens)) for model in models)


def read_models(root: Path) -> ModelsFile | None:
    """Read the `models.toml` of a data folder; None if it does not exist.

    Raises:
        ModelsFileError: it is not valid.
    """
    path = root / FILE
    return read_toml(path, ModelsFile, ModelsFileError, _check) if os.path.lexists(path) else None


def author_folder(root: Path, user: Path) -> Path | None:
    """Return the folder of the `models.toml` for an author's commands: the project's or the user's.

    Args:
        root: the data folder of the project.
        user: the user's configuration folder.

    Raises:
        ModelsFileError: it is not valid, or the project's names keys. The current folder chooses
            the project, so that its file could send a key of the user to any address.
    """
    if (file := read_models(root)) is None:
        return user if os.path.lexists(user / FILE) else None
    named = next((name for name, model in file.models.items() if model.key), None)
    if named is not None:
        key = f"models.{named}.key"
        sentence = f'for this command "{key}" may be set only in {user / FILE}; move it there.'
        raise ModelsFileError(root / FILE, FileProblem.VALUE, sentence, key)
    return root


def missing_keys(file: ModelsFile, environment: Mapping[str, str] = os.environ) -> tuple[str, ...]:
    """Return the variables of keys that are not set, sorted.

    Raises:
        SettingError: a file that a variable names cannot be read.
    """
    models = file.models.values()
    return tuple(
        sorted({each.key for each in models if each.key and not each.key_value(environment)})
    )


def _check(file: ModelsFile) -> None:
    for name in file.models:
        if not MODEL_NAME.fullmatch(name):
            sentence = (
                f"the name of a model must be 1 to 40 lowercase letters, digits, ., - and _, not "
                f'"{name}".'
            )
            raise InvalidKey(("models", name), sentence)
    limits = file.limits
    for smaller, larger in (
        ("output_tokens", "call_tokens"),
        ("call_tokens", "table_tokens"),
        ("table_tokens", "match_tokens"),
        ("match_tokens", "owner_day_tokens"),
    ):
        if getattr(limits, smaller) > getattr(limits, larger):
            sentence = f'"limits.{smaller}" must be at most "limits.{larger}".'
            raise InvalidKey(("limits", smaller), sentence)
