from typing import Any as _Any, Literal as _Literal
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
    """A question: it is your turn. It contains everything that your seat knows, so
    a bot can be a pure function of one question.
    """
    __slots__ = ("match", "game", "decision", "seat", "clock", "view", "legal", "complete", "luck", "text", "attempt", "correction")
    MATCH_FIELD_NUMBER: _ClassVar[int]
    GAME_FIELD_NUMBER: _ClassVar[int]
    DECISION_FIELD_NUMBER: _ClassVar[int]
    SEAT_FIELD_NUMBER: _ClassVar[int]
    CLOCK_FIELD_NUMBER: _ClassVar[int]
    VIEW_FIELD_NUMBER: _ClassVar[int]
    LEGAL_FIELD_NUMBER: _ClassVar[int]
    COMPLETE_FIELD_NUMBER: _ClassVar[int]
    LUCK_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    ATTEMPT_FIELD_NUMBER: _ClassVar[int]
    CORRECTION_FIELD_NUMBER: _ClassVar[int]
    match: str
    """ID of the match, as used by `pokearena replay`."""
    game: int
    """Number of the game within the match, from 0."""
    decision: int
    """Number of the decision within the game, from 0, counted over all seats."""
    seat: int
    """Your seat, from 0. Seat numbers run in turn order."""
    clock: Clock
    """The time limit for the answer."""
    view: View
    """Everything that your seat sees, including the whole public history."""
    legal: _containers.RepeatedCompositeFieldContainer[Action]
    """Legal actions, the least risky first. Return one of them, or any other legal
    action.
    """
    complete: bool
    """Whether `legal` lists every legal action. If false, the complete list would
    be too long, and `legal` is an unbiased sample.
    """
    luck: int
    """A seed for random numbers, so that the same question gets the same answer
    again. It is independent of the hidden cards.
    """
    text: str
    """The question as plain text: short rules, the position as your seat sees it,
    the history, and the legal actions, numbered from 0. Empty unless the bot set
    with_text.
    """
    attempt: int
    """Number of the try, from 0. It is greater than 0 if the referee did not accept
    the previous answer to this question, and the organiser allows another.
    """
    correction: Correction
    """Why the previous answer was not accepted. Only set if attempt > 0."""
    def HasField(self, field_name: _Literal['clock', 'view', 'correction']) -> bool: ...
    def __init__(self, match: _Optional[str] = ..., game: _Optional[int] = ..., decision: _Optional[int] = ..., seat: _Optional[int] = ..., clock: _Optional[_Union[Clock, _Mapping[str, _Any]]] = ..., view: _Optional[_Union[View, _Mapping[str, _Any]]] = ..., legal: _Optional[_Iterable[_Union[Action, _Mapping[str, _Any]]]] = ..., complete: bool = ..., luck: _Optional[int] = ..., text: _Optional[str] = ..., attempt: _Optional[int] = ..., correction: _Optional[_Union[Correction, _Mapping[str, _Any]]] = ...) -> None: ...

class Correction(_message.Message):
    """Why an answer was not accepted."""
    __slots__ = ("code", "text")
    CODE_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    code: str
    """"illegal": the action is not legal; "unreadable": the answer names no action."""
    text: str
    """The reason as a sentence. It follows from your view."""
    def __init__(self, code: _Optional[str] = ..., text: _Optional[str] = ...) -> None: ...

