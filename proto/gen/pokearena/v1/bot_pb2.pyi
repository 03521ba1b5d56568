from pokearena.v1 import poke_pb2 as _poke_pb2
from pokearena.v1 import pokex_pb2 as _pokex_pb2
from pokearena.v1 import pouku_pb2 as _pouku_pb2
from pokearena.v1 import pokino_pb2 as _pokino_pb2
from pokearena.v1 import saint_poker_pb2 as _saint_poker_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class ActRequest(_message.Message):
    __slots__ = ("match", "game", "decision", "seat", "clock", "view", "legal", "complete", "luck")
    MATCH_FIELD_NUMBER: _ClassVar[int]
    GAME_FIELD_NUMBER: _ClassVar[int]
    DECISION_FIELD_NUMBER: _ClassVar[int]
    SEAT_FIELD_NUMBER: _ClassVar[int]
    CLOCK_FIELD_NUMBER: _ClassVar[int]
    VIEW_FIELD_NUMBER: _ClassVar[int]
    LEGAL_FIELD_NUMBER: _ClassVar[int]
    COMPLETE_FIELD_NUMBER: _ClassVar[int]
    LUCK_FIELD_NUMBER: _ClassVar[int]
    match: str
    game: int
    decision: int
    seat: int
    clock: Clock
    view: View
    legal: _containers.RepeatedCompositeFieldContainer[Action]
    complete: bool
    luck: int
    def __init__(self, match: _Optional[str] = ..., game: _Optional[int] = ..., decision: _Optional[int] = ..., seat: _Optional[int] = ..., clock: _Optional[_Union[Clock, _Mapping]] = ..., view: _Optional[_Union[View, _Mapping]] = ..., legal: _Optional[_Iterable[_Union[Action, _Mapping]]] = ..., complete: bool = ..., luck: _Optional[int] = ...) -> None: ...

class ActResponse(_message.Message):
    __slots__ = ("game", "decision", "action", "note")
    GAME_FIELD_NUMBER: _ClassVar[int]
    DECISION_FIELD_NUMBER: _ClassVar[int]
    ACTION_FIELD_NUMBER: _ClassVar[int]
    NOTE_FIELD_NUMBER: _ClassVar[int]
    game: int
    decision: int
    action: Action
    note: str
    def __init__(self, game: _Optional[int] = ..., decision: _Optional[int] = ..., action: _Optional[_Union[Action, _Mapping]] = ..., note: _Optional[str] = ...) -> None: ...

class PlayRequest(_message.Message):
    __slots__ = ("questions",)
    QUESTIONS_FIELD_NUMBER: _ClassVar[int]
    questions: _containers.RepeatedCompositeFieldContainer[ActRequest]
    def __init__(self, questions: _Optional[_Iterable[_Union[ActRequest, _Mapping]]] = ...) -> None: ...

class PlayResponse(_message.Message):
    __slots__ = ("answers",)
    ANSWERS_FIELD_NUMBER: _ClassVar[int]
    answers: _containers.RepeatedCompositeFieldContainer[ActResponse]
    def __init__(self, answers: _Optional[_Iterable[_Union[ActResponse, _Mapping]]] = ...) -> None: ...

class Clock(_message.Message):
    __slots__ = ("allowance_ms", "bank_ms")
    ALLOWANCE_MS_FIELD_NUMBER: _ClassVar[int]
    BANK_MS_FIELD_NUMBER: _ClassVar[int]
    allowance_ms: int
    bank_ms: int
    def __init__(self, allowance_ms: _Optional[int] = ..., bank_ms: _Optional[int] = ...) -> None: ...

