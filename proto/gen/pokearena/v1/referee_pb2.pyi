from typing import Any as _Any, Literal as _Literal
from pokearena.v1 import bot_pb2 as _bot_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class ListGamesRequest(_message.Message):
    """No arguments."""
    __slots__ = ()
    def __init__(self) -> None: ...

class ListGamesResponse(_message.Message):
    """The registered games."""
    __slots__ = ("games",)
    GAMES_FIELD_NUMBER: _ClassVar[int]
    games: _containers.RepeatedCompositeFieldContainer[GameInfo]
    """Sorted by id."""
    def __init__(self, games: _Optional[_Iterable[_Union[GameInfo, _Mapping[str, _Any]]]] = ...) -> None: ...

class GameInfo(_message.Message):
    """Description of a registered game."""
    __slots__ = ("id", "title", "seats", "options")
    ID_FIELD_NUMBER: _ClassVar[int]
    TITLE_FIELD_NUMBER: _ClassVar[int]
    SEATS_FIELD_NUMBER: _ClassVar[int]
    OPTIONS_FIELD_NUMBER: _ClassVar[int]
    id: str
    """For example "saint_poker"."""
    title: str
    """For example "Saint Poker"."""
    seats: _containers.RepeatedScalarFieldContainer[int]
    """The allowed numbers of seats."""
    options: _containers.RepeatedCompositeFieldContainer[OptionInfo]
    """Its options."""
    def __init__(self, id: _Optional[str] = ..., title: _Optional[str] = ..., seats: _Optional[_Iterable[int]] = ..., options: _Optional[_Iterable[_Union[OptionInfo, _Mapping[str, _Any]]]] = ...) -> None: ...

class OptionInfo(_message.Message):
    """A setting of a game."""
    __slots__ = ("name", "default_text", "meaning")
    NAME_FIELD_NUMBER: _ClassVar[int]
    DEFAULT_TEXT_FIELD_NUMBER: _ClassVar[int]
    MEANING_FIELD_NUMBER: _ClassVar[int]
    name: str
    """For example "must_beat"."""
    default_text: str
    """The default as text."""
    meaning: str
    """One sentence."""
    def __init__(self, name: _Optional[str] = ..., default_text: _Optional[str] = ..., meaning: _Optional[str] = ...) -> None: ...

class RunTableRequest(_message.Message):
    """The table, then reports about its bots."""
    __slots__ = ("table", "report")
    TABLE_FIELD_NUMBER: _ClassVar[int]
    REPORT_FIELD_NUMBER: _ClassVar[int]
    table: Table
    """First request: the table to play."""
    report: BotReport
    """Later requests: the state of a bot's process."""
    def HasField(self, field_name: _Literal['table', 'report']) -> bool: ...
    def WhichOneof(self, oneof_group: _Literal['message']) -> _Literal['table', 'report'] | None: ...
    def __init__(self, table: _Optional[_Union[Table, _Mapping[str, _Any]]] = ..., report: _Optional[_Union[BotReport, _Mapping[str, _Any]]] = ...) -> None: ...

