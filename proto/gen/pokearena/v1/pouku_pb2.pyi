from typing import Any as _Any, Literal as _Literal
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class PoukuView(_message.Message):
    """What a seat sees."""
    __slots__ = ("pair", "three", "straight", "four", "point", "four_yaku", "first_turn", "teams", "reference", "deal", "dealer", "turn", "point_card", "hand", "drawn", "worth", "fields", "kept", "may_keep", "stock", "hand_sizes", "scores", "turns", "deals", "points")
    PAIR_FIELD_NUMBER: _ClassVar[int]
    THREE_FIELD_NUMBER: _ClassVar[int]
    STRAIGHT_FIELD_NUMBER: _ClassVar[int]
    FOUR_FIELD_NUMBER: _ClassVar[int]
    POINT_FIELD_NUMBER: _ClassVar[int]
    FOUR_YAKU_FIELD_NUMBER: _ClassVar[int]
    FIRST_TURN_FIELD_NUMBER: _ClassVar[int]
    TEAMS_FIELD_NUMBER: _ClassVar[int]
    REFERENCE_FIELD_NUMBER: _ClassVar[int]
    DEAL_FIELD_NUMBER: _ClassVar[int]
    DEALER_FIELD_NUMBER: _ClassVar[int]
    TURN_FIELD_NUMBER: _ClassVar[int]
    POINT_CARD_FIELD_NUMBER: _ClassVar[int]
    HAND_FIELD_NUMBER: _ClassVar[int]
    DRAWN_FIELD_NUMBER: _ClassVar[int]
    WORTH_FIELD_NUMBER: _ClassVar[int]
    FIELDS_FIELD_NUMBER: _ClassVar[int]
    KEPT_FIELD_NUMBER: _ClassVar[int]
    MAY_KEEP_FIELD_NUMBER: _ClassVar[int]
    STOCK_FIELD_NUMBER: _ClassVar[int]
    HAND_SIZES_FIELD_NUMBER: _ClassVar[int]
    SCORES_FIELD_NUMBER: _ClassVar[int]
    TURNS_FIELD_NUMBER: _ClassVar[int]
    DEALS_FIELD_NUMBER: _ClassVar[int]
    POINTS_FIELD_NUMBER: _ClassVar[int]
    pair: int
    """Value of a pair. Rule U-2.1."""
    three: int
    """Value of three of a kind. Rule U-2.1."""
    straight: int
    """Value of a straight of four; each further card adds 1. Rule U-2.2."""
    four: int
    """Value of four of a kind. Rule U-2.1."""
    point: int
    """Value of a card of the point card's rank. Rule U-2.3."""
    four_yaku: int
    """Bonus for four or more yaku. Rule U-2.4."""
    first_turn: int
    """Bonus for going out on the first turn of a deal. Rule U-2.5."""
    teams: bool
    """Whether seats 0 and 2 play against seats 1 and 3. Rule U-7."""
    reference: _containers.RepeatedScalarFieldContainer[int]
    """The two seats whose fields are your reference fields, the nearer one first.
    Rule U-1.3.
    """
    deal: int
    """The number of the deal, from 0; each seat deals twice, or up to ten
    times with starting points. Rules U-1.2, U-8.2.
    """
    dealer: int
    """The seat that deals and has the first turn. Rule U-3.2."""
    turn: int
    """The seat whose turn it is."""
    point_card: str
    """The point card. Rule U-2.3."""
    hand: _containers.RepeatedScalarFieldContainer[str]
    """Your hand, including the drawn card. Rule U-3.2."""
    drawn: str
    """The card that you drew, if it is your turn."""
    worth: int
    """The score for going out now, including all bonuses and the doubling; 0 if
    going out is not legal. Rule U-4.7.
    """
    fields: _containers.RepeatedCompositeFieldContainer[PoukuCards]
    """The fields, by seat; the cards of each in the order of their arrival. Rules
    U-3.3, U-6.
    """
    kept: _containers.RepeatedCompositeFieldContainer[PoukuCards]
    """The kept yaku, by seat; empty if the seat has not kept one. Rule U-5."""
    may_keep: bool
    """Whether you (in teams: your team) may still keep a yaku in this deal. Rules
    U-5.1, U-7.4.
    """
    stock: int
    """Number of cards left in the stock. Rule U-3.4."""
    hand_sizes: _containers.RepeatedScalarFieldContainer[int]
    """Number of cards in hand, by seat."""
    scores: _containers.RepeatedScalarFieldContainer[int]
    """The totals of the earlier deals and the starting points, by seat; both seats
    of a team have the team's total. Rules U-8.1, U-8.2.
    """
    turns: _containers.RepeatedCompositeFieldContainer[PoukuTurn]
    """The turns of this deal so far, in order. Rule U-9.1."""
    deals: _containers.RepeatedCompositeFieldContainer[PoukuDeal]
    """The earlier deals. Rule U-9.3."""
    points: int
    """Starting points of every seat, of which `scores` has what is left; 0 if the
    game ends after two rounds of dealers. Rule U-8.2.
    """
    def __init__(self, pair: _Optional[int] = ..., three: _Optional[int] = ..., straight: _Optional[int] = ..., four: _Optional[int] = ..., point: _Optional[int] = ..., four_yaku: _Optional[int] = ..., first_turn: _Optional[int] = ..., teams: bool = ..., reference: _Optional[_Iterable[int]] = ..., deal: _Optional[int] = ..., dealer: _Optional[int] = ..., turn: _Optional[int] = ..., point_card: _Optional[str] = ..., hand: _Optional[_Iterable[str]] = ..., drawn: _Optional[str] = ..., worth: _Optional[int] = ..., fields: _Optional[_Iterable[_Union[PoukuCards, _Mapping[str, _Any]]]] = ..., kept: _Optional[_Iterable[_Union[PoukuCards, _Mapping[str, _Any]]]] = ..., may_keep: bool = ..., stock: _Optional[int] = ..., hand_sizes: _Optional[_Iterable[int]] = ..., scores: _Optional[_Iterable[int]] = ..., turns: _Optional[_Iterable[_Union[PoukuTurn, _Mapping[str, _Any]]]] = ..., deals: _Optional[_Iterable[_Union[PoukuDeal, _Mapping[str, _Any]]]] = ..., points: _Optional[int] = ...) -> None: ...

