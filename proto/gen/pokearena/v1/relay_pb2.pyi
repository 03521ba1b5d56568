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
    __slots__ = ("hello", "answer", "gone", "leaving")
    HELLO_FIELD_NUMBER: _ClassVar[int]
    ANSWER_FIELD_NUMBER: _ClassVar[int]
    GONE_FIELD_NUMBER: _ClassVar[int]
    LEAVING_FIELD_NUMBER: _ClassVar[int]
    hello: Hello
    answer: Answer
    gone: Gone
    leaving: Leaving
    def __init__(self, hello: _Optional[_Union[Hello, _Mapping]] = ..., answer: _Optional[_Union[Answer, _Mapping]] = ..., gone: _Optional[_Union[Gone, _Mapping]] = ..., leaving: _Optional[_Union[Leaving, _Mapping]] = ...) -> None: ...

class ConnectResponse(_message.Message):
    __slots__ = ("welcome", "ask", "drop", "close", "outcome")
    WELCOME_FIELD_NUMBER: _ClassVar[int]
    ASK_FIELD_NUMBER: _ClassVar[int]
    DROP_FIELD_NUMBER: _ClassVar[int]
    CLOSE_FIELD_NUMBER: _ClassVar[int]
    OUTCOME_FIELD_NUMBER: _ClassVar[int]
    welcome: Welcome
    ask: Ask
    drop: Drop
    close: Close
    outcome: Outcome
    def __init__(self, welcome: _Optional[_Union[Welcome, _Mapping]] = ..., ask: _Optional[_Union[Ask, _Mapping]] = ..., drop: _Optional[_Union[Drop, _Mapping]] = ..., close: _Optional[_Union[Close, _Mapping]] = ..., outcome: _Optional[_Union[Outcome, _Mapping]] = ...) -> None: ...

class Hello(_message.Message):
    __slots__ = ("token", "instance", "tables")
    TOKEN_FIELD_NUMBER: _ClassVar[int]
    INSTANCE_FIELD_NUMBER: _ClassVar[int]
    TABLES_FIELD_NUMBER: _ClassVar[int]
    token: str
    instance: str
    tables: int
    def __init__(self, token: _Optional[str] = ..., instance: _Optional[str] = ..., tables: _Optional[int] = ...) -> None: ...

class Welcome(_message.Message):
    __slots__ = ("version", "seats")
    VERSION_FIELD_NUMBER: _ClassVar[int]
    SEATS_FIELD_NUMBER: _ClassVar[int]
    version: str
    seats: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, version: _Optional[str] = ..., seats: _Optional[_Iterable[int]] = ...) -> None: ...

class Ask(_message.Message):
    __slots__ = ("seat", "number", "method", "request", "answered", "start")
    SEAT_FIELD_NUMBER: _ClassVar[int]
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    METHOD_FIELD_NUMBER: _ClassVar[int]
    REQUEST_FIELD_NUMBER: _ClassVar[int]
    ANSWERED_FIELD_NUMBER: _ClassVar[int]
    START_FIELD_NUMBER: _ClassVar[int]
    seat: int
    number: int
    method: Method
    request: bytes
    answered: int
    start: bytes
    def __init__(self, seat: _Optional[int] = ..., number: _Optional[int] = ..., method: _Optional[_Union[Method, str]] = ..., request: _Optional[bytes] = ..., answered: _Optional[int] = ..., start: _Optional[bytes] = ...) -> None: ...

class Answer(_message.Message):
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
    number: int
    part: int
    response: bytes
    done: bool
    code: int
    details: str
    closed: bool
    def __init__(self, seat: _Optional[int] = ..., number: _Optional[int] = ..., part: _Optional[int] = ..., response: _Optional[bytes] = ..., done: bool = ..., code: _Optional[int] = ..., details: _Optional[str] = ..., closed: bool = ...) -> None: ...

class Gone(_message.Message):
    __slots__ = ("seat", "ended")
    SEAT_FIELD_NUMBER: _ClassVar[int]
    ENDED_FIELD_NUMBER: _ClassVar[int]
    seat: int
    ended: str
    def __init__(self, seat: _Optional[int] = ..., ended: _Optional[str] = ...) -> None: ...

class Leaving(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class Drop(_message.Message):
    __slots__ = ("seat", "number")
    SEAT_FIELD_NUMBER: _ClassVar[int]
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    seat: int
    number: int
    def __init__(self, seat: _Optional[int] = ..., number: _Optional[int] = ...) -> None: ...

class Close(_message.Message):
    __slots__ = ("seat",)
    SEAT_FIELD_NUMBER: _ClassVar[int]
    seat: int
    def __init__(self, seat: _Optional[int] = ...) -> None: ...

class Outcome(_message.Message):
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
    opponents: _containers.RepeatedScalarFieldContainer[str]
    games: int
    wins: int
    draws: int
    points: int
    others: _containers.RepeatedScalarFieldContainer[int]
    void_reason: str
    faults: int
    def __init__(self, match: _Optional[str] = ..., opponents: _Optional[_Iterable[str]] = ..., games: _Optional[int] = ..., wins: _Optional[int] = ..., draws: _Optional[int] = ..., points: _Optional[int] = ..., others: _Optional[_Iterable[int]] = ..., void_reason: _Optional[str] = ..., faults: _Optional[int] = ...) -> None: ...

class SeatRequest(_message.Message):
    __slots__ = ("version", "match", "even_absent")
    VERSION_FIELD_NUMBER: _ClassVar[int]
    MATCH_FIELD_NUMBER: _ClassVar[int]
    EVEN_ABSENT_FIELD_NUMBER: _ClassVar[int]
    version: str
    match: str
    even_absent: bool
    def __init__(self, version: _Optional[str] = ..., match: _Optional[str] = ..., even_absent: bool = ...) -> None: ...

class SeatResponse(_message.Message):
    __slots__ = ("seated", "absent", "ended")
    SEATED_FIELD_NUMBER: _ClassVar[int]
    ABSENT_FIELD_NUMBER: _ClassVar[int]
    ENDED_FIELD_NUMBER: _ClassVar[int]
    seated: Seated
    absent: Absent
    ended: Ended
    def __init__(self, seated: _Optional[_Union[Seated, _Mapping]] = ..., absent: _Optional[_Union[Absent, _Mapping]] = ..., ended: _Optional[_Union[Ended, _Mapping]] = ...) -> None: ...

class Seated(_message.Message):
    __slots__ = ("address",)
    ADDRESS_FIELD_NUMBER: _ClassVar[int]
    address: str
    def __init__(self, address: _Optional[str] = ...) -> None: ...

class Absent(_message.Message):
    __slots__ = ("reason",)
    REASON_FIELD_NUMBER: _ClassVar[int]
    reason: str
    def __init__(self, reason: _Optional[str] = ...) -> None: ...

class Ended(_message.Message):
    __slots__ = ("clause",)
    CLAUSE_FIELD_NUMBER: _ClassVar[int]
    clause: str
    def __init__(self, clause: _Optional[str] = ...) -> None: ...