class Table(_message.Message):
    """One seating with newly started bots, which plays a list of boards."""
    __slots__ = ("match", "game", "options", "seats", "boards", "start_ms", "allowance_ms", "strict", "unforgiving", "watch_ms", "watch_notes", "number", "sandbox", "rules", "corrections", "reasoning_bytes", "report_questions")
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
    WATCH_NOTES_FIELD_NUMBER: _ClassVar[int]
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    SANDBOX_FIELD_NUMBER: _ClassVar[int]
    RULES_FIELD_NUMBER: _ClassVar[int]
    CORRECTIONS_FIELD_NUMBER: _ClassVar[int]
    REASONING_BYTES_FIELD_NUMBER: _ClassVar[int]
    REPORT_QUESTIONS_FIELD_NUMBER: _ClassVar[int]
    match: str
    """ID of the match."""
    game: str
    """ID of the game."""
    options: _containers.ScalarMap[str, str]
    """Options of the game as text. Missing options have their default."""
    seats: _containers.RepeatedCompositeFieldContainer[Seat]
    """One per seat, in seat order."""
    boards: _containers.RepeatedCompositeFieldContainer[Board]
    """The boards to play, in order."""
    start_ms: int
    """Milliseconds from the start of a bot's process until Start must return."""
    allowance_ms: int
    """Milliseconds per decision that do not reduce the bank."""
    strict: bool
    """Stop the table at the first fault and explain it, as `pokearena play` does."""
    unforgiving: bool
    """A seat forfeits the rest of the table at its first fault, not at its third."""
    watch_ms: int
    """Minimum interval in milliseconds between positions sent for spectators. 0:
    send no positions.
    """
    watch_notes: bool
    """Send the latest note of each bot with the positions. A note can describe
    hidden cards.
    """
    number: int
    """Number of the table within the match."""
    sandbox: str
    """The sandbox of the bots, for the record. Empty if no bot has one."""
    rules: str
    """The rules page of the game, for the bots."""
    corrections: int
    """Number of corrections of an illegal or unreadable answer per question."""
    reasoning_bytes: int
    """Maximum size in bytes of the reasoning and usage of one seat in one game. 0:
    none is kept.
    """
    report_questions: bool
    """Send a QuestionsSent before each message of questions."""
    def __init__(self, match: _Optional[str] = ..., game: _Optional[str] = ..., options: _Optional[_Mapping[str, str]] = ..., seats: _Optional[_Iterable[_Union[Seat, _Mapping[str, _Any]]]] = ..., boards: _Optional[_Iterable[_Union[Board, _Mapping[str, _Any]]]] = ..., start_ms: _Optional[int] = ..., allowance_ms: _Optional[int] = ..., strict: bool = ..., unforgiving: bool = ..., watch_ms: _Optional[int] = ..., watch_notes: bool = ..., number: _Optional[int] = ..., sandbox: _Optional[str] = ..., rules: _Optional[str] = ..., corrections: _Optional[int] = ..., reasoning_bytes: _Optional[int] = ..., report_questions: bool = ...) -> None: ...

class ExcuseTimeRequest(_message.Message):
    """The state of the calls that a seat's bot has sent to its models."""
    __slots__ = ("match", "table", "seat", "hold_ms", "excused_from_ms", "excused_to_ms")
    MATCH_FIELD_NUMBER: _ClassVar[int]
    TABLE_FIELD_NUMBER: _ClassVar[int]
    SEAT_FIELD_NUMBER: _ClassVar[int]
    HOLD_MS_FIELD_NUMBER: _ClassVar[int]
    EXCUSED_FROM_MS_FIELD_NUMBER: _ClassVar[int]
    EXCUSED_TO_MS_FIELD_NUMBER: _ClassVar[int]
    match: str
    """ID of the match."""
    table: int
    """Number of the table within the match."""
    seat: int
    """The seat."""
    hold_ms: int
    """Milliseconds from now in which the end of the seat's time is not applied,
    because a call may fail and be excused. 0: no call is open. After the end of
    the time this can only be shortened.
    """
    excused_from_ms: int
    """Beginning of the excused time, in milliseconds before now."""
    excused_to_ms: int
    """End of the excused time, in milliseconds before now. Equal to the beginning if
    nothing is excused.
    """
    def __init__(self, match: _Optional[str] = ..., table: _Optional[int] = ..., seat: _Optional[int] = ..., hold_ms: _Optional[int] = ..., excused_from_ms: _Optional[int] = ..., excused_to_ms: _Optional[int] = ...) -> None: ...

class ExcuseTimeResponse(_message.Message):
    """Empty."""
    __slots__ = ()
    def __init__(self) -> None: ...

class Seat(_message.Message):
    """A seat, with the rest of its time bank and its earlier faults at this table."""
    __slots__ = ("address", "bank_ms", "faults", "crashes", "entrant", "start_ms")
    ADDRESS_FIELD_NUMBER: _ClassVar[int]
    BANK_MS_FIELD_NUMBER: _ClassVar[int]
    FAULTS_FIELD_NUMBER: _ClassVar[int]
    CRASHES_FIELD_NUMBER: _ClassVar[int]
    ENTRANT_FIELD_NUMBER: _ClassVar[int]
    START_MS_FIELD_NUMBER: _ClassVar[int]
    address: str
    """gRPC address of the bot."""
    bank_ms: int
    """Milliseconds left in the bank."""
    faults: int
    """Number of earlier faults, if the table is resumed."""
    crashes: int
    """Number of crashes among them."""
    entrant: str
    """The entrant as "name@version", for the record."""
    start_ms: int
    """Milliseconds that the bot has to start, instead of those of the table. 0: those
    of the table.
    """
    def __init__(self, address: _Optional[str] = ..., bank_ms: _Optional[int] = ..., faults: _Optional[int] = ..., crashes: _Optional[int] = ..., entrant: _Optional[str] = ..., start_ms: _Optional[int] = ...) -> None: ...

