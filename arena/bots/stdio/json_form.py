"""Messages in protobuf's JSON form, with all fields in the order of the protocol.

The views and actions of a game of a package have the same form as those of a built-in game:
``{"ticTacToe": {...}}``.

The result equals that of protobuf's ``MessageToDict`` with
``always_print_fields_with_no_presence``, but in a fixed order and in a third of the time. That
time counts against the program's clock.
"""

import json
from collections.abc import Callable
from functools import cache
from typing import Any, Final

from google.protobuf.descriptor import Descriptor, FieldDescriptor
from pokearena.v1 import bot_pb2

from referee.field_names import camel

Write = Callable[[Any], Any]

_WITH_GENERIC: Final = frozenset(
    (bot_pb2.View.DESCRIPTOR.full_name, bot_pb2.Action.DESCRIPTOR.full_name)
)
_AS_TEXT: Final = frozenset(
    {
        FieldDescriptor.CPPTYPE_INT64,
        FieldDescriptor.CPPTYPE_UINT64,
    }
)
"""Integer types that JavaScript's numbers cannot represent exactly."""


@cache
def writer(kind: Descriptor) -> Write:
    """Build a function that converts a message of this type to its JSON form."""
    write = _writer(kind)
    if kind.full_name not in _WITH_GENERIC:
        return write
    return lambda message: (
        {camel(message.generic.game): json.loads(message.generic.json)}
        if message.HasField("generic")
        else write(message)
    )


def _writer(kind: Descriptor) -> Write:
    parts = [
        (field.name, field.json_name, field.has_presence, _part(field)) for field in kind.fields
    ]

    def write(message: Any) -> dict[str, Any]:
        members = {}
        for name, key, may_lack, part in parts:
            if may_lack and not message.HasField(name):
                continue
            value = getattr(message, name)
            members[key] = part(value) if part is not None else value
        return members

    return write


def _part(field: FieldDescriptor) -> Write | None:
    """Build a function that converts a field's value to JSON; None if it needs no conversion."""
    kind = field.message_type
    if kind is not None and kind.GetOptions().map_entry:
        return lambda entries: dict(sorted(entries.items()))
    write: Write | None = None
    if kind is not None:
        write = writer(kind)
    elif field.cpp_type in _AS_TEXT:
        write = str
    if field.default_value != []:  # only repeated fields have a list
        return write
    if write is None:
        return list
    item = write
    return lambda values: [item(value) for value in values]
