"""Check that a value and all values in it are immutable."""

from dataclasses import fields, is_dataclass
from enum import Enum

PLAIN = (str, bytes, int, bool, float, type(None), Enum)


def changeable(value: object, where: str = "it") -> str | None:
    """Return a description of a mutable part of a value, or None."""
    if isinstance(value, PLAIN):
        return None
    if isinstance(value, (tuple, frozenset)):
        parts = [(f"{where}[{number}]", part) for number, part in enumerate(value)]
    elif is_dataclass(value) and not isinstance(value, type):
        if not value.__dataclass_params__.frozen:  # type: ignore[attr-defined]
            return f"{where} is a {type(value).__name__}, which is not frozen"
        names = [field.name for field in fields(value)]
        if set(getattr(value, "__dict__", names)) - set(names):
            return f"{where} has more than its fields: {vars(value)}"
        parts = [(f"{where}.{name}", getattr(value, name)) for name in names]
    else:
        return f"{where} is a {type(value).__name__}"
    return next(filter(None, (changeable(part, at) for at, part in parts)), None)