class ActResponse(_message.Message):
    """An answer to one question."""
    __slots__ = ("game", "decision", "action", "note", "text", "choice", "trace", "attempt", "played_default", "reasoning", "usage", "tags")
    GAME_FIELD_NUMBER: _ClassVar[int]
    DECISION_FIELD_NUMBER: _ClassVar[int]
    ACTION_FIELD_NUMBER: _ClassVar[int]
    NOTE_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    CHOICE_FIELD_NUMBER: _ClassVar[int]
    TRACE_FIELD_NUMBER: _ClassVar[int]
    ATTEMPT_FIELD_NUMBER: _ClassVar[int]
    PLAYED_DEFAULT_FIELD_NUMBER: _ClassVar[int]
    REASONING_FIELD_NUMBER: _ClassVar[int]
    USAGE_FIELD_NUMBER: _ClassVar[int]
    TAGS_FIELD_NUMBER: _ClassVar[int]
    game: int
    """Copied from the question. Required in Play, optional in Act."""
    decision: int
    """Copied from the question. Required in Play, optional in Act."""
    action: Action
    """A legal action, whether listed in the question or not."""
    note: str
    """A short comment that the replay shows beside the action; at most 200
    characters are kept. It is hidden until the match is over.
    """
    text: str
    """The action as text, instead of `action`: its number in the question's text,
    or the action in the form of that list. Any legal action can be written so,
    whether listed or not. At most 400 characters.
    """
    choice: int
    """Instead of an action: the number of an action in `legal`, from 0. Thus a bot
    can play a game that it does not know.
    """
    trace: str
    """For `pokearena play --trace` only, if StartRequest.traced: for example the
    prompts and replies of a language model. At most 64 KiB; it is not stored.
    """
    attempt: int
    """Copied from the question. Required if the question's attempt is greater than 0."""
    played_default: bool
    """True if the bot did not decide, and plays a default action: for example
    because its model did not reply. It is counted, and it is no fault.
    """
    reasoning: str
    """Why the bot chose the action, for example the thoughts of a language model. At
    most 16 KiB of UTF-8 are kept; the rest is cut. It is private to the bot's owner
    and the organiser, unless the owner publishes it.
    """
    usage: Usage
    """What the answer has cost. It is kept with the reasoning."""
    tags: _containers.RepeatedScalarFieldContainer[str]
    """Tags of the game, for example "opening-book". They are hidden until the match
    is over; then the match can be found by them. A game keeps up to five of a
    seat, each with 1 to 20 printable ASCII characters; others are dropped.
    """
    def HasField(self, field_name: _Literal['action', 'choice', 'usage']) -> bool: ...
    def __init__(self, game: _Optional[int] = ..., decision: _Optional[int] = ..., action: _Optional[_Union[Action, _Mapping[str, _Any]]] = ..., note: _Optional[str] = ..., text: _Optional[str] = ..., choice: _Optional[int] = ..., trace: _Optional[str] = ..., attempt: _Optional[int] = ..., played_default: bool = ..., reasoning: _Optional[str] = ..., usage: _Optional[_Union[Usage, _Mapping[str, _Any]]] = ..., tags: _Optional[_Iterable[str]] = ...) -> None: ...

class Usage(_message.Message):
    """The cost of an answer, as the bot reports it. Impossible values are dropped."""
    __slots__ = ("model", "tokens_in", "tokens_out", "cost", "tries", "ms")
    MODEL_FIELD_NUMBER: _ClassVar[int]
    TOKENS_IN_FIELD_NUMBER: _ClassVar[int]
    TOKENS_OUT_FIELD_NUMBER: _ClassVar[int]
    COST_FIELD_NUMBER: _ClassVar[int]
    TRIES_FIELD_NUMBER: _ClassVar[int]
    MS_FIELD_NUMBER: _ClassVar[int]
    model: str
    """Name of the language model; at most 100 characters are kept."""
    tokens_in: int
    """Tokens of the prompts."""
    tokens_out: int
    """Tokens of the replies."""
    cost: float
    """Price in US dollars."""
    tries: int
    """Number of requests to the model."""
    ms: int
    """Milliseconds that the requests took."""
    def __init__(self, model: _Optional[str] = ..., tokens_in: _Optional[int] = ..., tokens_out: _Optional[int] = ..., cost: _Optional[float] = ..., tries: _Optional[int] = ..., ms: _Optional[int] = ...) -> None: ...

class PlayRequest(_message.Message):
    """The questions that are open for the bot at this moment."""
    __slots__ = ("questions",)
    QUESTIONS_FIELD_NUMBER: _ClassVar[int]
    questions: _containers.RepeatedCompositeFieldContainer[ActRequest]
    """At least one question, at most one per game."""
    def __init__(self, questions: _Optional[_Iterable[_Union[ActRequest, _Mapping[str, _Any]]]] = ...) -> None: ...

class PlayResponse(_message.Message):
    """Answers to some of the open questions."""
    __slots__ = ("answers",)
    ANSWERS_FIELD_NUMBER: _ClassVar[int]
    answers: _containers.RepeatedCompositeFieldContainer[ActResponse]
    """Each with game and decision copied from its question."""
    def __init__(self, answers: _Optional[_Iterable[_Union[ActResponse, _Mapping[str, _Any]]]] = ...) -> None: ...

class Clock(_message.Message):
    """The time limit for an answer. A message of k questions has k allowances."""
    __slots__ = ("allowance_ms", "bank_ms", "last_ms")
    ALLOWANCE_MS_FIELD_NUMBER: _ClassVar[int]
    BANK_MS_FIELD_NUMBER: _ClassVar[int]
    LAST_MS_FIELD_NUMBER: _ClassVar[int]
    allowance_ms: int
    """Milliseconds per decision that do not reduce the bank."""
    bank_ms: int
    """Milliseconds left in the bank of this table. Time beyond the allowance
    reduces the bank. If the bank falls below 0, the fault is a timeout.
    """
    last_ms: int
    """Milliseconds that the referee measured for your previous answer at this
    table, rounded; for a message of k questions its k-th part. 0 before the
    first answer, and in questions that are repeated from a record.
    """
    def __init__(self, allowance_ms: _Optional[int] = ..., bank_ms: _Optional[int] = ..., last_ms: _Optional[int] = ...) -> None: ...

