from pokearena.v1 import bot_pb2 as _bot_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class ListGamesRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class ListGamesResponse(_message.Message):
    __slots__ = ("games",)
    GAMES_FIELD_NUMBER: _ClassVar[int]
    games: _containers.RepeatedCompositeFieldContainer[GameInfo]
    def __init__(self, games: _Optional[_Iterable[_Union[GameInfo, _Mapping]]] = ...) -> None: ...

class GameInfo(_message.Message):
    __slots__ = ("id", "title", "seats", "options")
    ID_FIELD_NUMBER: _ClassVar[int]
    TITLE_FIELD_NUMBER: _ClassVar[int]
    SEATS_FIELD_NUMBER: _ClassVar[int]
    OPTIONS_FIELD_NUMBER: _ClassVar[int]
    id: str
    title: str
    seats: _containers.RepeatedScalarFieldContainer[int]
    options: _containers.RepeatedCompositeFieldContainer[OptionInfo]
    def __init__(self, id: _Optional[str] = ..., title: _Optional[str] = ..., seats: _Optional[_Iterable[int]] = ..., options: _Optional[_Iterable[_Union[OptionInfo, _Mapping]]] = ...) -> None: ...

class OptionInfo(_message.Message):
    __slots__ = ("name", "default_text", "meaning")
    NAME_FIELD_NUMBER: _ClassVar[int]
    DEFAULT_TEXT_FIELD_NUMBER: _ClassVar[int]
    MEANING_FIELD_NUMBER: _ClassVar[int]
    name: str
    default_text: str
    meaning: str
    def __init__(self, name: _Optional[str] = ..., default_text: _Optional[str] = ..., meaning: _Optional[str] = ...) -> None: ...

class RunTableRequest(_message.Message):
    __slots__ = ("table", "report")
    TABLE_FIELD_NUMBER: _ClassVar[int]
    REPORT_FIELD_NUMBER: _ClassVar[int]
    table: Table
    report: BotReport
    def __init__(self, table: _Optional[_Union[Table, _Mapping]] = ..., report: _Optional[_Union[BotReport, _Mapping]] = ...) -> None: ...

class Table(_message.Message):
    __slots__ = ("match", "game", "options", "seats", "boards", "start_ms", "allowance_ms", "strict", "unforgiving", "watch_ms")
    class OptionsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    MATCH_FIELD_NUMBER: _ClassVar[int]
    GAME_FIELD_NUMBER: _ClassVar[int]
    OPTIONS_FIELD_NUMBER: _ClassVar[int]
    SEATS_FIELD_NUMBER: _ClassVar[int]
    BOARDS_FIELD_NUMBER: _ClassVar[int]
    START_MS_FIELD_NUMBER: _ClassVar[int]
    ALLOWANCE_MS_FIELD_NUMBER: _ClassVar[int]
    STRICT_FIELD_NUMBER: _ClassVar[int]
    UNFORGIVING_FIELD_NUMBER: _ClassVar[int]
    WATCH_MS_FIELD_NUMBER: _ClassVar[int]
    match: str
    game: str
    options: _containers.ScalarMap[str, str]
    seats: _containers.RepeatedCompositeFieldContainer[Seat]
    boards: _containers.RepeatedCompositeFieldContainer[Board]
    start_ms: int
    allowance_ms: int
    strict: bool
    unforgiving: bool
    watch_ms: int
    def __init__(self, match: _Optional[str] = ..., game: _Optional[str] = ..., options: _Optional[_Mapping[str, str]] = ..., seats: _Optional[_Iterable[_Union[Seat, _Mapping]]] = ..., boards: _Optional[_Iterable[_Union[Board, _Mapping]]] = ..., start_ms: _Optional[int] = ..., allowance_ms: _Optional[int] = ..., strict: bool = ..., unforgiving: bool = ..., watch_ms: _Optional[int] = ...) -> None: ...

class Seat(_message.Message):
    __slots__ = ("address", "bank_ms", "faults", "crashes")
    ADDRESS_FIELD_NUMBER: _ClassVar[int]
    BANK_MS_FIELD_NUMBER: _ClassVar[int]
    FAULTS_FIELD_NUMBER: _ClassVar[int]
    CRASHES_FIELD_NUMBER: _ClassVar[int]
    address: str
    bank_ms: int
    faults: int
    crashes: int
    def __init__(self, address: _Optional[str] = ..., bank_ms: _Optional[int] = ..., faults: _Optional[int] = ..., crashes: _Optional[int] = ...) -> None: ...

