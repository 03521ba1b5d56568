from typing import Any as _Any, Literal as _Literal
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class PokinoView(_message.Message):
    """What a seat sees."""
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
    """Whether the variant greed is on: runs cost no beads, and each bead counts
    five points at the end. Rule K-8.
    """
    pokino_up: bool
    """Whether pokino_up is on: hands start with seven cards, and with seven or more
    cards in hand drawing is optional. Rule K-9.
    """
    tear_down_the_walls: bool
    """Whether tear_down_the_walls is on: a run may cross the middle of a domino,
    which is then removed. Rule K-10.
    """
    territory: bool
    """Whether territory is on: only dominoes on which one seat has the most tokens
    score. Rule K-11.
    """
    turn: int
    """The seat whose turn it is; after the game, the seat of the last turn."""
    hand: _containers.RepeatedScalarFieldContainer[str]
    """Your cards. Rule K-12.3."""
    dominoes: _containers.RepeatedScalarFieldContainer[str]
    """Your dominoes. Rule K-12.3."""
    beads: _containers.RepeatedScalarFieldContainer[int]
    """Beads, by seat. Rules K-4.3, K-5.5."""
    scores: _containers.RepeatedScalarFieldContainer[int]
    """Points, by seat, if the game ended now. Rules K-7, K-8.2, K-11."""
    hand_sizes: _containers.RepeatedScalarFieldContainer[int]
    """Number of cards in hand, by seat."""
    domino_counts: _containers.RepeatedScalarFieldContainer[int]
    """Number of dominoes in hand, by seat."""
    known: _containers.RepeatedCompositeFieldContainer[PokinoCards]
    """Cards in hand that are public because they were drawn from the face-up deck,
    by seat, including your own. Rule K-12.2.
    """
    runs: _containers.RepeatedCompositeFieldContainer[PokinoRun]
    """All runs, in the order they were played. Rule K-7.1."""
    layout: _containers.RepeatedCompositeFieldContainer[PokinoTile]
    """The face-up dominoes, in the order they were laid. Rule K-2.1."""
    tokens: _containers.RepeatedCompositeFieldContainer[PokinoToken]
    """The closed borders, in the order they were closed. Rule K-2.3."""
    removed: _containers.RepeatedScalarFieldContainer[str]
    """Dominoes removed from the game (tear_down_the_walls). Rule K-10.3."""
    deck_top: str
    """The next card of the deck; empty if the deck is empty. Rule K-1.2."""
    deck_size: int
    """Number of cards in the deck. Rule K-3.2."""
    poke_size: int
    """Number of dominoes in the poke. Rule K-6.2."""
    idle: int
    """Number of consecutive passes without a drawn card. The game ends when it
    equals the number of seats. Rule K-6.3.
    """
    over: bool
    """Whether the game is over."""
    pokino: bool
    """Whether the seat in `turn` has called Pokino and won. Rule K-6.1."""
    turns: _containers.RepeatedCompositeFieldContainer[PokinoTurn]
    """All turns, in order."""
    def __init__(self, greed: bool = ..., pokino_up: bool = ..., tear_down_the_walls: bool = ..., territory: bool = ..., turn: _Optional[int] = ..., hand: _Optional[_Iterable[str]] = ..., dominoes: _Optional[_Iterable[str]] = ..., beads: _Optional[_Iterable[int]] = ..., scores: _Optional[_Iterable[int]] = ..., hand_sizes: _Optional[_Iterable[int]] = ..., domino_counts: _Optional[_Iterable[int]] = ..., known: _Optional[_Iterable[_Union[PokinoCards, _Mapping[str, _Any]]]] = ..., runs: _Optional[_Iterable[_Union[PokinoRun, _Mapping[str, _Any]]]] = ..., layout: _Optional[_Iterable[_Union[PokinoTile, _Mapping[str, _Any]]]] = ..., tokens: _Optional[_Iterable[_Union[PokinoToken, _Mapping[str, _Any]]]] = ..., removed: _Optional[_Iterable[str]] = ..., deck_top: _Optional[str] = ..., deck_size: _Optional[int] = ..., poke_size: _Optional[int] = ..., idle: _Optional[int] = ..., over: bool = ..., pokino: bool = ..., turns: _Optional[_Iterable[_Union[PokinoTurn, _Mapping[str, _Any]]]] = ...) -> None: ...

