"""The description of an operation, and the values that a form or a program sends for it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from arena.config import Bounds
from arena.errors import InvalidSettings, OutOfRange, StoreError, nearest
from arena.store.access.audit_log import Actor
from arena.store.access.sessions import Role
from arena.store.matches.listing import Match
from arena.web.data.web_state import WebState
from referee.games.contract import SetupError
from referee.sanitizing import is_blank

_MAX_CHARACTERS: Final = 8000
_OF_BOTS: Final = frozenset(
    {
        *("unknown-version", "unknown-bot", "not-entered", "not-played", "named-twice", "retired"),
        *("in-quarantine", "entered", "withdrawn", "too-few-entrants", "too-few-owners"),
    }
)
"""Codes of errors about the named bots."""
_BOTS: Final = ("version", "bots", "opponent", "name")
"""Fields that name bots."""
_WHOLE: Final = re.compile(r"-?[0-9]{1,9}")


@dataclass(frozen=True, slots=True)
class InputField:
    """An input of an action.

    Args:
        kind: "text", "number", "seconds" (milliseconds, which a form shows as seconds), "checkbox",
            "lines" (a list of strings) or "pairs" (NAME=VALUE).
        example: an example or the default, shown in the form.
        choices: the allowed values of a text; empty: any.
        label: its name in a form; empty: the name.
        bounds: the range of a number; None: any.
    """

    name: str
    summary: str
    kind: str = "text"
    required: bool = False
    example: str = ""
    choices: tuple[str, ...] = ()
    label: str = ""
    bounds: Bounds | None = None

    @property
    def input(self) -> str:
        """Its name in a form."""
        return f"{self.name.removesuffix('_ms')}_seconds" if self.kind == "seconds" else self.name

    def milliseconds(self, text: str) -> int:
        """Return seconds of a form as milliseconds; raises InvalidSettings outside of the range."""
        bounds = self.bounds or Bounds(0, 10**9)
        try:
            value = float(text) * 1000
            if bounds.least <= value <= bounds.most:
                return round(value)
        except ValueError:
            pass
        raise InvalidSettings(
            f"this must be {bounds.least / 1000:g} to {bounds.most / 1000:g} seconds, "
            f"not {text[:40]}.",
            key=(self.name,),
        )


REASON: Final = InputField("reason", "reason for the audit log", required=True)
PUBLIC_REASON: Final = InputField(
    "reason", "reason for the audit log and the pages of the matches", required=True
)


@dataclass(frozen=True, slots=True)
class ActionRequest:
    """The values of a request, with the person who sent it.

    Args:
        path: the values in the path.
        values: the fields of the form or of the JSON object.
        sent: the texts of the form, as its inputs name them; empty without a form.
    """

    web: WebState
    actor: Actor
    path: Mapping[str, str]
    values: Mapping[str, Any]
    sent: Mapping[str, str] = field(default_factory=dict)

    def text(self, name: str) -> str:
        """Return a text without surrounding spaces; raises InvalidSettings for another value."""
        value = self.values.get(name)
        if value is None:
            return ""
        if not isinstance(value, str) or len(value) > _MAX_CHARACTERS:
            raise InvalidSettings(
                f'"{name}" must be a string of at most {_MAX_CHARACTERS} characters.'
            )
        return value.strip()

    def number(self, name: str) -> int | None:
        """Return a whole number; None if it is missing; raises OutOfRange for another value."""
        value = self.values.get(name)
        if value in (None, ""):
            return None
        if isinstance(value, str) and _WHOLE.fullmatch(value.strip()):
            return int(value)
        if type(value) is not int or abs(value) > 10**9:
            raise OutOfRange(name, "a whole number", str(value)[:40])
        return value

    def flag(self, name: str) -> bool:
        """Return whether a checkbox is set."""
        return self.values.get(name) in (True, "true", "on", "1", "yes")

    def lines(self, name: str) -> list[str]:
        """Return the strings of a list, or the lines of a text that are not empty."""
        value = self.values.get(name)
        if isinstance(value, list) and all(isinstance(item, str) for item in value):
            return [item.strip() for item in value if item.strip()]
        return [line.strip() for line in self.text(name).splitlines() if line.strip()]


@dataclass(frozen=True, slots=True)
class ActionResult:
    """The result of an action.

    Args:
        page: the path of the page to show after a form; empty: the values are shown once on a page.
    """

    values: Mapping[str, Any]
    page: str = ""
    template: str = "management/result.html"
    model: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Changes:
    """The changes of an action that has not been performed, for its page of confirmation.

    Args:
        sentences: what changes and what stays.
        matches: the matches that it ends.
        back: path of the page from which it is requested.
    """

    title: str
    sentences: tuple[str, ...]
    matches: tuple[Match, ...] = ()
    back: str = ""


@dataclass(frozen=True, slots=True)
class Action:
    """An operation.

    Args:
        path: the path, with named values in braces.
        name: its name in the audit log, for example "tournament.pause".
        role: who may request it.
        example: a result, for the OpenAPI document.
        audited: whether its endpoint adds an entry to the audit log; false for an action that
            changes nothing or adds its own entry.
        created: whether success is status 201.
        form: path of the page with its form; empty: the page of confirmation.
        changes: returns its changes for a page of confirmation, which has the path of the action;
            None without such a page.
        begins: path of the page with the form that leads to the page of confirmation; empty: links
            with valid values lead there.
    """

    path: str
    name: str
    label: str
    summary: str
    run: Callable[[ActionRequest], ActionResult]
    fields: tuple[InputField, ...] = ()
    role: Role = Role.ORGANISER
    example: Mapping[str, Any] = field(default_factory=dict)
    audited: bool = True
    created: bool = False
    form: str = ""
    changes: Callable[[ActionRequest], Changes] | None = None
    begins: str = ""

    @property
    def form_path(self) -> str:
        """Path of the page that shows the form again, with the sent values, when it is refused."""
        return self.form or self.path

    def check(self, request: ActionRequest) -> None:
        """Raise InvalidSettings for an unknown or missing input, or a value that is not allowed."""
        _check_text(request.values)
        known = [*(each.name for each in self.fields), "reason"]
        for name in request.values:
            if name not in known:
                hint = nearest(name, known) or f"; available: {', '.join(known)}."
                raise InvalidSettings(f'unknown field "{name[:60]}"{hint}', code="unknown-name")
        for each in self.fields:
            value = request.values.get(each.name)
            if each.required and (is_blank(value) if isinstance(value, str) else not value):
                raise InvalidSettings(
                    f'"{each.name}" is missing: {each.summary}.', code="missing", key=(each.name,)
                )
            if each.choices and value and value not in each.choices:
                raise InvalidSettings(
                    f'"{each.name}" must be one of {", ".join(each.choices)}.',
                    code="unknown-name",
                    key=(each.name,),
                )

    def form_values(self, sent: Mapping[str, str]) -> dict[str, Any]:
        """Return the values of a form, named and typed as in a JSON object.

        The input `options.reference` is the value `reference` of the pairs `options`. Empty inputs
        of pairs and of seconds are missing.

        Raises:
            InvalidSettings: a number of seconds is not valid.
        """
        values = dict[str, Any](sent)
        for each in self.fields:
            if each.kind == "seconds" and (text := values.pop(each.input, "").strip()):
                values[each.name] = each.milliseconds(text)
            prefix = f"{each.name}."
            if each.kind == "pairs" and each.name not in sent:
                names = [name for name in values if name.startswith(prefix)]
                pairs = {name.removeprefix(prefix): values.pop(name).strip() for name in names}
                values[each.name] = {name: text for name, text in pairs.items() if text}
        return values

    def place_of(self, error: StoreError | SetupError) -> str:
        """Return the input of its form to which an error belongs; empty if it is unknown."""
        match error:
            case InvalidSettings(key=("clock", str(name))):
                return name
            case InvalidSettings(key=(first, *rest)):
                # A list of bots is one input.
                return ".".join([str(first), *(each for each in rest if isinstance(each, str))])
            case OutOfRange(name=name):
                return name
            case _ if error.code in _OF_BOTS:
                names = [each.name for each in self.fields if each.name in _BOTS]
                return next(iter(names), "")
        return ""

    def joined(self, pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
        """Return the inputs of a form: of inputs with one name all lines, or the last text."""
        lists = {each.name for each in self.fields if each.kind == "lines"}
        sent: dict[str, str] = {}
        for name, text in pairs:
            is_further = name in lists and name in sent
            sent[name] = f"{sent[name]}\n{text}" if is_further else text
        return sent

    def subject(self, request: ActionRequest) -> str:
        """Return the id or name of the changed object, for the audit log."""
        inputs = ("version", "name", "game")
        names = (*request.path.values(), *map(request.text, inputs))
        return next((name for name in names if name), "")

    def details(self, request: ActionRequest) -> dict[str, Any]:
        """Return the inputs except the reason, for the audit log. No input is a secret."""
        return {
            each.name: request.values[each.name]
            for each in self.fields
            if each.name != "reason" and request.values.get(each.name) not in (None, "")
        }


def _check_text(value: object) -> None:
    """Check that all strings can be stored: valid Unicode, without control characters."""
    if isinstance(value, str):
        if any(0xD800 <= ord(character) < 0xE000 for character in value) or "\0" in value:
            raise InvalidSettings("a value contains characters that cannot be stored.")
    elif isinstance(value, Mapping):
        for name, item in value.items():
            _check_text(name)
            _check_text(item)
    elif isinstance(value, list):
        for item in value:
            _check_text(item)
