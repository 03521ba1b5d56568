"""From the protocol's messages back to the rules' dataclasses, which are named and shaped alike."""

from collections.abc import Callable
from dataclasses import MISSING, Field, fields, is_dataclass
from functools import cache
from typing import Any, get_args, get_origin, get_type_hints

Decode = Callable[[Any], Any]


def is_repeated(hint: Any) -> bool:
    """Whether a field of this type is a tuple, a repeated field of the message."""
    return get_origin(hint) is tuple


def is_optional(one: Field[Any]) -> bool:
    """Whether a field left out means something else than empty, 0 or false.

    Such a field is ``optional`` in the message.
    """
    return one.default is not MISSING and bool(one.default)


@cache
def decoder(kind: type) -> Decode:
    """A function from a message to the dataclass of its shape."""
    hints = get_type_hints(kind)
    parts = [(one.name, _part(hints[one.name])) for one in fields(kind)]
    optional = [one.name for one in fields(kind) if is_optional(one)]
    if not optional:
        return lambda message: kind(*[decode(getattr(message, name)) for name, decode in parts])

    def decoded(message: Any) -> Any:
        left_out = [name for name in optional if not message.HasField(name)]
        return kind(
            **{
                name: decode(getattr(message, name))
                for name, decode in parts
                if name not in left_out
            }
        )

    return decoded


def _part(hint: Any) -> Decode:
    """From the value of a field to what the dataclass holds."""
    if not is_repeated(hint):
        return _item(hint)
    inner = get_args(hint)[0]
    if not _is_message(inner):
        return tuple
    decode = _item(inner)
    return lambda values: tuple([decode(value) for value in values])


def _item(hint: Any) -> Decode:
    return decoder(hint) if _is_message(hint) else lambda value: value


def _is_message(hint: Any) -> bool:
    return isinstance(hint, type) and is_dataclass(hint)
