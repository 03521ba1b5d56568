"""Convert between the rules' dataclasses and the protocol's messages, for all games.

Messages and dataclasses have the same names and fields. The view ``PokeView`` is the message
``PokeView``; the action ``PickUp`` is the member ``pick_up`` of its game's action message.

Messages are assembled as bytes, because an encoded message is the concatenation of its encoded
fields. Constant parts (the history of a game, its listed actions) are encoded only once.
"""

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import MISSING, Field, fields, is_dataclass
from functools import cache, lru_cache
from operator import attrgetter
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.descriptor_pb2 import DescriptorProto, FieldDescriptorProto
from google.protobuf.json_format import ParseDict, ParseError
from google.protobuf.message_factory import GetMessageClass
from pokearena.v1 import bot_pb2

from referee.field_names import camel, snake
from referee.games.contract import Action, Game, LazyActions, View

# Encode protobuf's wire format, as far as needed to assemble messages from encoded parts.
#
# An encoded message is the concatenation of its encoded fields, in any order
# (https://protobuf.dev/programming-guides/encoding/).

_LENGTH_DELIMITED = 2


def varint(number: int) -> bytes:
    """Encode a whole number, 0 or more, as a varint: seven bits per byte, lowest bits first."""
    made = bytearray()
    while number > 0x7F:
        made.append(number & 0x7F | 0x80)
        number >>= 7
    made.append(number)
    return bytes(made)


class _Tags(dict[int, bytes]):
    """Encoded tags of length-delimited fields by field number, filled on access."""

    def __missing__(self, number: int) -> bytes:
        made = self[number] = varint(number << 3 | _LENGTH_DELIMITED)
        return made


_LENGTHS = [varint(length) for length in range(1 << 12)]
_TAGS = _Tags()


def field(number: int, message: bytes) -> bytes:
    """Encode a length-delimited field: tag, length, bytes."""
    length = len(message)
    return _TAGS[number] + (_LENGTHS[length] if length < 4096 else varint(length)) + message


Decode = Callable[[Any], Any]


def is_repeated(hint: Any) -> bool:
    """Return whether a field of this type is a tuple, that is, a repeated field of the message."""
    return get_origin(hint) is tuple


def is_optional(member: Field[Any]) -> bool:
    """Return whether an omitted field differs from an empty, 0 or false one.

    This holds if the default is not empty, 0 or false. The field is ``optional`` in the message.
    """
    return member.default is not MISSING and bool(member.default)


@cache
def decoder(kind: type) -> Decode:
    """Build a function that converts a message to the dataclass of the same shape."""
    hints = get_type_hints(kind)
    parts = [(member.name, _part(hints[member.name])) for member in fields(kind)]
    optional = [member.name for member in fields(kind) if is_optional(member)]
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
    """Build a function that converts a field's value to the value in the dataclass."""
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


Encode = Callable[[Any], bytes]
_Encoded = TypeVar("_Encoded", str, bytes)


class EncodingCache(dict[Any, bytes]):
    """A cache of encoded values, filled on access.

    It is cleared when it holds ``most`` entries.
    """

    def __init__(self, make: Encode, most: int) -> None:
        self._make = make
        self._most = most

    def __missing__(self, key: Any) -> bytes:
        if len(self) >= self._most:
            self.clear()
        made = self[key] = self._make(key)
        return made


_VIEW = bot_pb2.ActRequest.VIEW_FIELD_NUMBER
_LEGAL = bot_pb2.ActRequest.LEGAL_FIELD_NUMBER

REMEMBERED_ACTIONS = 1 << 12
"""Entries per cache of actions. Each game has five such caches; an entry takes about 0.3 kB."""
_RECENT = 1 << 11
"""Entries per generation of a cache of values of the games in progress."""
_LISTED = 1 << 17
"""Entries per generation of all caches of the listed actions of a game, at most 20 MB."""
LONG_ACTION_BYTES = 1 << 10
"""Size limit in bytes of a cached action; the longest of a game has a few hundred bytes."""

_WORDS = 1 << 10
"""Entries in the cache of a text field; a game has far fewer different texts."""