class PoukuCards(_message.Message):
    """A list of cards."""
    __slots__ = ("cards",)
    CARDS_FIELD_NUMBER: _ClassVar[int]
    cards: _containers.RepeatedScalarFieldContainer[str]
    """The cards."""
    def __init__(self, cards: _Optional[_Iterable[str]] = ...) -> None: ...

class PoukuTurn(_message.Message):
    """A turn that did not end the deal."""
    __slots__ = ("seat", "keep", "discard", "field")
    SEAT_FIELD_NUMBER: _ClassVar[int]
    KEEP_FIELD_NUMBER: _ClassVar[int]
    DISCARD_FIELD_NUMBER: _ClassVar[int]
    FIELD_FIELD_NUMBER: _ClassVar[int]
    seat: int
    """The seat that had the turn."""
    keep: _containers.RepeatedScalarFieldContainer[str]
    """The kept yaku, including the card from the hand; empty without a keep."""
    discard: str
    """The discarded card."""
    field: int
    """The seat whose field received it."""
    def __init__(self, seat: _Optional[int] = ..., keep: _Optional[_Iterable[str]] = ..., discard: _Optional[str] = ..., field: _Optional[int] = ...) -> None: ...

class PoukuYaku(_message.Message):
    """A scoring combination."""
    __slots__ = ("name", "cards", "worth")
    NAME_FIELD_NUMBER: _ClassVar[int]
    CARDS_FIELD_NUMBER: _ClassVar[int]
    WORTH_FIELD_NUMBER: _ClassVar[int]
    name: str
    """"pair", "three", "straight" or "four"."""
    cards: _containers.RepeatedScalarFieldContainer[str]
    """Its cards, the lowest first. A low ace is before the two."""
    worth: int
    """Its value."""
    def __init__(self, name: _Optional[str] = ..., cards: _Optional[_Iterable[str]] = ..., worth: _Optional[int] = ...) -> None: ...