class StartRequest(_message.Message):
    __slots__ = ("match", "game", "seats", "seat", "options", "games", "clock")
    class OptionsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    MATCH_FIELD_NUMBER: _ClassVar[int]
    GAME_FIELD_NUMBER: _ClassVar[int]
    SEATS_FIELD_NUMBER: _ClassVar[int]
    SEAT_FIELD_NUMBER: _ClassVar[int]
    OPTIONS_FIELD_NUMBER: _ClassVar[int]
    GAMES_FIELD_NUMBER: _ClassVar[int]
    CLOCK_FIELD_NUMBER: _ClassVar[int]
    match: str
    game: str
    seats: int
    seat: int
    options: _containers.ScalarMap[str, str]
    games: int
    clock: Clock
    def __init__(self, match: _Optional[str] = ..., game: _Optional[str] = ..., seats: _Optional[int] = ..., seat: _Optional[int] = ..., options: _Optional[_Mapping[str, str]] = ..., games: _Optional[int] = ..., clock: _Optional[_Union[Clock, _Mapping]] = ...) -> None: ...

class StartResponse(_message.Message):
    __slots__ = ("games_in_flight", "without_legal")
    GAMES_IN_FLIGHT_FIELD_NUMBER: _ClassVar[int]
    WITHOUT_LEGAL_FIELD_NUMBER: _ClassVar[int]
    games_in_flight: int
    without_legal: bool
    def __init__(self, games_in_flight: _Optional[int] = ..., without_legal: bool = ...) -> None: ...

class EndRequest(_message.Message):
    __slots__ = ("match",)
    MATCH_FIELD_NUMBER: _ClassVar[int]
    match: str
    def __init__(self, match: _Optional[str] = ...) -> None: ...

class EndResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class View(_message.Message):
    __slots__ = ("poke", "saint_poker", "pokex", "pouku", "pokino")
    POKE_FIELD_NUMBER: _ClassVar[int]
    SAINT_POKER_FIELD_NUMBER: _ClassVar[int]
    POKEX_FIELD_NUMBER: _ClassVar[int]
    POUKU_FIELD_NUMBER: _ClassVar[int]
    POKINO_FIELD_NUMBER: _ClassVar[int]
    poke: _poke_pb2.PokeView
    saint_poker: _saint_poker_pb2.SaintPokerView
    pokex: _pokex_pb2.PokexView
    pouku: _pouku_pb2.PoukuView
    pokino: _pokino_pb2.PokinoView
    def __init__(self, poke: _Optional[_Union[_poke_pb2.PokeView, _Mapping]] = ..., saint_poker: _Optional[_Union[_saint_poker_pb2.SaintPokerView, _Mapping]] = ..., pokex: _Optional[_Union[_pokex_pb2.PokexView, _Mapping]] = ..., pouku: _Optional[_Union[_pouku_pb2.PoukuView, _Mapping]] = ..., pokino: _Optional[_Union[_pokino_pb2.PokinoView, _Mapping]] = ...) -> None: ...

class Action(_message.Message):
    __slots__ = ("poke", "saint_poker", "pokex", "pouku", "pokino")
    POKE_FIELD_NUMBER: _ClassVar[int]
    SAINT_POKER_FIELD_NUMBER: _ClassVar[int]
    POKEX_FIELD_NUMBER: _ClassVar[int]
    POUKU_FIELD_NUMBER: _ClassVar[int]
    POKINO_FIELD_NUMBER: _ClassVar[int]
    poke: _poke_pb2.PokeAction
    saint_poker: _saint_poker_pb2.SaintPokerAction
    pokex: _pokex_pb2.PokexAction
    pouku: _pouku_pb2.PoukuAction
    pokino: _pokino_pb2.PokinoAction
    def __init__(self, poke: _Optional[_Union[_poke_pb2.PokeAction, _Mapping]] = ..., saint_poker: _Optional[_Union[_saint_poker_pb2.SaintPokerAction, _Mapping]] = ..., pokex: _Optional[_Union[_pokex_pb2.PokexAction, _Mapping]] = ..., pouku: _Optional[_Union[_pouku_pb2.PoukuAction, _Mapping]] = ..., pokino: _Optional[_Union[_pokino_pb2.PokinoAction, _Mapping]] = ...) -> None: ...