class Board(_message.Message):
    """A board to play."""
    __slots__ = ("game", "number", "seed")
    GAME_FIELD_NUMBER: _ClassVar[int]
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    SEED_FIELD_NUMBER: _ClassVar[int]
    game: int
    """Number of the game within the match."""
    number: int
    """Number of the board within the match."""
    seed: bytes
    """Seed of all chance outcomes, 32 bytes."""
    def __init__(self, game: _Optional[int] = ..., number: _Optional[int] = ..., seed: _Optional[bytes] = ...) -> None: ...

class BotReport(_message.Message):
    """State of a bot's process. Sent when the process ends, and in answer to
    BotFaulted.
    """
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
    """The seat."""
    inquiry: int
    """The number from BotFaulted; 0 if this is not an answer to it."""
    ended: str
    """How the process ended, as a clause ("exited with status 1"). Empty while it
    runs.
    """
    resources: bool
    """Whether the arena ended the process because it exceeded a resource limit."""
    output: str
    """The end of its output."""
    restarted: str
    """Address of the replacement process. Empty without a replacement."""
    exit_status: int
    """Exit status of the process. Not set while it runs or if a signal ended it."""
    signal: str
    """The signal that ended the process, for example "SIGSEGV". Otherwise empty."""
    peak_memory: int
    """Maximum resident memory of one of its processes in bytes; 0 if unknown."""
    def HasField(self, field_name: _Literal['exit_status']) -> bool: ...
    def __init__(self, seat: _Optional[int] = ..., inquiry: _Optional[int] = ..., ended: _Optional[str] = ..., resources: bool = ..., output: _Optional[str] = ..., restarted: _Optional[str] = ..., exit_status: _Optional[int] = ..., signal: _Optional[str] = ..., peak_memory: _Optional[int] = ...) -> None: ...

class RunTableResponse(_message.Message):
    """An event of the table."""
    __slots__ = ("game", "faulted", "finished", "shown", "asked")
    GAME_FIELD_NUMBER: _ClassVar[int]
    FAULTED_FIELD_NUMBER: _ClassVar[int]
    FINISHED_FIELD_NUMBER: _ClassVar[int]
    SHOWN_FIELD_NUMBER: _ClassVar[int]
    ASKED_FIELD_NUMBER: _ClassVar[int]
    game: GameFinished
    """A game is over."""
    faulted: BotFaulted
    """A bot faulted; the caller must send a BotReport."""
    finished: TableFinished
    """The table is over."""
    shown: PositionShown
    """The position of a game, for spectators."""
    asked: QuestionsSent
    """A bot receives questions."""
    def HasField(self, field_name: _Literal['game', 'faulted', 'finished', 'shown', 'asked']) -> bool: ...
    def WhichOneof(self, oneof_group: _Literal['event']) -> _Literal['game', 'faulted', 'finished', 'shown', 'asked'] | None: ...
    def __init__(self, game: _Optional[_Union[GameFinished, _Mapping[str, _Any]]] = ..., faulted: _Optional[_Union[BotFaulted, _Mapping[str, _Any]]] = ..., finished: _Optional[_Union[TableFinished, _Mapping[str, _Any]]] = ..., shown: _Optional[_Union[PositionShown, _Mapping[str, _Any]]] = ..., asked: _Optional[_Union[QuestionsSent, _Mapping[str, _Any]]] = ...) -> None: ...

