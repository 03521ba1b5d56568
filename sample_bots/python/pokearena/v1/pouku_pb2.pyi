from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class PoukuView(_message.Message):
    __slots__ = ("pair", "three", "straight", "four", "point", "four_yaku", "first_turn", "teams", "reference", "deal", "dealer", "turn", "point_card", "hand", "drawn", "worth", "fields", "kept", "may_keep", "stock", "hand_sizes", "scores", "turns", "deals")
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
    pair: int
    three: int
    straight: int
    four: int
    point: int
    four_yaku: int
    first_turn: int
    teams: bool
    reference: _containers.RepeatedScalarFieldContainer[int]
    deal: int
    dealer: int
    turn: int
    point_card: str
    hand: _containers.RepeatedScalarFieldContainer[str]
    drawn: str
    worth: int
    fields: _containers.RepeatedCompositeFieldContainer[PoukuCards]
    kept: _containers.RepeatedCompositeFieldContainer[PoukuCards]
    may_keep: bool
    stock: int
    hand_sizes: _containers.RepeatedScalarFieldContainer[int]
    scores: _containers.RepeatedScalarFieldContainer[int]
    turns: _containers.RepeatedCompositeFieldContainer[PoukuTurn]
    deals: _containers.RepeatedCompositeFieldContainer[PoukuDeal]
    def __init__(self, pair: _Optional[int] = ..., three: _Optional[int] = ..., straight: _Optional[int] = ..., four: _Optional[int] = ..., point: _Optional[int] = ..., four_yaku: _Optional[int] = ..., first_turn: _Optional[int] = ..., teams: bool = ..., reference: _Optional[_Iterable[int]] = ..., deal: _Optional[int] = ..., dealer: _Optional[int] = ..., turn: _Optional[int] = ..., point_card: _Optional[str] = ..., hand: _Optional[_Iterable[str]] = ..., drawn: _Optional[str] = ..., worth: _Optional[int] = ..., fields: _Optional[_Iterable[_Union[PoukuCards, _Mapping]]] = ..., kept: _Optional[_Iterable[_Union[PoukuCards, _Mapping]]] = ..., may_keep: bool = ..., stock: _Optional[int] = ..., hand_sizes: _Optional[_Iterable[int]] = ..., scores: _Optional[_Iterable[int]] = ..., turns: _Optional[_Iterable[_Union[PoukuTurn, _Mapping]]] = ..., deals: _Optional[_Iterable[_Union[PoukuDeal, _Mapping]]] = ...) -> None: ...

class PoukuCards(_message.Message):
    __slots__ = ("cards",)
    CARDS_FIELD_NUMBER: _ClassVar[int]
    cards: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, cards: _Optional[_Iterable[str]] = ...) -> None: ...

class PoukuTurn(_message.Message):
    __slots__ = ("seat", "keep", "discard", "field")
    SEAT_FIELD_NUMBER: _ClassVar[int]
    KEEP_FIELD_NUMBER: _ClassVar[int]
    DISCARD_FIELD_NUMBER: _ClassVar[int]
    FIELD_FIELD_NUMBER: _ClassVar[int]
    seat: int
    keep: _containers.RepeatedScalarFieldContainer[str]
    discard: str
    field: int
    def __init__(self, seat: _Optional[int] = ..., keep: _Optional[_Iterable[str]] = ..., discard: _Optional[str] = ..., field: _Optional[int] = ...) -> None: ...

class PoukuYaku(_message.Message):
    __slots__ = ("name", "cards", "worth")
    NAME_FIELD_NUMBER: _ClassVar[int]
    CARDS_FIELD_NUMBER: _ClassVar[int]
    WORTH_FIELD_NUMBER: _ClassVar[int]
    name: str
    cards: _containers.RepeatedScalarFieldContainer[str]
    worth: int
    def __init__(self, name: _Optional[str] = ..., cards: _Optional[_Iterable[str]] = ..., worth: _Optional[int] = ...) -> None: ...

class PoukuDeal(_message.Message):
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
    point_card: str
    void: bool
    winner: int
    hand: _containers.RepeatedScalarFieldContainer[str]
    yaku: _containers.RepeatedCompositeFieldContainer[PoukuYaku]
    worth: int
    points: _containers.RepeatedScalarFieldContainer[int]
    fields: _containers.RepeatedCompositeFieldContainer[PoukuCards]
    turns: _containers.RepeatedCompositeFieldContainer[PoukuTurn]
    def __init__(self, dealer: _Optional[int] = ..., point_card: _Optional[str] = ..., void: bool = ..., winner: _Optional[int] = ..., hand: _Optional[_Iterable[str]] = ..., yaku: _Optional[_Iterable[_Union[PoukuYaku, _Mapping]]] = ..., worth: _Optional[int] = ..., points: _Optional[_Iterable[int]] = ..., fields: _Optional[_Iterable[_Union[PoukuCards, _Mapping]]] = ..., turns: _Optional[_Iterable[_Union[PoukuTurn, _Mapping]]] = ...) -> None: ...

class PoukuAction(_message.Message):
    __slots__ = ("discard", "give", "go_out")
    class Discard(_message.Message):
        __slots__ = ("card", "keep")
        CARD_FIELD_NUMBER: _ClassVar[int]
        KEEP_FIELD_NUMBER: _ClassVar[int]
        card: str
        keep: _containers.RepeatedScalarFieldContainer[str]
        def __init__(self, card: _Optional[str] = ..., keep: _Optional[_Iterable[str]] = ...) -> None: ...
    class Give(_message.Message):
        __slots__ = ("card", "keep")
        CARD_FIELD_NUMBER: _ClassVar[int]
        KEEP_FIELD_NUMBER: _ClassVar[int]
        card: str
        keep: _containers.RepeatedScalarFieldContainer[str]
        def __init__(self, card: _Optional[str] = ..., keep: _Optional[_Iterable[str]] = ...) -> None: ...
    class GoOut(_message.Message):
        __slots__ = ()
        def __init__(self) -> None: ...
    DISCARD_FIELD_NUMBER: _ClassVar[int]
    GIVE_FIELD_NUMBER: _ClassVar[int]
    GO_OUT_FIELD_NUMBER: _ClassVar[int]
    discard: PoukuAction.Discard
    give: PoukuAction.Give
    go_out: PoukuAction.GoOut
    def __init__(self, discard: _Optional[_Union[PoukuAction.Discard, _Mapping]] = ..., give: _Optional[_Union[PoukuAction.Give, _Mapping]] = ..., go_out: _Optional[_Union[PoukuAction.GoOut, _Mapping]] = ...) -> None: ...
