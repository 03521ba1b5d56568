from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class PokeView(_message.Message):
    __slots__ = ("must_beat", "deal", "dealer", "phase", "hand", "discards", "below", "above", "legs", "multipliers", "drawn", "tricks", "lead", "deals")
    MUST_BEAT_FIELD_NUMBER: _ClassVar[int]
    DEAL_FIELD_NUMBER: _ClassVar[int]
    DEALER_FIELD_NUMBER: _ClassVar[int]
    PHASE_FIELD_NUMBER: _ClassVar[int]
    HAND_FIELD_NUMBER: _ClassVar[int]
    DISCARDS_FIELD_NUMBER: _ClassVar[int]
    BELOW_FIELD_NUMBER: _ClassVar[int]
    ABOVE_FIELD_NUMBER: _ClassVar[int]
    LEGS_FIELD_NUMBER: _ClassVar[int]
    MULTIPLIERS_FIELD_NUMBER: _ClassVar[int]
    DRAWN_FIELD_NUMBER: _ClassVar[int]
    TRICKS_FIELD_NUMBER: _ClassVar[int]
    LEAD_FIELD_NUMBER: _ClassVar[int]
    DEALS_FIELD_NUMBER: _ClassVar[int]
    must_beat: bool
    deal: int
    dealer: int
    phase: str
    hand: _containers.RepeatedScalarFieldContainer[str]
    discards: _containers.RepeatedScalarFieldContainer[str]
    below: _containers.RepeatedScalarFieldContainer[int]
    above: _containers.RepeatedScalarFieldContainer[int]
    legs: _containers.RepeatedScalarFieldContainer[int]
    multipliers: _containers.RepeatedScalarFieldContainer[int]
    drawn: _containers.RepeatedCompositeFieldContainer[PokeDrawn]
    tricks: _containers.RepeatedCompositeFieldContainer[PokeTrick]
    lead: _containers.RepeatedScalarFieldContainer[str]
    deals: _containers.RepeatedCompositeFieldContainer[PokeDeal]
    def __init__(self, must_beat: bool = ..., deal: _Optional[int] = ..., dealer: _Optional[int] = ..., phase: _Optional[str] = ..., hand: _Optional[_Iterable[str]] = ..., discards: _Optional[_Iterable[str]] = ..., below: _Optional[_Iterable[int]] = ..., above: _Optional[_Iterable[int]] = ..., legs: _Optional[_Iterable[int]] = ..., multipliers: _Optional[_Iterable[int]] = ..., drawn: _Optional[_Iterable[_Union[PokeDrawn, _Mapping]]] = ..., tricks: _Optional[_Iterable[_Union[PokeTrick, _Mapping]]] = ..., lead: _Optional[_Iterable[str]] = ..., deals: _Optional[_Iterable[_Union[PokeDeal, _Mapping]]] = ...) -> None: ...

class PokeDrawn(_message.Message):
    __slots__ = ("seat", "cards")
    SEAT_FIELD_NUMBER: _ClassVar[int]
    CARDS_FIELD_NUMBER: _ClassVar[int]
    seat: int
    cards: int
    def __init__(self, seat: _Optional[int] = ..., cards: _Optional[int] = ...) -> None: ...

class PokeTrick(_message.Message):
    __slots__ = ("leader", "lead", "answer", "winner")
    LEADER_FIELD_NUMBER: _ClassVar[int]
    LEAD_FIELD_NUMBER: _ClassVar[int]
    ANSWER_FIELD_NUMBER: _ClassVar[int]
    WINNER_FIELD_NUMBER: _ClassVar[int]
    leader: int
    lead: _containers.RepeatedScalarFieldContainer[str]
    answer: _containers.RepeatedScalarFieldContainer[str]
    winner: int
    def __init__(self, leader: _Optional[int] = ..., lead: _Optional[_Iterable[str]] = ..., answer: _Optional[_Iterable[str]] = ..., winner: _Optional[int] = ...) -> None: ...

class PokeDeal(_message.Message):
    __slots__ = ("dealer", "drawn", "tricks", "below", "above")
    DEALER_FIELD_NUMBER: _ClassVar[int]
    DRAWN_FIELD_NUMBER: _ClassVar[int]
    TRICKS_FIELD_NUMBER: _ClassVar[int]
    BELOW_FIELD_NUMBER: _ClassVar[int]
    ABOVE_FIELD_NUMBER: _ClassVar[int]
    dealer: int
    drawn: _containers.RepeatedCompositeFieldContainer[PokeDrawn]
    tricks: _containers.RepeatedCompositeFieldContainer[PokeTrick]
    below: _containers.RepeatedScalarFieldContainer[int]
    above: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, dealer: _Optional[int] = ..., drawn: _Optional[_Iterable[_Union[PokeDrawn, _Mapping]]] = ..., tricks: _Optional[_Iterable[_Union[PokeTrick, _Mapping]]] = ..., below: _Optional[_Iterable[int]] = ..., above: _Optional[_Iterable[int]] = ...) -> None: ...

class PokeAction(_message.Message):
    __slots__ = ("stand", "draw", "lead", "answer")
    class Stand(_message.Message):
        __slots__ = ()
        def __init__(self) -> None: ...
    class Draw(_message.Message):
        __slots__ = ("discards",)
        DISCARDS_FIELD_NUMBER: _ClassVar[int]
        discards: _containers.RepeatedScalarFieldContainer[str]
        def __init__(self, discards: _Optional[_Iterable[str]] = ...) -> None: ...
    class Lead(_message.Message):
        __slots__ = ("cards",)
        CARDS_FIELD_NUMBER: _ClassVar[int]
        cards: _containers.RepeatedScalarFieldContainer[str]
        def __init__(self, cards: _Optional[_Iterable[str]] = ...) -> None: ...
    class Answer(_message.Message):
        __slots__ = ("cards",)
        CARDS_FIELD_NUMBER: _ClassVar[int]
        cards: _containers.RepeatedScalarFieldContainer[str]
        def __init__(self, cards: _Optional[_Iterable[str]] = ...) -> None: ...
    STAND_FIELD_NUMBER: _ClassVar[int]
    DRAW_FIELD_NUMBER: _ClassVar[int]
    LEAD_FIELD_NUMBER: _ClassVar[int]
    ANSWER_FIELD_NUMBER: _ClassVar[int]
    stand: PokeAction.Stand
    draw: PokeAction.Draw
    lead: PokeAction.Lead
    answer: PokeAction.Answer
    def __init__(self, stand: _Optional[_Union[PokeAction.Stand, _Mapping]] = ..., draw: _Optional[_Union[PokeAction.Draw, _Mapping]] = ..., lead: _Optional[_Union[PokeAction.Lead, _Mapping]] = ..., answer: _Optional[_Union[PokeAction.Answer, _Mapping]] = ...) -> None: ...