class PoukuDeal(_message.Message):
    """A deal that is over."""
    __slots__ = ("dealer", "point_card", "void", "winner", "hand", "yaku", "worth", "points", "fields", "turns")
    DEALER_FIELD_NUMBER: _ClassVar[int]
    POINT_CARD_FIELD_NUMBER: _ClassVar[int]
    VOID_FIELD_NUMBER: _ClassVar[int]
    WINNER_FIELD_NUMBER: _ClassVar[int]
    HAND_FIELD_NUMBER: _ClassVar[int]
    YAKU_FIELD_NUMBER: _ClassVar[int]
    WORTH_FIELD_NUMBER: _ClassVar[int]
    POINTS_FIELD_NUMBER: _ClassVar[int]
    FIELDS_FIELD_NUMBER: _ClassVar[int]
    TURNS_FIELD_NUMBER: _ClassVar[int]
    dealer: int
    """The seat of the dealer."""
    point_card: str
    """The point card."""
    void: bool
    """Whether the stock ended before a seat went out; then the next five fields are
    empty or 0. Rule U-3.4.
    """
    winner: int
    """The seat that went out."""
    hand: _containers.RepeatedScalarFieldContainer[str]
    """The winner's hand."""
    yaku: _containers.RepeatedCompositeFieldContainer[PoukuYaku]
    """The yaku that counted, the kept one last. A field card is in at most one
    yaku; a card of the hand may be in several. Rule U-4.
    """
    worth: int
    """Their value with points and bonuses, before any doubling. Rule U-4.7."""
    points: _containers.RepeatedScalarFieldContainer[int]
    """The points of the deal, by seat. Rules U-4.7, U-6."""
    fields: _containers.RepeatedCompositeFieldContainer[PoukuCards]
    """The fields at its end, by seat."""
    turns: _containers.RepeatedCompositeFieldContainer[PoukuTurn]
    """Its turns, in order, without the turn of going out."""
    def __init__(self, dealer: _Optional[int] = ..., point_card: _Optional[str] = ..., void: bool = ..., winner: _Optional[int] = ..., hand: _Optional[_Iterable[str]] = ..., yaku: _Optional[_Iterable[_Union[PoukuYaku, _Mapping[str, _Any]]]] = ..., worth: _Optional[int] = ..., points: _Optional[_Iterable[int]] = ..., fields: _Optional[_Iterable[_Union[PoukuCards, _Mapping[str, _Any]]]] = ..., turns: _Optional[_Iterable[_Union[PoukuTurn, _Mapping[str, _Any]]]] = ...) -> None: ...

class PoukuAction(_message.Message):
    """An action of a seat: one decision per turn."""
    __slots__ = ("discard", "give", "go_out")
    class Discard(_message.Message):
        """Keeps a yaku or not, then discards to the seat's own field. Rules U-3.3, U-5."""
        __slots__ = ("card", "keep")
        CARD_FIELD_NUMBER: _ClassVar[int]
        KEEP_FIELD_NUMBER: _ClassVar[int]
        card: str
        """The card to discard."""
        keep: _containers.RepeatedScalarFieldContainer[str]
        """The yaku to keep: one card of the hand, and cards from the fields of at
        most two other seats. Empty: keep no yaku. Rule U-5.1.
        """
        def __init__(self, card: _Optional[str] = ..., keep: _Optional[_Iterable[str]] = ...) -> None: ...
    class Give(_message.Message):
        """Keeps a yaku or not, then discards to the teammate's field. Only in teams.
        Rule U-7.5.
        """
        __slots__ = ("card", "keep")
        CARD_FIELD_NUMBER: _ClassVar[int]
        KEEP_FIELD_NUMBER: _ClassVar[int]
        card: str
        """The card to discard."""
        keep: _containers.RepeatedScalarFieldContainer[str]
        """The yaku to keep, as in Discard."""
        def __init__(self, card: _Optional[str] = ..., keep: _Optional[_Iterable[str]] = ...) -> None: ...
    class GoOut(_message.Message):
        """Goes out. The referee finds the best yaku. Rule U-4."""
        __slots__ = ()
        def __init__(self) -> None: ...
    DISCARD_FIELD_NUMBER: _ClassVar[int]
    GIVE_FIELD_NUMBER: _ClassVar[int]
    GO_OUT_FIELD_NUMBER: _ClassVar[int]
    discard: PoukuAction.Discard
    """Discard to the seat's own field."""
    give: PoukuAction.Give
    """Discard to the teammate's field."""
    go_out: PoukuAction.GoOut
    """Go out."""
    def HasField(self, field_name: _Literal['discard', 'give', 'go_out']) -> bool: ...
    def WhichOneof(self, oneof_group: _Literal['action']) -> _Literal['discard', 'give', 'go_out'] | None: ...
    def __init__(self, discard: _Optional[_Union[PoukuAction.Discard, _Mapping[str, _Any]]] = ..., give: _Optional[_Union[PoukuAction.Give, _Mapping[str, _Any]]] = ..., go_out: _Optional[_Union[PoukuAction.GoOut, _Mapping[str, _Any]]] = ...) -> None: ...
