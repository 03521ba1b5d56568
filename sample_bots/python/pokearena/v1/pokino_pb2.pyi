from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class PokinoView(_message.Message):
    __slots__ = ("greed", "pokino_up", "tear_down_the_walls", "territory", "turn", "hand", "dominoes", "beads", "scores", "hand_sizes", "domino_counts", "known", "runs", "layout", "tokens", "removed", "deck_top", "deck_size", "poke_size", "idle", "over", "pokino", "turns")
    GREED_FIELD_NUMBER: _ClassVar[int]
    POKINO_UP_FIELD_NUMBER: _ClassVar[int]
    TEAR_DOWN_THE_WALLS_FIELD_NUMBER: _ClassVar[int]
    TERRITORY_FIELD_NUMBER: _ClassVar[int]
    TURN_FIELD_NUMBER: _ClassVar[int]
    HAND_FIELD_NUMBER: _ClassVar[int]
    DOMINOES_FIELD_NUMBER: _ClassVar[int]
    BEADS_FIELD_NUMBER: _ClassVar[int]
    SCORES_FIELD_NUMBER: _ClassVar[int]
    HAND_SIZES_FIELD_NUMBER: _ClassVar[int]
    DOMINO_COUNTS_FIELD_NUMBER: _ClassVar[int]
    KNOWN_FIELD_NUMBER: _ClassVar[int]
    RUNS_FIELD_NUMBER: _ClassVar[int]
    LAYOUT_FIELD_NUMBER: _ClassVar[int]
    TOKENS_FIELD_NUMBER: _ClassVar[int]
    REMOVED_FIELD_NUMBER: _ClassVar[int]
    DECK_TOP_FIELD_NUMBER: _ClassVar[int]
    DECK_SIZE_FIELD_NUMBER: _ClassVar[int]
    POKE_SIZE_FIELD_NUMBER: _ClassVar[int]
    IDLE_FIELD_NUMBER: _ClassVar[int]
    OVER_FIELD_NUMBER: _ClassVar[int]
    POKINO_FIELD_NUMBER: _ClassVar[int]
    TURNS_FIELD_NUMBER: _ClassVar[int]
    greed: bool
    pokino_up: bool
    tear_down_the_walls: bool
    territory: bool
    turn: int
    hand: _containers.RepeatedScalarFieldContainer[str]
    dominoes: _containers.RepeatedScalarFieldContainer[str]
    beads: _containers.RepeatedScalarFieldContainer[int]
    scores: _containers.RepeatedScalarFieldContainer[int]
    hand_sizes: _containers.RepeatedScalarFieldContainer[int]
    domino_counts: _containers.RepeatedScalarFieldContainer[int]
    known: _containers.RepeatedCompositeFieldContainer[PokinoCards]
    runs: _containers.RepeatedCompositeFieldContainer[PokinoRun]
    layout: _containers.RepeatedCompositeFieldContainer[PokinoTile]
    tokens: _containers.RepeatedCompositeFieldContainer[PokinoToken]
    removed: _containers.RepeatedScalarFieldContainer[str]
    deck_top: str
    deck_size: int
    poke_size: int
    idle: int
    over: bool
    pokino: bool
    turns: _containers.RepeatedCompositeFieldContainer[PokinoTurn]
    def __init__(self, greed: bool = ..., pokino_up: bool = ..., tear_down_the_walls: bool = ..., territory: bool = ..., turn: _Optional[int] = ..., hand: _Optional[_Iterable[str]] = ..., dominoes: _Optional[_Iterable[str]] = ..., beads: _Optional[_Iterable[int]] = ..., scores: _Optional[_Iterable[int]] = ..., hand_sizes: _Optional[_Iterable[int]] = ..., domino_counts: _Optional[_Iterable[int]] = ..., known: _Optional[_Iterable[_Union[PokinoCards, _Mapping]]] = ..., runs: _Optional[_Iterable[_Union[PokinoRun, _Mapping]]] = ..., layout: _Optional[_Iterable[_Union[PokinoTile, _Mapping]]] = ..., tokens: _Optional[_Iterable[_Union[PokinoToken, _Mapping]]] = ..., removed: _Optional[_Iterable[str]] = ..., deck_top: _Optional[str] = ..., deck_size: _Optional[int] = ..., poke_size: _Optional[int] = ..., idle: _Optional[int] = ..., over: bool = ..., pokino: bool = ..., turns: _Optional[_Iterable[_Union[PokinoTurn, _Mapping]]] = ...) -> None: ...

class PokinoTurn(_message.Message):
    __slots__ = ("seat", "domino", "run", "drawn")
    SEAT_FIELD_NUMBER: _ClassVar[int]
    DOMINO_FIELD_NUMBER: _ClassVar[int]
    RUN_FIELD_NUMBER: _ClassVar[int]
    DRAWN_FIELD_NUMBER: _ClassVar[int]
    seat: int
    domino: str
    run: _containers.RepeatedScalarFieldContainer[str]
    drawn: str
    def __init__(self, seat: _Optional[int] = ..., domino: _Optional[str] = ..., run: _Optional[_Iterable[str]] = ..., drawn: _Optional[str] = ...) -> None: ...

