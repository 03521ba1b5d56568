"""Convert between the dataclasses of a game without messages of its own and generic messages.

The fields of a dataclass have these types: ``bool``, ``int``, ``float``, ``str`` or a subclass of
it, a ``NewType`` of these, ``Literal`` texts and numbers, ``tuple[X, ...]``, ``tuple[X, Y]``,
``X | None``, and dataclasses. A view and an action are JSON objects with all their fields.
"""

import json
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from functools import lru_cache
from types import UnionType
from typing import Any, Final, Literal, NewType, Union, get_args, get_origin, get_type_hints

from google.protobuf.json_format import MessageToDict, ParseDict
from google.protobuf.message import Message
from pokearena.v1 import bot_pb2

from referee.field_names import camel, snake
from referee.game_codec import (
    LONG_ACTION_BYTES,
    REMEMBERED_ACTIONS,
    DecodeError,
    GameCodec,
    ListedActions,
    MessageMismatch,
    field,
    remembering,
)
from referee.games.contract import Action, Game, View
from referee.sanitizing import quote

ACTION_BYTES: Final = 8 << 10
"""Size limit in bytes of the JSON of an action."""
DEPTH: Final = 32
"""Limit of the levels of nested objects and arrays in the JSON of an action."""
NUMBER_CHARACTERS: Final = 40
"""Limit of the characters of a number in the JSON of an action."""
EXACT: Final = 1 << 53
"""Largest whole number of JSON that all languages read exactly; larger ones are texts."""
_WHOLE: Final = re.compile(r"-?[0-9]{1,40}")
_TEXTS: Final = re.compile(r'"(?:[^"\\]|\\.)*"')
_ACTION: Final = bot_pb2.Action.GENERIC_FIELD_NUMBER
_VIEW: Final = bot_pb2.View.GENERIC_FIELD_NUMBER
_GAME: Final = bot_pb2.GenericAction.GAME_FIELD_NUMBER
_JSON: Final = bot_pb2.GenericAction.JSON_FIELD_NUMBER
_WORDS: Final = 1 << 10

Write = Callable[[Any], str]
Read = Callable[[Any], Any]


def new_codec(game: Game) -> GameCodec:
    """Return a codec for the messages of a game: its own if the protocol has any."""
    return GameCodec(game) if has_messages(game.id) else GenericCodec(game)


def has_messages(game_id: str) -> bool:
    """Return whether the protocol has messages for the views and actions of a game."""
    return game_id != "generic" and game_id in bot_pb2.Action.DESCRIPTOR.fields_by_name


def json_of_message(message: Message) -> dict[str, Any]:
    """Return a message in protobuf's JSON form, with generic views and actions like the others.

    The view of a game of a package is ``{"ticTacToe": {...}}``, like that of a built-in game. An
    answer that other programs may be unable to read remains ``{"generic": {...}}``.
    """
    converted: dict[str, Any] = _without_generic(MessageToDict(message))
    return converted


def _without_generic(value: Any) -> Any:
    if isinstance(value, list):
        return [_without_generic(item) for item in value]
    if not isinstance(value, dict):
        return value
    match value:
        case {"generic": {"game": str(game), "json": str(text)}}:
            return {camel(game): json.loads(text)} if _is_plain(game, text) else value
    return {name: _without_generic(member) for name, member in value.items()}


def _is_plain(game: str, text: str) -> bool:
    """Return whether generic JSON stays the same as a part of another text, for any reader."""
    if snake(camel(game)) != game or has_messages(game) or _depth(text) > DEPTH:
        return False
    try:
        json.dumps(json.loads(text), allow_nan=False, ensure_ascii=False).encode()
    except ValueError:  # not JSON, an infinite number, or half of a character
        return False
    return True


def question_message(given: Mapping[str, Any]) -> bot_pb2.ActRequest:
    """Return the message of a question in the form of `json_of_message`.

    Raises:
        ParseError: it is not valid.
    """
    question = dict(given)
    if isinstance(view := question.get("view"), dict):
        question["view"] = _with_generic(view)
    if isinstance(legal := question.get("legal"), list):
        question["legal"] = [
            _with_generic(action) if isinstance(action, dict) else action for action in legal
        ]
    return ParseDict(question, bot_pb2.ActRequest())


def view_message(given: Mapping[str, Any]) -> bot_pb2.View:
    """Return the message of a view in the form of `json_of_message`.

    Raises:
        ParseError: the view of a game with messages of its own is not valid.
    """
    return ParseDict(_with_generic(given), bot_pb2.View())