class _ListedCache(dict[Any, bytes]):
    """The encoded actions of one constructor by argument, filled on access."""

    def __init__(self, encode: Encode) -> None:
        self._encode = encode
        self._older: dict[Any, bytes] = {}

    def __missing__(self, argument: Any) -> bytes:
        made = self[argument] = self._older.get(argument) or self._encode(argument)
        return made

    def age(self) -> None:
        """Keep only entries that are used before the next call."""
        self._older = dict(self)
        self.clear()


class ListedActions(dict[Callable[..., Action], _ListedCache]):
    """Caches of encoded actions by constructor and argument, filled on access.

    They have one limit together, because a game may have hundreds of constructors. A position
    lists nearly the same actions as the one before, so the entries of the last positions are kept.
    """

    def __init__(self, encode: Encode) -> None:
        self._encode = encode

    def __missing__(self, make: Callable[..., Action]) -> _ListedCache:
        made = self[make] = _ListedCache(lambda argument: self._encode(make(argument)))
        return made

    def limit(self) -> None:
        """Drop the entries that were not used recently if there are more than `_LISTED`."""
        if sum(map(len, self.values())) > _LISTED:
            for cache in self.values():
                cache.age()


class DecodeError(ValueError):
    """A message is not a valid action of the game.

    The text is a clause whose subject is the answer.
    """


class MessageMismatch(TypeError):
    """The protocol's messages do not fit the rules of a game. The text is a full sentence."""


def json_of(value: Any) -> Any:
    """Convert a value of the rules to protobuf's JSON form.

    Empty, false, zero and None values are omitted unless the field is optional in the message.
    """
    if is_dataclass(value):
        items = ((f, json_of(getattr(value, f.name))) for f in fields(value))
        return {
            camel(f.name): item
            for f, item in items
            if is_optional(f) or item not in ("", 0, False, [], None)
        }
    if isinstance(value, tuple):
        return [json_of(item) for item in value]
    return value


