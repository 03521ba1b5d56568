"""Format actions as short English phrases, and read such phrases."""

from collections.abc import Iterable
from dataclasses import MISSING, fields
from typing import Any, get_args, get_type_hints

from referee.field_names import snake
from referee.games.contract import Action, Legal

_LISTED = 12


def describe(action: Action) -> str:
    """Format an action: ``lead 4C 4H``, ``discard 6H keep QC QS``, ``pass turn no draw``.

    Fields at their default are omitted.
    """
    words = [snake(type(action).__name__).replace("_", " ")]
    for number, field in enumerate(fields(action)):
        value = getattr(action, field.name)
        if value is False:
            words += ["no", field.name]
            continue
        if value == field.default:
            continue
        if number and isinstance(value, tuple):
            words.append(field.name)
        words.extend(map(str, value) if isinstance(value, tuple) else [str(value)])
    return " ".join(words)


def parse_description(text: str, action_types: Iterable[type]) -> Action | None:
    """Return the action that :func:`describe` formats as this text, or None if there is none.

    Upper and lower case are equal. Actions can have fields that are switches, whole numbers, texts,
    or tuples of texts or whole numbers.
    """
    words = text.split()
    for kind in action_types:
        try:
            action = kind(**_field_values(kind, words))
        except (TypeError, ValueError):
            continue
        if describe(action).lower().split() == text.lower().split():
            return action
    return None


def _field_values(kind: type, words: list[str]) -> dict[str, Any]:
    """Return the values of the fields of an action whose words these may be."""
    types, named = get_type_hints(kind), fields(kind)
    left = words[len(snake(kind.__name__).split("_")) :]
    values: dict[str, Any] = {}
    for number, field in enumerate(named):
        ends = {"no", *(later.name for later in named[number + 1 :])}
        if types[field.name] is bool:
            if [word.lower() for word in left[:2]] == ["no", field.name]:
                values[field.name], left = False, left[2:]
        elif get_args(types[field.name]):
            if number and [word.lower() for word in left[:1]] != [field.name]:
                continue
            left = left[bool(number) :]
            end = next((n for n, word in enumerate(left) if word.lower() in ends), len(left))
            convert, taken, left = get_args(types[field.name])[0], left[:end], left[end:]
            values[field.name] = tuple(_value(convert, word) for word in taken)
        elif left and not (left[0].lower() in ends and field.default is not MISSING):
            values[field.name], left = _value(types[field.name], left[0]), left[1:]
    return values


def _value(kind: Any, word: str) -> str | int:
    """Return a word as a value of a field: names of cards and the like are in upper case."""
    return int(word) if kind is int else word if kind is str else word.upper()


def describe_some(legal: Legal) -> str:
    """Format the first 12 legal actions, with ``...`` if there are more."""
    words = [describe(action) for action, _ in zip(legal, range(_LISTED + 1), strict=False)]
    more = len(words) > _LISTED
    return " | ".join(words[:_LISTED]) + (" | ..." if more else "")