def action_message(given: Mapping[str, Any]) -> bot_pb2.Action:
    """Return the message of an action in the form of `json_of_message`.

    Raises:
        ParseError: the action of a game with messages of its own is not valid.
    """
    return ParseDict(_with_generic(given), bot_pb2.Action())


def _with_generic(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return a view or an action in protobuf's JSON form."""
    game = snake(next(iter(given), ""))
    if len(given) != 1 or has_messages(game) or game == "generic":
        return dict(given)
    (content,) = given.values()
    return {"generic": {"game": game, "json": _text(content)}}


def _text(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


class GenericCodec(GameCodec):
    """Encodes the views and actions of a game of a package and decodes the actions of bots."""

    def __init__(self, game: Game) -> None:
        """Build the codec from the dataclasses of the game.

        Raises:
            MessageMismatch: a field has a type that cannot be sent.
        """
        self._game = game
        self._forget: list[Callable[[], None]] = []
        self._types = {camel(snake(kind.__name__)): kind for kind in game.action_types}
        self._names = {kind: name for name, kind in self._types.items()}
        if len(self._types) != len(game.action_types):
            raise MessageMismatch(f"two kinds of action of {game.id} have one name")
        self._writers = {kind: _writer(kind, self._forget) for kind in game.action_types}
        self._readers = {kind: _reader(kind) for kind in game.action_types}
        self._write_view = _writer(game.view_type, self._forget)
        self._read_view = _reader(game.view_type)
        self._head = field(_GAME, game.id.encode())
        self.action = lru_cache(REMEMBERED_ACTIONS)(self._action)
        self.action_text = lru_cache(REMEMBERED_ACTIONS)(self._action_text)
        self._listed = lru_cache(REMEMBERED_ACTIONS)(self._listed_action)
        self._spelled = ListedActions(self._listed_action)
        self._known = lru_cache(REMEMBERED_ACTIONS)(self._decode_json_text)

    def view(self, view: View) -> bytes:
        """Encode a view as the bytes of a ``View``."""
        return field(_VIEW, self._head + field(_JSON, self._write_view(view).encode()))

    def decode_view(self, message: bot_pb2.View) -> View:
        """Convert a ``View`` message to the view of the rules.

        Raises:
            DecodeError: it is a view of another game, or its JSON is not valid.
        """
        named = _named(message)
        if named != self._game.id:
            raise DecodeError(f"is a view of {named}; expected one of {self._game.id}")
        try:
            return self._read_view(json.loads(message.generic.json))
        except (ValueError, RecursionError) as error:
            raise DecodeError(f"is not a valid view of {named}: {error}") from None

    def _action(self, action: Action) -> bytes:
        return field(_ACTION, self._head + field(_JSON, self._content(action).encode()))

    def _content(self, action: Action) -> str:
        kind = type(action)
        return f'{{"{self._names[kind]}":{self._writers[kind](action)}}}'

    def action_json(self, action: Action) -> dict[str, Any]:
        """Convert an action to the protocol's JSON form."""
        form: dict[str, Any] = json.loads(self._action_text(action))
        return form

    def _action_text(self, action: Action) -> str:
        return f'{{"{camel(self._game.id)}":{self._content(action)}}}'

    def decode(self, message: bot_pb2.Action) -> Action:
        """Decode the action in a message.

        Raises:
            DecodeError: the message does not contain an action of this game.
        """
        named = _named(message)
        if named != self._game.id:
            content = f"is an action of {named}" if named else "holds no action"
            raise DecodeError(f"{content}; expected one of {self._game.id}")
        text = message.generic.json
        return (self._known if len(text) <= LONG_ACTION_BYTES else self._decode_json_text)(text)

    def _decode_json_text(self, text: str) -> Action:
        try:
            return self._decode_content(_limited_json(text))
        except DecodeError:
            raise
        except (ValueError, RecursionError) as error:
            raise DecodeError(f"is not a valid JSON action: {quote(str(error))}") from None

    def _decode_content(self, content: Any) -> Action:
        if not isinstance(content, dict) or len(content) != 1:
            raise DecodeError(
                f"is not an object with one kind of action; {self._game.id} has "
                f"{', '.join(self._types)}"
            )
        ((name, values),) = content.items()
        kind = self._types.get(name)
        if kind is None:
            raise DecodeError(
                f'names the kind of action "{quote(name)}"; {self._game.id} has '
                f"{', '.join(self._types)}"
            )
        return self._readers[kind](values)

    def decode_json(self, given: object) -> Action:
        """Decode an action from the protocol's JSON form, or from that of a generic message.

        Raises:
            DecodeError: the JSON does not contain an action of this game.
        """
        if not isinstance(given, dict):
            raise DecodeError("is not a valid JSON action: it is not an object")
        try:
            return self.decode(action_message(given))
        except DecodeError:
            raise
        except (ValueError, TypeError, RecursionError) as error:
            reason, *_ = str(error).split("\n")
            raise DecodeError(f"is not a valid JSON action: {quote(reason)}") from None


def _named(message: bot_pb2.Action | bot_pb2.View) -> str:
    """Return the id of the game of a message; empty if it names none."""
    member = message.WhichOneof("game")
    return quote(message.generic.game) if member == "generic" else member or ""


def _limited_json(text: str) -> Any:
    """Parse the JSON of a bot within limits that do not depend on the machine."""
    if len(text.encode()) > ACTION_BYTES:
        raise DecodeError(f"has more than {ACTION_BYTES:,} bytes of JSON")
    # Texts may contain brackets, so that most answers need no exact count.
    if text.count("[") + text.count("{") > DEPTH and _depth(text) > DEPTH:
        raise DecodeError(f"is nested deeper than {DEPTH} levels")
    return json.loads(
        text, parse_int=_whole_number, parse_float=_fraction, parse_constant=_no_constant
    )


def _depth(text: str) -> int:
    level = deepest = 0
    for character in _TEXTS.sub("", text):
        if character in "[{":
            level += 1
            deepest = max(deepest, level)
        elif character in "]}":
            level -= 1
    return deepest


def _short(text: str) -> str:
    if len(text) > NUMBER_CHARACTERS:
        raise DecodeError(f"has a number of more than {NUMBER_CHARACTERS} characters")
    return text


def _whole_number(text: str) -> int:
    return int(_short(text))


def _fraction(text: str) -> float:
    return float(_short(text))


def _no_constant(text: str) -> float:
    raise DecodeError(f"has the value {text}, which is not JSON")


def _writer(hint: Any, forget: list[Callable[[], None]]) -> Write:
    """Return a function that writes a value of a type as JSON."""
    if isinstance(hint, NewType):
        return _writer(hint.__supertype__, forget)
    if hint is bool:
        return lambda value: "true" if value else "false"
    if hint is int:
        return lambda value: str(value) if -EXACT <= value <= EXACT else f'"{value}"'
    if hint is float:
        return lambda value: repr(float(value))
    if isinstance(hint, type) and issubclass(hint, str):
        return lru_cache(_WORDS)(_text)
    if get_origin(hint) is Literal:
        return _text
    if get_origin(hint) in (Union, UnionType):
        inner = _writer(_of_optional(hint), forget)
        return lambda value: "null" if value is None else inner(value)
    if get_origin(hint) is tuple:
        return _tuple_writer(hint, forget)
    if isinstance(hint, type) and is_dataclass(hint):
        return _object_writer(hint, forget)
    raise MessageMismatch(f"a field of the type {hint} cannot be sent")


def _tuple_writer(hint: Any, forget: list[Callable[[], None]]) -> Write:
    parts = get_args(hint)
    if len(parts) != 2 or parts[1] is not ...:
        writers = [_writer(part, forget) for part in parts]
        return lambda value: (
            f"[{','.join([write(x) for write, x in zip(writers, value, strict=True)])}]"
        )
    write = _writer(parts[0], forget)
    if not is_dataclass(parts[0]):
        return lambda value: f"[{','.join(map(write, value))}]"
    # The history of a game grows: its items are part of many views.
    write_item = remembering(write, forget)
    return remembering(lambda items: f"[{','.join(map(write_item, items))}]", forget)


def _object_writer(kind: type, forget: list[Callable[[], None]]) -> Write:
    hints = get_type_hints(kind)
    parts = [
        (f'"{camel(each.name)}":', each.name, _writer(hints[each.name], forget))
        for each in fields(kind)
    ]

    def write(value: Any) -> str:
        members = [f"{key}{write_part(getattr(value, name))}" for key, name, write_part in parts]
        return f"{{{','.join(members)}}}"

    return write


def _reader(hint: Any) -> Read:
    """Return a function that converts parsed JSON to a value of a type.

    The function raises DecodeError. As in protobuf's JSON form, a field that is omitted has its
    default, or else is empty, 0 or false, and a whole number may be a text.
    """
    if isinstance(hint, NewType):
        return _reader(hint.__supertype__)
    if hint in _READERS:
        return _READERS[hint]
    if isinstance(hint, type) and issubclass(hint, str):
        return _read_text
    if get_origin(hint) is Literal:
        return _literal_reader(get_args(hint))
    if get_origin(hint) in (Union, UnionType):
        inner = _reader(_of_optional(hint))
        return lambda value: None if value is None else inner(value)
    if get_origin(hint) is tuple:
        return _tuple_reader(get_args(hint))
    if isinstance(hint, type) and is_dataclass(hint):
        return _object_reader(hint)
    raise MessageMismatch(f"a field of the type {hint} cannot be sent")


def _wrong(expected: str, value: Any) -> DecodeError:
    shown = "an object" if isinstance(value, dict) else "an array" if value == [] else None
    return DecodeError(f"has {shown or quote(str(value))} where {expected} is expected")


def _read_bool(value: Any) -> bool:
    if not isinstance(value, bool):
        raise _wrong("true or false", value)
    return value


def _read_int(value: Any) -> int:
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if isinstance(value, float) and value.is_integer() and abs(value) <= EXACT:
        return int(value)
    if isinstance(value, str) and _WHOLE.fullmatch(value):
        return int(value)
    raise _wrong("a whole number", value)


def _read_float(value: Any) -> float:
    if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
        return float(value)
    raise _wrong("a number", value)


def _read_text(value: Any) -> str:
    if not isinstance(value, str):
        raise _wrong("a text", value)
    if any("\ud800" <= character <= "\udfff" for character in value):
        raise DecodeError("has a text that is not valid Unicode")
    return value


_READERS: Final[Mapping[Any, Read]] = {bool: _read_bool, int: _read_int, float: _read_float}


def _literal_reader(allowed: tuple[Any, ...]) -> Read:
    def read(value: Any) -> Any:
        for each in allowed:
            if type(value) is type(each) and value == each:
                return each
        raise _wrong(" or ".join(map(str, allowed)), value)

    return read


def _tuple_reader(parts: tuple[Any, ...]) -> Read:
    repeated = len(parts) == 2 and parts[1] is ...
    readers = [_reader(part) for part in (parts[:1] if repeated else parts)]

    def read(value: Any) -> tuple[Any, ...]:
        if not isinstance(value, list):
            raise _wrong("an array", value)
        if repeated:
            return tuple([readers[0](item) for item in value])
        if len(value) != len(readers):
            raise DecodeError(f"has an array of {len(value)} where {len(readers)} are expected")
        return tuple([read_item(item) for read_item, item in zip(readers, value, strict=True)])

    return read


def _object_reader(kind: type) -> Read:
    hints = get_type_hints(kind)
    readers = {camel(each.name): (each.name, _reader(hints[each.name])) for each in fields(kind)}
    if len(readers) != len(fields(kind)):
        raise MessageMismatch(f"two fields of {kind.__name__} have one name in JSON")
    omitted = {
        each.name: _empty(hints[each.name]) for each in fields(kind) if each.default is MISSING
    }

    def read(value: Any) -> Any:
        if not isinstance(value, dict):
            raise _wrong("an object", value)
        values = dict(omitted)
        for key, item in value.items():
            if key not in readers:
                raise DecodeError(f'has the field "{quote(key)}", which {kind.__name__} has not')
            name, read_item = readers[key]
            values[name] = read_item(item)
        return kind(**values)

    return read


def _empty(hint: Any) -> Any:
    """Return the value of an omitted field without a default."""
    if isinstance(hint, NewType):
        return _empty(hint.__supertype__)
    if isinstance(hint, type) and is_dataclass(hint):
        return _object_reader(hint)({})
    if get_origin(hint) is Literal:
        return get_args(hint)[0]
    if get_origin(hint) is tuple:
        parts = get_args(hint)
        return () if len(parts) == 2 and parts[1] is ... else tuple(map(_empty, parts))
    if get_origin(hint) in (Union, UnionType):
        return None
    return "" if issubclass(hint, str) else hint()


def _of_optional(hint: Any) -> Any:
    """Return X of ``X | None``."""
    parts = [part for part in get_args(hint) if part is not type(None)]
    if len(parts) != 1:
        raise MessageMismatch(f"a field of the type {hint} cannot be sent")
    return parts[0]