class GameCodec:
    """Encodes the views and actions of one game and decodes the actions of bots."""

    def __init__(self, game: Game) -> None:
        self._game = game
        member = _member(bot_pb2.Action.DESCRIPTOR, game.id).message_type
        self._types = {snake(action.__name__): action for action in game.action_types}
        self._names = {action: name for name, action in self._types.items()}
        members = {action: _member(member, name) for action, name in self._names.items()}
        self._numbers = {action: member.number for action, member in members.items()}
        self._forget: list[Callable[[], None]] = []
        self._encoders = {
            action: _encoder(action, member.message_type, self._forget)
            for action, member in members.items()
        }
        view = _member(bot_pb2.View.DESCRIPTOR, game.id)
        self._encode_view = _encoder(game.view_type, view.message_type, self._forget)
        self._number: int = view.number
        self.action = lru_cache(REMEMBERED_ACTIONS)(self._action)
        self.action_text = lru_cache(REMEMBERED_ACTIONS)(self._action_text)
        self._listed = lru_cache(REMEMBERED_ACTIONS)(self._listed_action)
        self._spelled = ListedActions(self._listed_action)
        self._known = lru_cache(REMEMBERED_ACTIONS)(self._decode_bytes)

    def forget_games(self) -> None:
        """Drop the values of games in progress, when a table is over; others encode theirs anew."""
        for forget in self._forget:
            forget()

    def view(self, view: View) -> bytes:
        """Encode a view as the bytes of a ``View``."""
        return field(self._number, self._encode_view(view))

    def decode_view(self, message: bot_pb2.View) -> View:
        """Convert a ``View`` message to the view of the rules.

        Raises:
            DecodeError: it is a view of another game.
        """
        game = message.WhichOneof("game")
        if game != self._game.id:
            raise DecodeError(f"is a view of {game}; expected one of {self._game.id}")
        return decoder(self._game.view_type)(getattr(message, game))

    def _action(self, action: Action) -> bytes:
        """Encode an action as the bytes of an ``Action``."""
        kind = type(action)
        return field(self._number, field(self._numbers[kind], self._encoders[kind](action)))

    def _listed_action(self, action: Action) -> bytes:
        return field(_LEGAL, self._action(action))

    def question(self, head: bot_pb2.ActRequest, view: View, legal: Iterable[Action]) -> bytes:
        """Encode a question as the bytes of an ``ActRequest``.

        Args:
            head: the request without its view and legal actions.
            view: the view of the seat.
            legal: the actions to list.
        """
        parts = [head.SerializeToString(), field(_VIEW, self.view(view))]
        if isinstance(legal, LazyActions):
            for kind, arguments in legal.by_constructor():
                parts += map(self._spelled[kind].__getitem__, arguments)
            self._spelled.limit()
        else:
            parts += map(self._listed, legal)
        return b"".join(parts)

    def action_json(self, action: Action) -> dict[str, Any]:
        """Convert an action to the protocol's JSON form."""
        return {camel(self._game.id): {camel(self._names[type(action)]): json_of(action)}}

    def _action_text(self, action: Action) -> str:
        """Serialize an action to the protocol's JSON form."""
        return json.dumps(self.action_json(action), separators=(",", ":"))

    def decode(self, message: bot_pb2.Action) -> Action:
        """Decode the action in a message.

        Raises:
            DecodeError: the message does not contain an action of this game.
        """
        # Unknown fields and very long actions are not cached: a bot could send padding to fill the
        # cache.
        message.DiscardUnknownFields()
        data = message.SerializeToString()
        return (self._known if len(data) <= LONG_ACTION_BYTES else self._decode_bytes)(data)

    def _decode_bytes(self, data: bytes) -> Action:
        message = bot_pb2.Action.FromString(data)
        game = message.WhichOneof("game")
        if game != self._game.id:
            content = f"is an action of {game}" if game else "holds no action"
            raise DecodeError(f"{content}; expected one of {self._game.id}")
        word = getattr(message, game)
        name = word.WhichOneof("action")
        if name is None:
            raise DecodeError(f"names no kind of action; {game} has {', '.join(self._types)}")
        return decoder(self._types[name])(getattr(word, name))

    def decode_json(self, given: object) -> Action:
        """Decode an action from the protocol's JSON form.

        Raises:
            DecodeError: the JSON does not contain an action of this game.
        """
        if not isinstance(given, dict):
            raise DecodeError(f"is not a valid JSON action: {json.dumps(given)} is not an object")
        try:
            return self.decode(ParseDict(given, bot_pb2.Action()))
        except ParseError as error:
            reason, *_ = str(error).split("\n")  # the following lines list field names
            raise DecodeError(f"is not a valid JSON action: {reason}") from error


def chosen_action(response: bot_pb2.ActResponse, legal: Sequence[bot_pb2.Action]) -> bot_pb2.Action:
    """Return the action of an answer: its own, or the listed one that it chooses by its number.

    Raises:
        DecodeError: it has both, or no action has this number.
    """
    if not response.HasField("choice"):
        return response.action
    if response.HasField("action"):
        raise DecodeError('has both a "choice" and an "action"')
    if response.choice >= len(legal):
        listed = f"0 to {len(legal) - 1}" if legal else "none"
        raise DecodeError(f"has the choice {response.choice}, and the listed actions are {listed}")
    return legal[response.choice]


def _encoder(kind: type, descriptor: Any, forget: list[Callable[[], None]]) -> Encode:
    """Build a function that encodes a dataclass as the bytes of its message.

    Fields are encoded by kind:

    1. Texts, mostly cards, are concatenated from cached bytes.
    2. Nested values are encoded once each.
    3. Protobuf encodes all other fields; the result is cached by their values.
    """
    _check_message(kind, descriptor)
    message: Any = GetMessageClass(descriptor)
    hints = get_type_hints(kind)
    plain: list[str] = []
    others: list[str] = []
    encoders: list[Encode] = []
    for member in fields(kind):
        hint = hints[member.name]
        inner = get_args(hint)[0] if is_repeated(hint) else hint
        message_field = descriptor.fields_by_name[member.name]
        if isinstance(inner, type) and is_dataclass(inner):
            others.append(member.name)
            encode_inner = _encoder(inner, message_field.message_type, forget)
            encoders.append(_repeated(message_field.number, encode_inner, forget))
        elif message_field.type == FieldDescriptor.TYPE_STRING:
            others.append(member.name)
            encoders.append(_texts(message_field.number, is_repeated(hint)))
        else:
            plain.append(member.name)
    values, parts = _getter(plain), _getter(others)
    numbers = EncodingCache(
        lambda values: message(**dict(zip(plain, values, strict=True))).SerializeToString(), _WORDS
    )

    def encode(value: Any) -> bytes:
        made = numbers[values(value)] if plain else b""
        for part, encode_part in zip(parts(value), encoders, strict=True):
            if part:
                made += encode_part(part)
        return made

    return encode