class GameFinished(_message.Message):
    """A game that is over. The fields after the record repeat what it contains, so
    that the caller does not have to parse it. Values of seats are in seat order.
    """
    __slots__ = ("game", "board", "record", "places", "scores", "verdicts", "bank_ms", "slowest_ms", "faults", "crashes", "decision_times", "faulted", "corrections", "defaults", "reasoning", "tags")
    GAME_FIELD_NUMBER: _ClassVar[int]
    BOARD_FIELD_NUMBER: _ClassVar[int]
    RECORD_FIELD_NUMBER: _ClassVar[int]
    PLACES_FIELD_NUMBER: _ClassVar[int]
    SCORES_FIELD_NUMBER: _ClassVar[int]
    VERDICTS_FIELD_NUMBER: _ClassVar[int]
    BANK_MS_FIELD_NUMBER: _ClassVar[int]
    SLOWEST_MS_FIELD_NUMBER: _ClassVar[int]
    FAULTS_FIELD_NUMBER: _ClassVar[int]
    CRASHES_FIELD_NUMBER: _ClassVar[int]
    DECISION_TIMES_FIELD_NUMBER: _ClassVar[int]
    FAULTED_FIELD_NUMBER: _ClassVar[int]
    CORRECTIONS_FIELD_NUMBER: _ClassVar[int]
    DEFAULTS_FIELD_NUMBER: _ClassVar[int]
    REASONING_FIELD_NUMBER: _ClassVar[int]
    TAGS_FIELD_NUMBER: _ClassVar[int]
    game: int
    """Number of the game within the match."""
    board: int
    """Number of the board within the match."""
    record: str
    """The lines of this game's record (docs/reference/record.md)."""
    places: _containers.RepeatedScalarFieldContainer[int]
    """The place of each seat; 1 is the best."""
    scores: _containers.RepeatedScalarFieldContainer[int]
    """The points of each seat. Empty if a fault ended the game before it had
    scores.
    """
    verdicts: _containers.RepeatedScalarFieldContainer[str]
    """How the game ended for each seat, for example "finished" or "timeout"."""
    bank_ms: _containers.RepeatedScalarFieldContainer[float]
    """Milliseconds that the game drew from the bank of each seat."""
    slowest_ms: _containers.RepeatedScalarFieldContainer[float]
    """The longest decision of each seat in milliseconds."""
    faults: _containers.RepeatedScalarFieldContainer[int]
    """Faults of each seat in this game, without crashes."""
    crashes: _containers.RepeatedScalarFieldContainer[int]
    """Crashes of each seat in this game."""
    decision_times: _containers.RepeatedCompositeFieldContainer[DecisionTimes]
    """The decision times of each seat."""
    faulted: _containers.RepeatedCompositeFieldContainer[GameFault]
    """The faults in this game."""
    corrections: _containers.RepeatedScalarFieldContainer[int]
    """Corrections of each seat in this game."""
    defaults: _containers.RepeatedScalarFieldContainer[int]
    """Default actions that the bot of each seat played in this game."""
    reasoning: _containers.RepeatedScalarFieldContainer[str]
    """The reasoning and usage of each seat: a line of JSON whose SHA-256 is in the
    record (docs/reference/record.md#reasoning), or "". Empty without any.
    """
    tags: _containers.RepeatedCompositeFieldContainer[SeatTags]
    """The tags that the bot of each seat has set. Empty if no bot has set any."""
    def __init__(self, game: _Optional[int] = ..., board: _Optional[int] = ..., record: _Optional[str] = ..., places: _Optional[_Iterable[int]] = ..., scores: _Optional[_Iterable[int]] = ..., verdicts: _Optional[_Iterable[str]] = ..., bank_ms: _Optional[_Iterable[float]] = ..., slowest_ms: _Optional[_Iterable[float]] = ..., faults: _Optional[_Iterable[int]] = ..., crashes: _Optional[_Iterable[int]] = ..., decision_times: _Optional[_Iterable[_Union[DecisionTimes, _Mapping[str, _Any]]]] = ..., faulted: _Optional[_Iterable[_Union[GameFault, _Mapping[str, _Any]]]] = ..., corrections: _Optional[_Iterable[int]] = ..., defaults: _Optional[_Iterable[int]] = ..., reasoning: _Optional[_Iterable[str]] = ..., tags: _Optional[_Iterable[_Union[SeatTags, _Mapping[str, _Any]]]] = ...) -> None: ...

class SeatTags(_message.Message):
    """The tags that a bot has set on a game."""
    __slots__ = ("tags",)
    TAGS_FIELD_NUMBER: _ClassVar[int]
    tags: _containers.RepeatedScalarFieldContainer[str]
    """In the order in which it has set them."""
    def __init__(self, tags: _Optional[_Iterable[str]] = ...) -> None: ...

class DecisionTimes(_message.Message):
    """The decision times of a seat, without decisions that the referee made for it."""
    __slots__ = ("ms",)
    MS_FIELD_NUMBER: _ClassVar[int]
    ms: _containers.RepeatedScalarFieldContainer[float]
    """In milliseconds."""
    def __init__(self, ms: _Optional[_Iterable[float]] = ...) -> None: ...

