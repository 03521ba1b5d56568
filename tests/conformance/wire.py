"""Compare values with the messages that represent them."""

from dataclasses import fields, is_dataclass
from typing import Any

from google.protobuf.message import Message


def clean(message: Message) -> bool:
    """Return whether a message contains only fields of the protocol."""
    known = type(message)()
    known.CopyFrom(message)
    known.DiscardUnknownFields()
    return bool(known == message) and known.ByteSize() == message.ByteSize()


def same(value: Any, message: Any) -> bool:
    if not is_dataclass(value):
        return bool(value == message)
    assert isinstance(message, Message)
    names = {field.name for field in fields(value)}
    if names != {field.name for field in message.DESCRIPTOR.fields}:
        return False
    return all(same_field(getattr(value, name), getattr(message, name)) for name in names)


def same_field(value: Any, field: Any) -> bool:
    if isinstance(value, tuple):
        return len(value) == len(field) and all(map(same, value, field))
    return same(value, field)
