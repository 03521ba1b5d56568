from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class SaintPokerView(_message.Message):
    __slots__ = ("round", "phase", "hand", "river", "future", "shown", "order", "picked", "scores", "hand_sizes", "known", "rounds")
    ROUND_FIELD_NUMBER: _ClassVar[int]
    PHASE_FIELD_NUMBER: _ClassVar[int]
    HAND_FIELD_NUMBER: _ClassVar[int]
    RIVER_FIELD_NUMBER: _ClassVar[int]
    FUTURE_FIELD_NUMBER: _ClassVar[int]
    SHOWN_FIELD_NUMBER: _ClassVar[int]
    ORDER_FIELD_NUMBER: _ClassVar[int]
    PICKED_FIELD_NUMBER: _ClassVar[int]
    SCORES_FIELD_NUMBER: _ClassVar[int]
    HAND_SIZES_FIELD_NUMBER: _ClassVar[int]
    KNOWN_FIELD_NUMBER: _ClassVar[int]
    ROUNDS_FIELD_NUMBER: _ClassVar[int]
    round: int
    phase: str
    hand: _containers.RepeatedScalarFieldContainer[str]
    river: _containers.RepeatedScalarFieldContainer[str]
    future: _containers.RepeatedScalarFieldContainer[str]
    shown: _containers.RepeatedCompositeFieldContainer[SaintPokerCards]
    order: _containers.RepeatedScalarFieldContainer[int]
    picked: _containers.RepeatedCompositeFieldContainer[SaintPokerPicked]
    scores: _containers.RepeatedScalarFieldContainer[int]
    hand_sizes: _containers.RepeatedScalarFieldContainer[int]
    known: _containers.RepeatedCompositeFieldContainer[SaintPokerCards]
    rounds: _containers.RepeatedCompositeFieldContainer[SaintPokerRound]
    def __init__(self, round: _Optional[int] = ..., phase: _Optional[str] = ..., hand: _Optional[_Iterable[str]] = ..., river: _Optional[_Iterable[str]] = ..., future: _Optional[_Iterable[str]] = ..., shown: _Optional[_Iterable[_Union[SaintPokerCards, _Mapping]]] = ..., order: _Optional[_Iterable[int]] = ..., picked: _Optional[_Iterable[_Union[SaintPokerPicked, _Mapping]]] = ..., scores: _Optional[_Iterable[int]] = ..., hand_sizes: _Optional[_Iterable[int]] = ..., known: _Optional[_Iterable[_Union[SaintPokerCards, _Mapping]]] = ..., rounds: _Optional[_Iterable[_Union[SaintPokerRound, _Mapping]]] = ...) -> None: ...

class SaintPokerCards(_message.Message):
    __slots__ = ("cards",)
    CARDS_FIELD_NUMBER: _ClassVar[int]
    cards: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, cards: _Optional[_Iterable[str]] = ...) -> None: ...

class SaintPokerPicked(_message.Message):
    __slots__ = ("seat", "card")
    SEAT_FIELD_NUMBER: _ClassVar[int]
    CARD_FIELD_NUMBER: _ClassVar[int]
    seat: int
    card: str
    def __init__(self, seat: _Optional[int] = ..., card: _Optional[str] = ...) -> None: ...

class SaintPokerRound(_message.Message):
    __slots__ = ("river", "shown", "order", "picked", "discards")
    RIVER_FIELD_NUMBER: _ClassVar[int]
    SHOWN_FIELD_NUMBER: _ClassVar[int]
    ORDER_FIELD_NUMBER: _ClassVar[int]
    PICKED_FIELD_NUMBER: _ClassVar[int]
    DISCARDS_FIELD_NUMBER: _ClassVar[int]
    river: _containers.RepeatedScalarFieldContainer[str]
    shown: _containers.RepeatedCompositeFieldContainer[SaintPokerCards]
    order: _containers.RepeatedScalarFieldContainer[int]
    picked: _containers.RepeatedCompositeFieldContainer[SaintPokerPicked]
    discards: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, river: _Optional[_Iterable[str]] = ..., shown: _Optional[_Iterable[_Union[SaintPokerCards, _Mapping]]] = ..., order: _Optional[_Iterable[int]] = ..., picked: _Optional[_Iterable[_Union[SaintPokerPicked, _Mapping]]] = ..., discards: _Optional[_Iterable[str]] = ...) -> None: ...

class SaintPokerAction(_message.Message):
    __slots__ = ("river", "show", "pick_up")
    class River(_message.Message):
        __slots__ = ("card",)
        CARD_FIELD_NUMBER: _ClassVar[int]
        card: str
        def __init__(self, card: _Optional[str] = ...) -> None: ...
    class Show(_message.Message):
        __slots__ = ("cards",)
        CARDS_FIELD_NUMBER: _ClassVar[int]
        cards: _containers.RepeatedScalarFieldContainer[str]
        def __init__(self, cards: _Optional[_Iterable[str]] = ...) -> None: ...
    class PickUp(_message.Message):
        __slots__ = ("card",)
        CARD_FIELD_NUMBER: _ClassVar[int]
        card: str
        def __init__(self, card: _Optional[str] = ...) -> None: ...
    RIVER_FIELD_NUMBER: _ClassVar[int]
    SHOW_FIELD_NUMBER: _ClassVar[int]
    PICK_UP_FIELD_NUMBER: _ClassVar[int]
    river: SaintPokerAction.River
    show: SaintPokerAction.Show
    pick_up: SaintPokerAction.PickUp
    def __init__(self, river: _Optional[_Union[SaintPokerAction.River, _Mapping]] = ..., show: _Optional[_Union[SaintPokerAction.Show, _Mapping]] = ..., pick_up: _Optional[_Union[SaintPokerAction.PickUp, _Mapping]] = ...) -> None: ...
