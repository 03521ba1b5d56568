"""Between the rules' dataclasses and the protocol's messages: one codec for all games.

It works because the messages are named and shaped as the dataclasses: a view ``PokeView`` is the
message ``PokeView``; an action ``PickUp`` is the member ``pick_up`` of its game's action.
"""

import json
import re
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from functools import lru_cache
from operator import attrgetter
from typing import Any, get_args, get_origin, get_type_hints

from google.protobuf.json_format import ParseDict, ParseError
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass
from pokearena.v1 import bot_pb2

from referee.games.contract import Action, Game, View

Encode = Callable[[Any], Message]

_REMEMBERED = 8192


class DecodeError(ValueError):
    """A message that is no action of the game. Its text is a clause about the answer."""


def snake(name: str) -> str:
    """``PickUp`` as ``pick_up``."""
    return re.sub(r"(?<!^)([A-Z])", r"_\1", name).lower()


def camel(name: str) -> str:
    """``pick_up`` as ``pickUp``, the way protobuf writes names in JSON."""
    head, *tail = name.split("_")
    return head + "".join(word.capitalize() for word in tail)


def json_of(value: Any) -> Any:
    """A value of the rules as protobuf's JSON form has it: defaults left out."""
    if is_dataclass(value):
        items = ((camel(f.name), json_of(getattr(value, f.name))) for f in fields(value))
        return {name: item for name, item in items if item not in ("", 0, False, [], None)}
    if isinstance(value, tuple):
        return [json_of(item) for item in value]
    return value


class Codec:
    """Encodes what one game says, and decodes what is said to it."""

    def __init__(self, game: Game) -> None:
        self._game = game
        member: Any = bot_pb2.Action.DESCRIPTOR.fields_by_name[game.id].message_type
        self._message: Any = GetMessageClass(member)
        self._types = {snake(action.__name__): action for action in game.action_types}
        self._names = {action: name for name, action in self._types.items()}
        self._encoders = {
            action: _encoder(action, member.nested_types_by_name[action.__name__])
            for action in game.action_types
        }
        view = bot_pb2.View.DESCRIPTOR.fields_by_name[game.id].message_type
        self._encode_view = _encoder(game.view_type, view)
        self._fields = {
            name: [(f.name, _is_repeated(get_type_hints(kind)[f.name])) for f in fields(kind)]
            for name, kind in self._types.items()
        }
        self.action = lru_cache(_REMEMBERED)(self._action)
        self.action_text = lru_cache(_REMEMBERED)(self._action_text)
        self._known = lru_cache(_REMEMBERED)(self._decode_bytes)

    def view(self, view: View) -> bot_pb2.View:
        """What a seat sees, as a message."""
        member: dict[str, Any] = {self._game.id: self._encode_view(view)}
        return bot_pb2.View(**member)

    def _action(self, action: Action) -> bot_pb2.Action:
        """An action as a message, which must not be changed."""
        kind = type(action)
        word = self._message(**{self._names[kind]: self._encoders[kind](action)})
        member: dict[str, Any] = {self._game.id: word}
        return bot_pb2.Action(**member)

    def action_json(self, action: Action) -> dict[str, Any]:
        """An action in the protocol's JSON form."""
        return {camel(self._game.id): {camel(self._names[type(action)]): json_of(action)}}

    def _action_text(self, action: Action) -> str:
        """An action in the protocol's JSON form, as text."""
        return json.dumps(self.action_json(action), separators=(",", ":"))

    def decode(self, message: bot_pb2.Action) -> Action:
        """The action in a message.

        Raises:
            DecodeError: there is none of this game in it.
        """
        return self._known(message.SerializeToString())

    def _decode_bytes(self, data: bytes) -> Action:
        message = bot_pb2.Action.FromString(data)
        game = message.WhichOneof("game")
        if game != self._game.id:
            said = f"is an action of {game}" if game else "holds no action"
            raise DecodeError(f"{said}, where one of {self._game.id} was asked for")
        word = getattr(message, game)
        name = word.WhichOneof("action")
        if name is None:
            raise DecodeError(f"names no kind of action; {game} has {', '.join(self._types)}")
        given = getattr(word, name)
        values = (
            tuple(getattr(given, field)) if repeated else getattr(given, field)
            for field, repeated in self._fields[name]
        )
        return self._types[name](*values)

    def decode_json(self, given: dict[str, Any]) -> Action:
        """The action in the protocol's JSON form.

        Raises:
            DecodeError: there is none of this game in it.
        """
        try:
            return self.decode(ParseDict(given, bot_pb2.Action()))
        except ParseError as error:
            raise DecodeError(f"is no action in JSON: {error}") from error


def _is_repeated(hint: Any) -> bool:
    return get_origin(hint) is tuple


def _encoder(kind: type, descriptor: Any) -> Encode:
    """A function from a dataclass to its message."""
    if descriptor.name != kind.__name__:
        raise TypeError(f"{kind.__name__} would be sent as {descriptor.name}")
    message: Any = GetMessageClass(descriptor)
    hints = get_type_hints(kind)
    plain: list[str] = []
    nested: list[tuple[str, Encode]] = []
    for field in fields(kind):
        inner = get_args(hints[field.name])[0] if _is_repeated(hints[field.name]) else None
        if isinstance(inner, type) and is_dataclass(inner):
            below = descriptor.fields_by_name[field.name].message_type
            nested.append((field.name, _remembering(_encoder(inner, below))))
        else:
            plain.append(field.name)
    values = _getter(plain)

    def encode(value: Any) -> Message:
        made: Message = message(**dict(zip(plain, values(value), strict=True)))
        for name, encode_item in nested:
            if items := getattr(value, name):
                getattr(made, name).extend([encode_item(item) for item in items])
        return made

    return encode


def _getter(names: list[str]) -> Callable[[Any], tuple[Any, ...]]:
    if len(names) > 1:
        return attrgetter(*names)
    return lambda value: tuple(getattr(value, name) for name in names)


def _remembering(encode: Encode) -> Encode:
    """Encodes the same value once: the past of a game is in every view of it.

    Values are known by identity, which is quicker than comparing them; each is kept with its
    message, so an identity cannot be used again while it is remembered.
    """
    known: dict[int, tuple[Any, Message]] = {}

    def encoded(value: Any) -> Message:
        found = known.get(id(value))
        if found is not None:
            return found[1]
        if len(known) >= _REMEMBERED:
            known.clear()
        message = encode(value)
        known[id(value)] = (value, message)
        return message

    return encoded