class StartRequest(_message.Message):
    """Description of a table."""
    __slots__ = ("match", "game", "seats", "seat", "options", "games", "clock", "rules", "text_version", "traced", "corrections")
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
    RULES_FIELD_NUMBER: _ClassVar[int]
    TEXT_VERSION_FIELD_NUMBER: _ClassVar[int]
    TRACED_FIELD_NUMBER: _ClassVar[int]
    CORRECTIONS_FIELD_NUMBER: _ClassVar[int]
    match: str
    """ID of the match, as used by `pokearena replay`."""
    game: str
    """ID of the game, for example "poke"."""
    seats: int
    """Number of seats of the table."""
    seat: int
    """Your seat, from 0."""
    options: _containers.ScalarMap[str, str]
    """All options of the game, as text ("true", "3")."""
    games: int
    """Number of games that the table plays."""
    clock: Clock
    """The clock at the beginning of the table."""
    rules: str
    """The rules page of the game, in Markdown."""
    text_version: int
    """The version of the wording of ActRequest.text. Equal positions have equal
    texts as long as it is the same.
    """
    traced: bool
    """Whether the messages of this table are written to a trace."""
    corrections: int
    """Number of corrections that the organiser allows per question. Only a bot that
    has set with_corrections uses them.
    """
    def HasField(self, field_name: _Literal['clock']) -> bool: ...
    def __init__(self, match: _Optional[str] = ..., game: _Optional[str] = ..., seats: _Optional[int] = ..., seat: _Optional[int] = ..., options: _Optional[_Mapping[str, str]] = ..., games: _Optional[int] = ..., clock: _Optional[_Union[Clock, _Mapping[str, _Any]]] = ..., rules: _Optional[str] = ..., text_version: _Optional[int] = ..., traced: bool = ..., corrections: _Optional[int] = ...) -> None: ...

class StartResponse(_message.Message):
    """Capabilities of the bot."""
    __slots__ = ("games_in_flight", "without_legal", "with_text", "with_corrections")
    GAMES_IN_FLIGHT_FIELD_NUMBER: _ClassVar[int]
    WITHOUT_LEGAL_FIELD_NUMBER: _ClassVar[int]
    WITH_TEXT_FIELD_NUMBER: _ClassVar[int]
    WITH_CORRECTIONS_FIELD_NUMBER: _ClassVar[int]
    games_in_flight: int
    """Number of games of the table that the bot plays concurrently, each with
    questions of its own. 0 means 1.
    """
    without_legal: bool
    """True if the bot computes its legal actions itself; `legal` is then empty."""
    with_text: bool
    """True if each question has its `text`, for example for a language model."""
    with_corrections: bool
    """True if the bot receives a question again after an answer that is illegal or
    unreadable, as far as the organiser allows it, and copies `attempt`.
    """
    def __init__(self, games_in_flight: _Optional[int] = ..., without_legal: bool = ..., with_text: bool = ..., with_corrections: bool = ...) -> None: ...

class EndRequest(_message.Message):
    """The table is over."""
    __slots__ = ("match",)
    MATCH_FIELD_NUMBER: _ClassVar[int]
    match: str
    """ID of the match, as used by `pokearena replay`."""
    def __init__(self, match: _Optional[str] = ...) -> None: ...

class EndResponse(_message.Message):
    """Empty."""
    __slots__ = ()
    def __init__(self) -> None: ...

