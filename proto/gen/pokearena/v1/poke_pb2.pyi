from typing import Any as _Any, Literal as _Literal
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class PokeView(_message.Message):
    """What a seat sees."""
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
    """Option: whether a seat must give a winning answer if it has one. Rule P-4."""
    deal: int
    """The deal, from 0, counted over the whole rubber. Rule P-1.4."""
    dealer: int
    """Seat of the dealer of this deal. Rule P-1.2."""
    phase: str
    """The required decision: "draw", "lead" or "answer"."""
    hand: _containers.RepeatedScalarFieldContainer[str]
    """Your hand; during the tricks without the cards already played. Rule P-7.2."""
    discards: _containers.RepeatedScalarFieldContainer[str]
    """The cards that you discarded in this deal. Rule P-2.4."""
    below: _containers.RepeatedScalarFieldContainer[int]
    """Points below the line in this leg, by seat. Rule P-5.1."""
    above: _containers.RepeatedScalarFieldContainer[int]
    """Points above the line, by seat: the score of the rubber. Rule P-6.4."""
    legs: _containers.RepeatedScalarFieldContainer[int]
    """Legs won, by seat. Rule P-6.1."""
    multipliers: _containers.RepeatedScalarFieldContainer[int]
    """Multiplier by seat: 1, 2 (doubled) or 4 (redoubled). The opponent's tricks
    are multiplied by it. Rule P-2.7.
    """
    drawn: _containers.RepeatedCompositeFieldContainer[PokeDrawn]
    """The draws of this deal so far, in order. Rule P-2."""
    tricks: _containers.RepeatedCompositeFieldContainer[PokeTrick]
    """The tricks of this deal so far, in order. Rule P-3."""
    lead: _containers.RepeatedScalarFieldContainer[str]
    """The lead to answer; empty if there is no open lead. Rule P-3.3."""
    deals: _containers.RepeatedCompositeFieldContainer[PokeDeal]
    """The earlier deals. Rule P-7.1."""
    def __init__(self, must_beat: bool = ..., deal: _Optional[int] = ..., dealer: _Optional[int] = ..., phase: _Optional[str] = ..., hand: _Optional[_Iterable[str]] = ..., discards: _Optional[_Iterable[str]] = ..., below: _Optional[_Iterable[int]] = ..., above: _Optional[_Iterable[int]] = ..., legs: _Optional[_Iterable[int]] = ..., multipliers: _Optional[_Iterable[int]] = ..., drawn: _Optional[_Iterable[_Union[PokeDrawn, _Mapping[str, _Any]]]] = ..., tricks: _Optional[_Iterable[_Union[PokeTrick, _Mapping[str, _Any]]]] = ..., lead: _Optional[_Iterable[str]] = ..., deals: _Optional[_Iterable[_Union[PokeDeal, _Mapping[str, _Any]]]] = ...) -> None: ...

class PokeDrawn(_message.Message):
    """A draw, as all seats see it."""
    __slots__ = ("seat", "cards")
    SEAT_FIELD_NUMBER: _ClassVar[int]
    CARDS_FIELD_NUMBER: _ClassVar[int]
    seat: int
    """The seat that drew."""
    cards: int
    """The number of cards; 0 is a stand. Rule P-2.2."""
    def __init__(self, seat: _Optional[int] = ..., cards: _Optional[int] = ...) -> None: ...

class PokeTrick(_message.Message):
    """A lead and its answer."""
    __slots__ = ("leader", "lead", "answer", "winner")
    LEADER_FIELD_NUMBER: _ClassVar[int]
    LEAD_FIELD_NUMBER: _ClassVar[int]
    ANSWER_FIELD_NUMBER: _ClassVar[int]
    WINNER_FIELD_NUMBER: _ClassVar[int]
    leader: int
    """The seat that led."""
    lead: _containers.RepeatedScalarFieldContainer[str]
    """The cards led."""
    answer: _containers.RepeatedScalarFieldContainer[str]
    """The cards of the answer."""
    winner: int
    """The seat that won. Each card that it played is one trick. Rules P-3.4, P-3.5."""
    def __init__(self, leader: _Optional[int] = ..., lead: _Optional[_Iterable[str]] = ..., answer: _Optional[_Iterable[str]] = ..., winner: _Optional[int] = ...) -> None: ...