class PokinoTurn(_message.Message):
    """A turn, as all seats see it. Without a domino and a run it is a pass."""
    __slots__ = ("seat", "domino", "run", "drawn")
    SEAT_FIELD_NUMBER: _ClassVar[int]
    DOMINO_FIELD_NUMBER: _ClassVar[int]
    RUN_FIELD_NUMBER: _ClassVar[int]
    DRAWN_FIELD_NUMBER: _ClassVar[int]
    seat: int
    """The seat that had the turn."""
    domino: str
    """The laid domino. Its place is in the layout."""
    run: _containers.RepeatedScalarFieldContainer[str]
    """The cards of the played run."""
    drawn: str
    """The card drawn from the deck; otherwise empty."""
    def __init__(self, seat: _Optional[int] = ..., domino: _Optional[str] = ..., run: _Optional[_Iterable[str]] = ..., drawn: _Optional[str] = ...) -> None: ...

class PokinoCards(_message.Message):
    """A list of cards."""
    __slots__ = ("cards",)
    CARDS_FIELD_NUMBER: _ClassVar[int]
    cards: _containers.RepeatedScalarFieldContainer[str]
    """The cards."""
    def __init__(self, cards: _Optional[_Iterable[str]] = ...) -> None: ...

class PokinoRun(_message.Message):
    """A played run."""
    __slots__ = ("seat", "cards")
    SEAT_FIELD_NUMBER: _ClassVar[int]
    CARDS_FIELD_NUMBER: _ClassVar[int]
    seat: int
    """The seat that played it."""
    cards: _containers.RepeatedScalarFieldContainer[str]
    """Its cards, in order."""
    def __init__(self, seat: _Optional[int] = ..., cards: _Optional[_Iterable[str]] = ...) -> None: ...

class PokinoTile(_message.Message):
    """A face-up domino. Its smaller number is on (x, y), the larger one on
    (second_x, second_y).
    """
    __slots__ = ("domino", "x", "y", "second_x", "second_y")
    DOMINO_FIELD_NUMBER: _ClassVar[int]
    X_FIELD_NUMBER: _ClassVar[int]
    Y_FIELD_NUMBER: _ClassVar[int]
    SECOND_X_FIELD_NUMBER: _ClassVar[int]
    SECOND_Y_FIELD_NUMBER: _ClassVar[int]
    domino: str
    """The domino."""
    x: int
    """The x of the smaller number."""
    y: int
    """The y of the smaller number."""
    second_x: int
    """The x of the larger number."""
    second_y: int
    """The y of the larger number."""
    def __init__(self, domino: _Optional[str] = ..., x: _Optional[int] = ..., y: _Optional[int] = ..., second_x: _Optional[int] = ..., second_y: _Optional[int] = ...) -> None: ...

class PokinoToken(_message.Message):
    """A token on the border of two squares; the left or upper square comes first."""
    __slots__ = ("x", "y", "second_x", "second_y", "owner")
    X_FIELD_NUMBER: _ClassVar[int]
    Y_FIELD_NUMBER: _ClassVar[int]
    SECOND_X_FIELD_NUMBER: _ClassVar[int]
    SECOND_Y_FIELD_NUMBER: _ClassVar[int]
    OWNER_FIELD_NUMBER: _ClassVar[int]
    x: int
    """The x of the first square."""
    y: int
    """The y of the first square."""
    second_x: int
    """The x of the second square."""
    second_y: int
    """The y of the second square."""
    owner: int
    """With territory, the seat that placed it; otherwise always 0. Rules K-11.1,
    K-12.4.
    """
    def __init__(self, x: _Optional[int] = ..., y: _Optional[int] = ..., second_x: _Optional[int] = ..., second_y: _Optional[int] = ..., owner: _Optional[int] = ...) -> None: ...