class View(_message.Message):
    """What a seat sees, as a message of its game."""
    __slots__ = ("poke", "saint_poker", "pokex", "pouku", "pokino", "generic")
    POKE_FIELD_NUMBER: _ClassVar[int]
    SAINT_POKER_FIELD_NUMBER: _ClassVar[int]
    POKEX_FIELD_NUMBER: _ClassVar[int]
    POUKU_FIELD_NUMBER: _ClassVar[int]
    POKINO_FIELD_NUMBER: _ClassVar[int]
    GENERIC_FIELD_NUMBER: _ClassVar[int]
    poke: _poke_pb2.PokeView
    """Poke."""
    saint_poker: _saint_poker_pb2.SaintPokerView
    """Saint Poker."""
    pokex: _pokex_pb2.PokexView
    """Pokex."""
    pouku: _pouku_pb2.PoukuView
    """Pouku."""
    pokino: _pokino_pb2.PokinoView
    """Pokino."""
    generic: GenericView
    """A game of a package, which has no message of its own."""
    def HasField(self, field_name: _Literal['poke', 'saint_poker', 'pokex', 'pouku', 'pokino', 'generic']) -> bool: ...
    def WhichOneof(self, oneof_group: _Literal['game']) -> _Literal['poke', 'saint_poker', 'pokex', 'pouku', 'pokino', 'generic'] | None: ...
    def __init__(self, poke: _Optional[_Union[_poke_pb2.PokeView, _Mapping[str, _Any]]] = ..., saint_poker: _Optional[_Union[_saint_poker_pb2.SaintPokerView, _Mapping[str, _Any]]] = ..., pokex: _Optional[_Union[_pokex_pb2.PokexView, _Mapping[str, _Any]]] = ..., pouku: _Optional[_Union[_pouku_pb2.PoukuView, _Mapping[str, _Any]]] = ..., pokino: _Optional[_Union[_pokino_pb2.PokinoView, _Mapping[str, _Any]]] = ..., generic: _Optional[_Union[GenericView, _Mapping[str, _Any]]] = ...) -> None: ...

class GenericView(_message.Message):
    """What a seat sees in a game of a package."""
    __slots__ = ("game", "json")
    GAME_FIELD_NUMBER: _ClassVar[int]
    JSON_FIELD_NUMBER: _ClassVar[int]
    game: str
    """ID of the game, for example "tic_tac_toe"."""
    json: str
    """A JSON object with all fields of the view, named as in protobuf's JSON form.
    Whole numbers beyond 2^53 are texts.
    """
    def __init__(self, game: _Optional[str] = ..., json: _Optional[str] = ...) -> None: ...

class Action(_message.Message):
    """An action of a seat, as a message of its game."""
    __slots__ = ("poke", "saint_poker", "pokex", "pouku", "pokino", "generic")
    POKE_FIELD_NUMBER: _ClassVar[int]
    SAINT_POKER_FIELD_NUMBER: _ClassVar[int]
    POKEX_FIELD_NUMBER: _ClassVar[int]
    POUKU_FIELD_NUMBER: _ClassVar[int]
    POKINO_FIELD_NUMBER: _ClassVar[int]
    GENERIC_FIELD_NUMBER: _ClassVar[int]
    poke: _poke_pb2.PokeAction
    """Poke."""
    saint_poker: _saint_poker_pb2.SaintPokerAction
    """Saint Poker."""
    pokex: _pokex_pb2.PokexAction
    """Pokex."""
    pouku: _pouku_pb2.PoukuAction
    """Pouku."""
    pokino: _pokino_pb2.PokinoAction
    """Pokino."""
    generic: GenericAction
    """A game of a package, which has no message of its own."""
    def HasField(self, field_name: _Literal['poke', 'saint_poker', 'pokex', 'pouku', 'pokino', 'generic']) -> bool: ...
    def WhichOneof(self, oneof_group: _Literal['game']) -> _Literal['poke', 'saint_poker', 'pokex', 'pouku', 'pokino', 'generic'] | None: ...
    def __init__(self, poke: _Optional[_Union[_poke_pb2.PokeAction, _Mapping[str, _Any]]] = ..., saint_poker: _Optional[_Union[_saint_poker_pb2.SaintPokerAction, _Mapping[str, _Any]]] = ..., pokex: _Optional[_Union[_pokex_pb2.PokexAction, _Mapping[str, _Any]]] = ..., pouku: _Optional[_Union[_pouku_pb2.PoukuAction, _Mapping[str, _Any]]] = ..., pokino: _Optional[_Union[_pokino_pb2.PokinoAction, _Mapping[str, _Any]]] = ..., generic: _Optional[_Union[GenericAction, _Mapping[str, _Any]]] = ...) -> None: ...

class GenericAction(_message.Message):
    """An action of a seat in a game of a package."""
    __slots__ = ("game", "json")
    GAME_FIELD_NUMBER: _ClassVar[int]
    JSON_FIELD_NUMBER: _ClassVar[int]
    game: str
    """ID of the game, for example "tic_tac_toe"."""
    json: str
    """A JSON object with one member: the kind of the action, with an object of its
    fields, for example {"mark":{"cell":4}}. At most 8 KiB, 32 levels and 40
    characters per number. Whole numbers beyond 2^53 are texts.
    """
    def __init__(self, game: _Optional[str] = ..., json: _Optional[str] = ...) -> None: ...
