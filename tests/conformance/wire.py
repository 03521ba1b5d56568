"""Encode messages, and compare values with the messages that represent them."""

from dataclasses import fields, is_dataclass
from typing import Any

from google.protobuf.message import Message
from pokearena.v1 import bot_pb2

from referee.game_codec import GameCodec
from referee.games.contract import State, View

Viewer = int | None
"""A seat, or None for a spectator."""


def seen(state: State, viewer: Viewer) -> View:
    """Return the view of a seat or a spectator."""
    return state.public() if viewer is None else state.view(viewer)


def question(codec: GameCodec, state: State, seat: Viewer) -> bytes:
    """Return the message to a seat or a spectator, with the fields that depend on the position."""
    if seat is None:
        return codec.view(state.public())
    if seat not in state.actors:
        return codec.question(bot_pb2.ActRequest(seat=seat), state.view(seat), ())
    legal = state.legal(seat)
    head = bot_pb2.ActRequest(seat=seat, complete=legal.complete)
    return codec.question(head, state.view(seat), legal)


def named(value: Any) -> set[str]:
    """Return all texts in a value at any depth."""
    if isinstance(value, str):
        return {value}
    if is_dataclass(value):
        return set().union(*(named(getattr(value, field.name)) for field in fields(value)))
    if isinstance(value, tuple):
        return set().union(*map(named, value))
    return set()


def clean(message: Message) -> bool:
    """Return whether a message contains only fields of the protocol."""
    known = type(message)()
    known.CopyFrom(message)
    known.DiscardUnknownFields()
    return bool(known == message) and known.ByteSize() == message.ByteSize()


def same(value: Any, message: Any) -> bool:
    """Return whether a message and a value have exactly the same fields and content."""
    if not is_dataclass(value):
        return bool(value == message)
    assert isinstance(message, Message)
    names = {field.name for field in fields(value)}
    if names != {field.name for field in message.DESCRIPTOR.fields}:
        return False
    return all(same_field(getattr(value, name), getattr(message, name)) for name in names)


def same_field(value: Any, field: Any) -> bool:
    """Return whether a field of a message equals the field of a value."""
    if isinstance(value, tuple):
        return len(value) == len(field) and all(map(same, value, field))
    return same(value, field)