class PokinoSquare(_message.Message):
    """A square of the grid."""
    __slots__ = ("x", "y")
    X_FIELD_NUMBER: _ClassVar[int]
    Y_FIELD_NUMBER: _ClassVar[int]
    x: int
    """Grows to the right."""
    y: int
    """Grows downwards."""
    def __init__(self, x: _Optional[int] = ..., y: _Optional[int] = ...) -> None: ...

class PokinoAction(_message.Message):
    """An action of a seat. Every action has a field `draw`: whether to draw a card at
    the end of the turn, by default true. False is legal only with pokino_up, and
    only with seven or more cards in hand at the time of the draw, after the cards
    of a run have left the hand. Rule K-9.2.
    """
    __slots__ = ("pass_turn", "domino", "run")
    class PassTurn(_message.Message):
        """Lays no domino and plays no run. Rule K-3.1."""
        __slots__ = ("draw",)
        DRAW_FIELD_NUMBER: _ClassVar[int]
        draw: bool
        """Whether to draw a card; default true."""
        def HasField(self, field_name: _Literal['draw']) -> bool: ...
        def __init__(self, draw: bool = ...) -> None: ...
    class Domino(_message.Message):
        """Lays a domino of the hand. Rule K-4."""
        __slots__ = ("domino", "x", "y", "direction", "draw")
        DOMINO_FIELD_NUMBER: _ClassVar[int]
        X_FIELD_NUMBER: _ClassVar[int]
        Y_FIELD_NUMBER: _ClassVar[int]
        DIRECTION_FIELD_NUMBER: _ClassVar[int]
        DRAW_FIELD_NUMBER: _ClassVar[int]
        domino: str
        """The domino."""
        x: int
        """The x of its smaller number."""
        y: int
        """The y of its smaller number."""
        direction: str
        """The direction from the smaller to the larger number: "right", "down",
        "left" or "up". For a double, two directions have the same effect: only one
        is listed, and both are accepted. Rule K-13.2.
        """
        draw: bool
        """Whether to draw a card; default true."""
        def HasField(self, field_name: _Literal['draw']) -> bool: ...
        def __init__(self, domino: _Optional[str] = ..., x: _Optional[int] = ..., y: _Optional[int] = ..., direction: _Optional[str] = ..., draw: bool = ...) -> None: ...
    class Run(_message.Message):
        """Plays a run: cards along a path of squares. Rule K-5."""
        __slots__ = ("path", "cards", "draw")
        PATH_FIELD_NUMBER: _ClassVar[int]
        CARDS_FIELD_NUMBER: _ClassVar[int]
        DRAW_FIELD_NUMBER: _ClassVar[int]
        path: _containers.RepeatedCompositeFieldContainer[PokinoSquare]
        """The squares in order, each adjacent to the previous one. Rule K-5.3."""
        cards: _containers.RepeatedScalarFieldContainer[str]
        """The card that matches each square, in the same order. Rule K-5.2."""
        draw: bool
        """Whether to draw a card; default true."""
        def HasField(self, field_name: _Literal['draw']) -> bool: ...
        def __init__(self, path: _Optional[_Iterable[_Union[PokinoSquare, _Mapping[str, _Any]]]] = ..., cards: _Optional[_Iterable[str]] = ..., draw: bool = ...) -> None: ...
    PASS_TURN_FIELD_NUMBER: _ClassVar[int]
    DOMINO_FIELD_NUMBER: _ClassVar[int]
    RUN_FIELD_NUMBER: _ClassVar[int]
    pass_turn: PokinoAction.PassTurn
    """Pass."""
    domino: PokinoAction.Domino
    """Lay a domino."""
    run: PokinoAction.Run
    """Play a run."""
    def HasField(self, field_name: _Literal['pass_turn', 'domino', 'run']) -> bool: ...
    def WhichOneof(self, oneof_group: _Literal['action']) -> _Literal['pass_turn', 'domino', 'run'] | None: ...
    def __init__(self, pass_turn: _Optional[_Union[PokinoAction.PassTurn, _Mapping[str, _Any]]] = ..., domino: _Optional[_Union[PokinoAction.Domino, _Mapping[str, _Any]]] = ..., run: _Optional[_Union[PokinoAction.Run, _Mapping[str, _Any]]] = ...) -> None: ...