class PokinoCards(_message.Message):
    __slots__ = ("cards",)
    CARDS_FIELD_NUMBER: _ClassVar[int]
    cards: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, cards: _Optional[_Iterable[str]] = ...) -> None: ...

class PokinoRun(_message.Message):
    __slots__ = ("seat", "cards")
    SEAT_FIELD_NUMBER: _ClassVar[int]
    CARDS_FIELD_NUMBER: _ClassVar[int]
    seat: int
    cards: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, seat: _Optional[int] = ..., cards: _Optional[_Iterable[str]] = ...) -> None: ...

class PokinoTile(_message.Message):
    __slots__ = ("domino", "x", "y", "second_x", "second_y")
    DOMINO_FIELD_NUMBER: _ClassVar[int]
    X_FIELD_NUMBER: _ClassVar[int]
    Y_FIELD_NUMBER: _ClassVar[int]
    SECOND_X_FIELD_NUMBER: _ClassVar[int]
    SECOND_Y_FIELD_NUMBER: _ClassVar[int]
    domino: str
    x: int
    y: int
    second_x: int
    second_y: int
    def __init__(self, domino: _Optional[str] = ..., x: _Optional[int] = ..., y: _Optional[int] = ..., second_x: _Optional[int] = ..., second_y: _Optional[int] = ...) -> None: ...

class PokinoToken(_message.Message):
    __slots__ = ("x", "y", "second_x", "second_y", "owner")
    X_FIELD_NUMBER: _ClassVar[int]
    Y_FIELD_NUMBER: _ClassVar[int]
    SECOND_X_FIELD_NUMBER: _ClassVar[int]
    SECOND_Y_FIELD_NUMBER: _ClassVar[int]
    OWNER_FIELD_NUMBER: _ClassVar[int]
    x: int
    y: int
    second_x: int
    second_y: int
    owner: int
    def __init__(self, x: _Optional[int] = ..., y: _Optional[int] = ..., second_x: _Optional[int] = ..., second_y: _Optional[int] = ..., owner: _Optional[int] = ...) -> None: ...

class PokinoSquare(_message.Message):
    __slots__ = ("x", "y")
    X_FIELD_NUMBER: _ClassVar[int]
    Y_FIELD_NUMBER: _ClassVar[int]
    x: int
    y: int
    def __init__(self, x: _Optional[int] = ..., y: _Optional[int] = ...) -> None: ...

class PokinoAction(_message.Message):
    __slots__ = ("pass_turn", "domino", "run")
    class PassTurn(_message.Message):
        __slots__ = ("draw",)
        DRAW_FIELD_NUMBER: _ClassVar[int]
        draw: bool
        def __init__(self, draw: bool = ...) -> None: ...
    class Domino(_message.Message):
        __slots__ = ("domino", "x", "y", "direction", "draw")
        DOMINO_FIELD_NUMBER: _ClassVar[int]
        X_FIELD_NUMBER: _ClassVar[int]
        Y_FIELD_NUMBER: _ClassVar[int]
        DIRECTION_FIELD_NUMBER: _ClassVar[int]
        DRAW_FIELD_NUMBER: _ClassVar[int]
        domino: str
        x: int
        y: int
        direction: str
        draw: bool
        def __init__(self, domino: _Optional[str] = ..., x: _Optional[int] = ..., y: _Optional[int] = ..., direction: _Optional[str] = ..., draw: bool = ...) -> None: ...
    class Run(_message.Message):
        __slots__ = ("path", "cards", "draw")
        PATH_FIELD_NUMBER: _ClassVar[int]
        CARDS_FIELD_NUMBER: _ClassVar[int]
        DRAW_FIELD_NUMBER: _ClassVar[int]
        path: _containers.RepeatedCompositeFieldContainer[PokinoSquare]
        cards: _containers.RepeatedScalarFieldContainer[str]
        draw: bool
        def __init__(self, path: _Optional[_Iterable[_Union[PokinoSquare, _Mapping]]] = ..., cards: _Optional[_Iterable[str]] = ..., draw: bool = ...) -> None: ...
    PASS_TURN_FIELD_NUMBER: _ClassVar[int]
    DOMINO_FIELD_NUMBER: _ClassVar[int]
    RUN_FIELD_NUMBER: _ClassVar[int]
    pass_turn: PokinoAction.PassTurn
    domino: PokinoAction.Domino
    run: PokinoAction.Run
    def __init__(self, pass_turn: _Optional[_Union[PokinoAction.PassTurn, _Mapping]] = ..., domino: _Optional[_Union[PokinoAction.Domino, _Mapping]] = ..., run: _Optional[_Union[PokinoAction.Run, _Mapping]] = ...) -> None: ...