class GameFault(_message.Message):
    """A fault in a game."""
    __slots__ = ("decision", "seat", "verdict", "sentence", "ended", "output")
    DECISION_FIELD_NUMBER: _ClassVar[int]
    SEAT_FIELD_NUMBER: _ClassVar[int]
    VERDICT_FIELD_NUMBER: _ClassVar[int]
    SENTENCE_FIELD_NUMBER: _ClassVar[int]
    ENDED_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_FIELD_NUMBER: _ClassVar[int]
    decision: int
    """Number of the decision within the game."""
    seat: int
    """The seat."""
    verdict: str
    """For example "timeout"."""
    sentence: str
    """What happened, as a sentence."""
    ended: str
    """How the process of the bot ended, as a clause. Empty if it continued to run."""
    output: str
    """The end of its output."""
    def __init__(self, decision: _Optional[int] = ..., seat: _Optional[int] = ..., verdict: _Optional[str] = ..., sentence: _Optional[str] = ..., ended: _Optional[str] = ..., output: _Optional[str] = ...) -> None: ...

class PositionShown(_message.Message):
    """The public position of a game. Of a table's concurrent games, one is shown at a
    time until it is over. Not every position of it is sent.
    """
    __slots__ = ("game", "board", "decision", "actors", "view", "bank_ms", "notes")
    GAME_FIELD_NUMBER: _ClassVar[int]
    BOARD_FIELD_NUMBER: _ClassVar[int]
    DECISION_FIELD_NUMBER: _ClassVar[int]
    ACTORS_FIELD_NUMBER: _ClassVar[int]
    VIEW_FIELD_NUMBER: _ClassVar[int]
    BANK_MS_FIELD_NUMBER: _ClassVar[int]
    NOTES_FIELD_NUMBER: _ClassVar[int]
    game: int
    """Number of the game within the match."""
    board: int
    """Number of the board within the match."""
    decision: int
    """Number of decisions made in the game."""
    actors: _containers.RepeatedScalarFieldContainer[int]
    """The seats that act now. Empty if the game is over."""
    view: _bot_pb2.View
    """The public information. Fields that only one seat may see are empty, 0 or
    false.
    """
    bank_ms: _containers.RepeatedScalarFieldContainer[int]
    """Milliseconds left in the bank of each seat, in seat order."""
    notes: _containers.RepeatedScalarFieldContainer[str]
    """The latest note of each seat in this game, in seat order; "" without one.
    Empty unless the table has watch_notes.
    """
    def HasField(self, field_name: _Literal['view']) -> bool: ...
    def __init__(self, game: _Optional[int] = ..., board: _Optional[int] = ..., decision: _Optional[int] = ..., actors: _Optional[_Iterable[int]] = ..., view: _Optional[_Union[_bot_pb2.View, _Mapping[str, _Any]]] = ..., bank_ms: _Optional[_Iterable[int]] = ..., notes: _Optional[_Iterable[str]] = ...) -> None: ...

class QuestionsSent(_message.Message):
    """A bot receives a message of questions. Only if the table has report_questions."""
    __slots__ = ("seat", "game", "decision")
    SEAT_FIELD_NUMBER: _ClassVar[int]
    GAME_FIELD_NUMBER: _ClassVar[int]
    DECISION_FIELD_NUMBER: _ClassVar[int]
    seat: int
    """The seat."""
    game: int
    """Number of the game within the match. Not set if there are several questions."""
    decision: int
    """Number of the decision within the game. Not set if there are several questions."""
    def HasField(self, field_name: _Literal['game', 'decision']) -> bool: ...
    def __init__(self, seat: _Optional[int] = ..., game: _Optional[int] = ..., decision: _Optional[int] = ...) -> None: ...

class BotFaulted(_message.Message):
    """A bot faulted or its connection broke."""
    __slots__ = ("seat", "inquiry", "restart")
    SEAT_FIELD_NUMBER: _ClassVar[int]
    INQUIRY_FIELD_NUMBER: _ClassVar[int]
    RESTART_FIELD_NUMBER: _ClassVar[int]
    seat: int
    """The seat."""
    inquiry: int
    """Copy this number into the BotReport."""
    restart: bool
    """Whether to start a new process if the old one has ended."""
    def __init__(self, seat: _Optional[int] = ..., inquiry: _Optional[int] = ..., restart: bool = ...) -> None: ...

class TableFinished(_message.Message):
    """The table is over."""
    __slots__ = ("games",)
    GAMES_FIELD_NUMBER: _ClassVar[int]
    games: int
    """Number of games finished in this call."""
    def __init__(self, games: _Optional[int] = ...) -> None: ...