class Board(_message.Message):
    __slots__ = ("game", "number", "seed")
    GAME_FIELD_NUMBER: _ClassVar[int]
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    SEED_FIELD_NUMBER: _ClassVar[int]
    game: int
    number: int
    seed: bytes
    def __init__(self, game: _Optional[int] = ..., number: _Optional[int] = ..., seed: _Optional[bytes] = ...) -> None: ...

class BotReport(_message.Message):
    __slots__ = ("seat", "inquiry", "ended", "resources", "output", "restarted", "exit_status", "signal", "peak_memory")
    SEAT_FIELD_NUMBER: _ClassVar[int]
    INQUIRY_FIELD_NUMBER: _ClassVar[int]
    ENDED_FIELD_NUMBER: _ClassVar[int]
    RESOURCES_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_FIELD_NUMBER: _ClassVar[int]
    RESTARTED_FIELD_NUMBER: _ClassVar[int]
    EXIT_STATUS_FIELD_NUMBER: _ClassVar[int]
    SIGNAL_FIELD_NUMBER: _ClassVar[int]
    PEAK_MEMORY_FIELD_NUMBER: _ClassVar[int]
    seat: int
    inquiry: int
    ended: str
    resources: bool
    output: str
    restarted: str
    exit_status: int
    signal: str
    peak_memory: int
    def __init__(self, seat: _Optional[int] = ..., inquiry: _Optional[int] = ..., ended: _Optional[str] = ..., resources: bool = ..., output: _Optional[str] = ..., restarted: _Optional[str] = ..., exit_status: _Optional[int] = ..., signal: _Optional[str] = ..., peak_memory: _Optional[int] = ...) -> None: ...

class RunTableResponse(_message.Message):
    __slots__ = ("game", "faulted", "finished", "shown")
    GAME_FIELD_NUMBER: _ClassVar[int]
    FAULTED_FIELD_NUMBER: _ClassVar[int]
    FINISHED_FIELD_NUMBER: _ClassVar[int]
    SHOWN_FIELD_NUMBER: _ClassVar[int]
    game: GameFinished
    faulted: BotFaulted
    finished: TableFinished
    shown: PositionShown
    def __init__(self, game: _Optional[_Union[GameFinished, _Mapping]] = ..., faulted: _Optional[_Union[BotFaulted, _Mapping]] = ..., finished: _Optional[_Union[TableFinished, _Mapping]] = ..., shown: _Optional[_Union[PositionShown, _Mapping]] = ...) -> None: ...

class GameFinished(_message.Message):
    __slots__ = ("game", "board", "record")
    GAME_FIELD_NUMBER: _ClassVar[int]
    BOARD_FIELD_NUMBER: _ClassVar[int]
    RECORD_FIELD_NUMBER: _ClassVar[int]
    game: int
    board: int
    record: str
    def __init__(self, game: _Optional[int] = ..., board: _Optional[int] = ..., record: _Optional[str] = ...) -> None: ...

class PositionShown(_message.Message):
    __slots__ = ("game", "board", "decision", "actors", "view")
    GAME_FIELD_NUMBER: _ClassVar[int]
    BOARD_FIELD_NUMBER: _ClassVar[int]
    DECISION_FIELD_NUMBER: _ClassVar[int]
    ACTORS_FIELD_NUMBER: _ClassVar[int]
    VIEW_FIELD_NUMBER: _ClassVar[int]
    game: int
    board: int
    decision: int
    actors: _containers.RepeatedScalarFieldContainer[int]
    view: _bot_pb2.View
    def __init__(self, game: _Optional[int] = ..., board: _Optional[int] = ..., decision: _Optional[int] = ..., actors: _Optional[_Iterable[int]] = ..., view: _Optional[_Union[_bot_pb2.View, _Mapping]] = ...) -> None: ...

class BotFaulted(_message.Message):
    __slots__ = ("seat", "inquiry", "restart")
    SEAT_FIELD_NUMBER: _ClassVar[int]
    INQUIRY_FIELD_NUMBER: _ClassVar[int]
    RESTART_FIELD_NUMBER: _ClassVar[int]
    seat: int
    inquiry: int
    restart: bool
    def __init__(self, seat: _Optional[int] = ..., inquiry: _Optional[int] = ..., restart: bool = ...) -> None: ...

class TableFinished(_message.Message):
    __slots__ = ("games",)
    GAMES_FIELD_NUMBER: _ClassVar[int]
    games: int
    def __init__(self, games: _Optional[int] = ...) -> None: ...