def _member(descriptor: Any, name: str) -> Any:
    """Return the descriptor of a field of a message."""
    member = descriptor.fields_by_name.get(name)
    if member is None:
        known = ", ".join(descriptor.fields_by_name.keys())
        raise MessageMismatch(
            f'the message {descriptor.full_name} has no field "{name}", only {known}; '
            f"add the field to {descriptor.file.name} and run scripts/generate"
        )
    return member


def _check_message(kind: type, descriptor: Any) -> None:
    """Check that a message has the name and the fields of a dataclass."""
    if descriptor is None or descriptor.name != kind.__name__:
        name = "a single value" if descriptor is None else f"the message {descriptor.name}"
        raise MessageMismatch(f"{kind.__name__} cannot be sent as {name}")
    hints = get_type_hints(kind)
    message = DescriptorProto()
    descriptor.CopyToProto(message)
    lists = {f.name for f in message.field if f.label == FieldDescriptorProto.LABEL_REPEATED}
    for member in fields(kind):
        _member(descriptor, member.name)
        if (member.name in lists) != is_repeated(hints[member.name]):
            form = "a list" if member.name in lists else "a single value"
            raise MessageMismatch(
                f"{descriptor.full_name}.{member.name} is {form}, unlike the field of "
                f"{kind.__name__}"
            )
    extra = set(descriptor.fields_by_name.keys()) - {member.name for member in fields(kind)}
    if extra:
        raise MessageMismatch(
            f"{kind.__name__} has no field {min(extra)}, but {descriptor.full_name} has"
        )


def _texts(number: int, repeated: bool) -> Encode:
    """Build an encoder for a text field or a repeated member, with a cache per text."""
    encoded_text = EncodingCache(lambda text: field(number, text.encode()), _WORDS).__getitem__
    return (lambda texts: b"".join(map(encoded_text, texts))) if repeated else encoded_text


def _getter(names: list[str]) -> Callable[[Any], tuple[Any, ...]]:
    if not names:
        return lambda value: ()
    get = attrgetter(*names)
    return get if len(names) > 1 else lambda value: (get(value),)


def _repeated(number: int, encode: Encode, forget: list[Callable[[], None]]) -> Encode:
    """Build an encoder for a repeated field that caches the whole tuple and each item."""
    encode_item = remembering(lambda item: field(number, encode(item)), forget)
    return remembering(lambda items: b"".join([encode_item(item) for item in items]), forget)


def remembering(
    encode: Callable[[Any], _Encoded], forget: list[Callable[[], None]]
) -> Callable[[Any], _Encoded]:
    """Cache encoded values by identity: the history of a game is part of every view.

    A lookup by identity is faster than a comparison of values. The cache keeps a reference to each
    value, so its identity cannot be reused while it is cached.

    Values of games that are over are never looked up again. When the newer generation of entries
    is full, it replaces the older one, and entries that are used return to the newer one.
    """
    newer: dict[int, tuple[Any, _Encoded]] = {}
    older: dict[int, tuple[Any, _Encoded]] = {}

    def encoded(value: Any) -> _Encoded:
        nonlocal newer, older
        cached = newer.get(id(value))
        if cached is not None:
            return cached[1]
        if len(newer) >= _RECENT:
            newer, older = {}, newer
        entry = older.get(id(value)) or (value, encode(value))
        newer[id(value)] = entry
        return entry[1]

    def clear() -> None:
        nonlocal newer, older
        newer, older = {}, {}

    forget.append(clear)
    return encoded
