from typing import Any as _Any, Literal as _Literal
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Method(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    METHOD_UNSPECIFIED: _ClassVar[Method]
    METHOD_START: _ClassVar[Method]
    METHOD_PLAY: _ClassVar[Method]
    METHOD_ACT: _ClassVar[Method]
    METHOD_END: _ClassVar[Method]
METHOD_UNSPECIFIED: Method
METHOD_START: Method
METHOD_PLAY: Method
METHOD_ACT: Method
METHOD_END: Method

class ConnectRequest(_message.Message):
    """A message from the author's machine."""
    __slots__ = ("hello", "answer", "gone", "leaving")
    HELLO_FIELD_NUMBER: _ClassVar[int]
    ANSWER_FIELD_NUMBER: _ClassVar[int]
    GONE_FIELD_NUMBER: _ClassVar[int]
    LEAVING_FIELD_NUMBER: _ClassVar[int]
    hello: Hello
    """The first message."""
    answer: Answer
    """A part of the response to an Ask."""
    gone: Gone
    """A bot's process ended without a request of the arena."""
    leaving: Leaving
    """The bot accepts no more tables, but finishes its current ones."""
    def HasField(self, field_name: _Literal['hello', 'answer', 'gone', 'leaving']) -> bool: ...
    def WhichOneof(self, oneof_group: _Literal['message']) -> _Literal['hello', 'answer', 'gone', 'leaving'] | None: ...
    def __init__(self, hello: _Optional[_Union[Hello, _Mapping[str, _Any]]] = ..., answer: _Optional[_Union[Answer, _Mapping[str, _Any]]] = ..., gone: _Optional[_Union[Gone, _Mapping[str, _Any]]] = ..., leaving: _Optional[_Union[Leaving, _Mapping[str, _Any]]] = ...) -> None: ...

class ConnectResponse(_message.Message):
    """A message to the author's machine."""
    __slots__ = ("welcome", "ask", "drop", "close", "outcome")
    WELCOME_FIELD_NUMBER: _ClassVar[int]
    ASK_FIELD_NUMBER: _ClassVar[int]
    DROP_FIELD_NUMBER: _ClassVar[int]
    CLOSE_FIELD_NUMBER: _ClassVar[int]
    OUTCOME_FIELD_NUMBER: _ClassVar[int]
    welcome: Welcome
    """The first message: the connection is accepted."""
    ask: Ask
    """A call, or the same call again after the connection was lost."""
    drop: Drop
    """A call is cancelled."""
    close: Close
    """The table is over for the bot; end its process."""
    outcome: Outcome
    """The result of a match."""
    def HasField(self, field_name: _Literal['welcome', 'ask', 'drop', 'close', 'outcome']) -> bool: ...
    def WhichOneof(self, oneof_group: _Literal['message']) -> _Literal['welcome', 'ask', 'drop', 'close', 'outcome'] | None: ...
    def __init__(self, welcome: _Optional[_Union[Welcome, _Mapping[str, _Any]]] = ..., ask: _Optional[_Union[Ask, _Mapping[str, _Any]]] = ..., drop: _Optional[_Union[Drop, _Mapping[str, _Any]]] = ..., close: _Optional[_Union[Close, _Mapping[str, _Any]]] = ..., outcome: _Optional[_Union[Outcome, _Mapping[str, _Any]]] = ...) -> None: ...

class Hello(_message.Message):
    """Identifies the connecting bot."""
    __slots__ = ("token", "instance", "tables")
    TOKEN_FIELD_NUMBER: _ClassVar[int]
    INSTANCE_FIELD_NUMBER: _ClassVar[int]
    TABLES_FIELD_NUMBER: _ClassVar[int]
    token: str
    """Token of the bot's version."""
    instance: str
    """Random ID of the connecting process. It distinguishes a reconnection from a
    second connection.
    """
    tables: int
    """Maximum number of concurrent processes of the bot; 0 means 1."""
    def __init__(self, token: _Optional[str] = ..., instance: _Optional[str] = ..., tables: _Optional[int] = ...) -> None: ...

class Welcome(_message.Message):
    """The connection is accepted."""
    __slots__ = ("version", "seats")
    VERSION_FIELD_NUMBER: _ClassVar[int]
    SEATS_FIELD_NUMBER: _ClassVar[int]
    version: str
    """The version that the token belongs to, as name@version."""
    seats: _containers.RepeatedScalarFieldContainer[int]
    """The active seats. End the processes of all other seats. An Ask follows for
    each seat with an open call.
    """
    def __init__(self, version: _Optional[str] = ..., seats: _Optional[_Iterable[int]] = ...) -> None: ...

class Ask(_message.Message):
    """A call of a method of BotService."""
    __slots__ = ("seat", "number", "method", "request", "answered", "start")
    SEAT_FIELD_NUMBER: _ClassVar[int]
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    METHOD_FIELD_NUMBER: _ClassVar[int]
    REQUEST_FIELD_NUMBER: _ClassVar[int]
    ANSWERED_FIELD_NUMBER: _ClassVar[int]
    START_FIELD_NUMBER: _ClassVar[int]
    seat: int
    """The seat. Each seat has its own process of the bot."""
    number: int
    """Number of the call at this seat, from 1. A repeated call keeps its number."""
    method: Method
    """The method."""
    request: bytes
    """The serialized request."""
    answered: int
    """Number of responses to this call that the relay has already received."""
    start: bytes
    """The serialized request of Start, which a process that is started for this
    call must receive first. Empty if Start has not been called yet.
    """
    def __init__(self, seat: _Optional[int] = ..., number: _Optional[int] = ..., method: _Optional[_Union[Method, str]] = ..., request: _Optional[bytes] = ..., answered: _Optional[int] = ..., start: _Optional[bytes] = ...) -> None: ...

class Answer(_message.Message):
    """A part of the response to a call."""
    __slots__ = ("seat", "number", "part", "response", "done", "code", "details", "closed")
    SEAT_FIELD_NUMBER: _ClassVar[int]
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    PART_FIELD_NUMBER: _ClassVar[int]
    RESPONSE_FIELD_NUMBER: _ClassVar[int]
    DONE_FIELD_NUMBER: _ClassVar[int]
    CODE_FIELD_NUMBER: _ClassVar[int]
    DETAILS_FIELD_NUMBER: _ClassVar[int]
    CLOSED_FIELD_NUMBER: _ClassVar[int]
    seat: int
    """The seat of the call."""
    number: int
    """The number of the call."""
    part: int
    """Number of the response to this call, from 1."""
    response: bytes
    """The serialized response, if any."""
    done: bool
    """Whether this is the last response to the call."""
    code: int
    """The gRPC status code of the call; 0 is OK."""
    details: str
    """The message of the gRPC status."""
    closed: bool
    """For Play: whether the bot has ended its stream."""
    def HasField(self, field_name: _Literal['response']) -> bool: ...
    def __init__(self, seat: _Optional[int] = ..., number: _Optional[int] = ..., part: _Optional[int] = ..., response: _Optional[bytes] = ..., done: bool = ..., code: _Optional[int] = ..., details: _Optional[str] = ..., closed: bool = ...) -> None: ...

class Gone(_message.Message):
    """A bot's process ended without a request of the arena."""
    __slots__ = ("seat", "ended")
    SEAT_FIELD_NUMBER: _ClassVar[int]
    ENDED_FIELD_NUMBER: _ClassVar[int]
    seat: int
    """The seat."""
    ended: str
    """How it ended, as a clause ("exited with status 1")."""
    def __init__(self, seat: _Optional[int] = ..., ended: _Optional[str] = ...) -> None: ...

class Leaving(_message.Message):
    """The bot accepts no more tables."""
    __slots__ = ()
    def __init__(self) -> None: ...

class Drop(_message.Message):
    """A call is cancelled."""
    __slots__ = ("seat", "number")
    SEAT_FIELD_NUMBER: _ClassVar[int]
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    seat: int
    """The seat of the call."""
    number: int
    """The number of the call."""
    def __init__(self, seat: _Optional[int] = ..., number: _Optional[int] = ...) -> None: ...

class Close(_message.Message):
    """The table is over for the bot."""
    __slots__ = ("seat",)
    SEAT_FIELD_NUMBER: _ClassVar[int]
    seat: int
    """The seat."""
    def __init__(self, seat: _Optional[int] = ...) -> None: ...

class Outcome(_message.Message):
    """The result of a match."""
    __slots__ = ("match", "opponents", "games", "wins", "draws", "points", "others", "void_reason", "faults")
    MATCH_FIELD_NUMBER: _ClassVar[int]
    OPPONENTS_FIELD_NUMBER: _ClassVar[int]
    GAMES_FIELD_NUMBER: _ClassVar[int]
    WINS_FIELD_NUMBER: _ClassVar[int]
    DRAWS_FIELD_NUMBER: _ClassVar[int]
    POINTS_FIELD_NUMBER: _ClassVar[int]
    OTHERS_FIELD_NUMBER: _ClassVar[int]
    VOID_REASON_FIELD_NUMBER: _ClassVar[int]
    FAULTS_FIELD_NUMBER: _ClassVar[int]
    match: str
    """ID of the match, as used by `pokearena replay`."""
    opponents: _containers.RepeatedScalarFieldContainer[str]
    """The other entrants, as name@version."""
    games: int
    """Number of games of the match."""
    wins: int
    """Number of games in which the bot was first alone."""
    draws: int
    """Number of games in which the bot shared the first place."""
    points: int
    """The bot's points over all games."""
    others: _containers.RepeatedScalarFieldContainer[int]
    """The points of the opponents, in the same order."""
    void_reason: str
    """The reason why the match is void. Empty if it has a result."""
    faults: int
    """Number of faults charged to the bot."""
    def __init__(self, match: _Optional[str] = ..., opponents: _Optional[_Iterable[str]] = ..., games: _Optional[int] = ..., wins: _Optional[int] = ..., draws: _Optional[int] = ..., points: _Optional[int] = ..., others: _Optional[_Iterable[int]] = ..., void_reason: _Optional[str] = ..., faults: _Optional[int] = ...) -> None: ...

class SeatRequest(_message.Message):
    """The bot to seat."""
    __slots__ = ("version", "match", "even_absent")
    VERSION_FIELD_NUMBER: _ClassVar[int]
    MATCH_FIELD_NUMBER: _ClassVar[int]
    EVEN_ABSENT_FIELD_NUMBER: _ClassVar[int]
    version: str
    """The bot, as name@version."""
    match: str
    """The match it plays."""
    even_absent: bool
    """Whether to seat the bot even if it is not connected; it can connect later."""
    def __init__(self, version: _Optional[str] = ..., match: _Optional[str] = ..., even_absent: bool = ...) -> None: ...

class SeatResponse(_message.Message):
    """A change of the seat's state."""
    __slots__ = ("seated", "absent", "ended")
    SEATED_FIELD_NUMBER: _ClassVar[int]
    ABSENT_FIELD_NUMBER: _ClassVar[int]
    ENDED_FIELD_NUMBER: _ClassVar[int]
    seated: Seated
    """First response: the bot is seated."""
    absent: Absent
    """First response instead: the bot is not available."""
    ended: Ended
    """The bot's process ended without a request of the arena."""
    def HasField(self, field_name: _Literal['seated', 'absent', 'ended']) -> bool: ...
    def WhichOneof(self, oneof_group: _Literal['message']) -> _Literal['seated', 'absent', 'ended'] | None: ...
    def __init__(self, seated: _Optional[_Union[Seated, _Mapping[str, _Any]]] = ..., absent: _Optional[_Union[Absent, _Mapping[str, _Any]]] = ..., ended: _Optional[_Union[Ended, _Mapping[str, _Any]]] = ...) -> None: ...

class Seated(_message.Message):
    """The bot is seated and accepts calls."""
    __slots__ = ("address",)
    ADDRESS_FIELD_NUMBER: _ClassVar[int]
    address: str
    """The gRPC address of the bot."""
    def __init__(self, address: _Optional[str] = ...) -> None: ...

class Absent(_message.Message):
    """The bot is not connected, or accepts no more tables at the moment."""
    __slots__ = ("reason",)
    REASON_FIELD_NUMBER: _ClassVar[int]
    reason: str
    """The reason, as a sentence."""
    def __init__(self, reason: _Optional[str] = ...) -> None: ...

class Ended(_message.Message):
    """A bot's process ended without a request of the arena."""
    __slots__ = ("clause",)
    CLAUSE_FIELD_NUMBER: _ClassVar[int]
    clause: str
    """How it ended, as a clause."""
    def __init__(self, clause: _Optional[str] = ...) -> None: ...