class PokeDeal(_message.Message):
    """A deal that is over."""
    __slots__ = ("dealer", "drawn", "tricks", "below", "above")
    DEALER_FIELD_NUMBER: _ClassVar[int]
    DRAWN_FIELD_NUMBER: _ClassVar[int]
    TRICKS_FIELD_NUMBER: _ClassVar[int]
    BELOW_FIELD_NUMBER: _ClassVar[int]
    ABOVE_FIELD_NUMBER: _ClassVar[int]
    dealer: int
    """Seat of the dealer."""
    drawn: _containers.RepeatedCompositeFieldContainer[PokeDrawn]
    """Its draws, in order."""
    tricks: _containers.RepeatedCompositeFieldContainer[PokeTrick]
    """Its tricks, in order."""
    below: _containers.RepeatedScalarFieldContainer[int]
    """Points scored below the line, by seat. Rule P-5.1."""
    above: _containers.RepeatedScalarFieldContainer[int]
    """Points scored above the line, by seat, including leg and rubber. Rules P-5.2,
    P-5.3, P-6.
    """
    def __init__(self, dealer: _Optional[int] = ..., drawn: _Optional[_Iterable[_Union[PokeDrawn, _Mapping[str, _Any]]]] = ..., tricks: _Optional[_Iterable[_Union[PokeTrick, _Mapping[str, _Any]]]] = ..., below: _Optional[_Iterable[int]] = ..., above: _Optional[_Iterable[int]] = ...) -> None: ...

class PokeAction(_message.Message):
    """An action of a seat."""
    __slots__ = ("stand", "draw", "lead", "answer")
    class Stand(_message.Message):
        """Keeps the hand and ends the seat's drawing. Rule P-2.8."""
        __slots__ = ()
        def __init__(self) -> None: ...
    class Draw(_message.Message):
        """Discards cards and draws the same number. Rule P-2.2."""
        __slots__ = ("discards",)
        DISCARDS_FIELD_NUMBER: _ClassVar[int]
        discards: _containers.RepeatedScalarFieldContainer[str]
        """1 to 3 cards of the hand."""
        def __init__(self, discards: _Optional[_Iterable[str]] = ...) -> None: ...
    class Lead(_message.Message):
        """Leads to a trick. Rule P-3.2."""
        __slots__ = ("cards",)
        CARDS_FIELD_NUMBER: _ClassVar[int]
        cards: _containers.RepeatedScalarFieldContainer[str]
        """1 to 4 cards of one rank."""
        def __init__(self, cards: _Optional[_Iterable[str]] = ...) -> None: ...
    class Answer(_message.Message):
        """Answers a lead. Rules P-3.3, P-4."""
        __slots__ = ("cards",)
        CARDS_FIELD_NUMBER: _ClassVar[int]
        cards: _containers.RepeatedScalarFieldContainer[str]
        """Exactly as many cards as were led."""
        def __init__(self, cards: _Optional[_Iterable[str]] = ...) -> None: ...
    STAND_FIELD_NUMBER: _ClassVar[int]
    DRAW_FIELD_NUMBER: _ClassVar[int]
    LEAD_FIELD_NUMBER: _ClassVar[int]
    ANSWER_FIELD_NUMBER: _ClassVar[int]
    stand: PokeAction.Stand
    """Keep the hand."""
    draw: PokeAction.Draw
    """Discard and draw."""
    lead: PokeAction.Lead
    """Lead to a trick."""
    answer: PokeAction.Answer
    """Answer a lead."""
    def HasField(self, field_name: _Literal['stand', 'draw', 'lead', 'answer']) -> bool: ...
    def WhichOneof(self, oneof_group: _Literal['action']) -> _Literal['stand', 'draw', 'lead', 'answer'] | None: ...
    def __init__(self, stand: _Optional[_Union[PokeAction.Stand, _Mapping[str, _Any]]] = ..., draw: _Optional[_Union[PokeAction.Draw, _Mapping[str, _Any]]] = ..., lead: _Optional[_Union[PokeAction.Lead, _Mapping[str, _Any]]] = ..., answer: _Optional[_Union[PokeAction.Answer, _Mapping[str, _Any]]] = ...) -> None: ...
