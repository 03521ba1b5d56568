from typing import Any as _Any, Literal as _Literal
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class SaintPokerView(_message.Message):
    """What a seat sees."""
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
    """The round, 1 to 8; also its value in points. Rule S-2.4."""
    phase: str
    """The required decision: "river", "show" or "pick_up"."""
    hand: _containers.RepeatedScalarFieldContainer[str]
    """Your hand. Rule S-2.5."""
    river: _containers.RepeatedScalarFieldContainer[str]
    """The river: the cards from the future river, then the added cards, by seat.
    Rules S-2.1, S-2.2.
    """
    future: _containers.RepeatedScalarFieldContainer[str]
    """The future river, which begins the river of the next round. Rule S-1.4."""
    shown: _containers.RepeatedCompositeFieldContainer[SaintPokerCards]
    """The two shown cards of each seat; empty until all seats have shown. Rule
    S-2.3.
    """
    order: _containers.RepeatedScalarFieldContainer[int]
    """The seats from the best hand to the worst; empty until all seats have shown.
    Rule S-3.
    """
    picked: _containers.RepeatedCompositeFieldContainer[SaintPokerPicked]
    """The pick-ups of this round so far, in order. Rule S-4.1."""
    scores: _containers.RepeatedScalarFieldContainer[int]
    """Points, by seat. Rule S-2.4."""
    hand_sizes: _containers.RepeatedScalarFieldContainer[int]
    """Number of cards in hand, by seat. Rule S-6.1."""
    known: _containers.RepeatedCompositeFieldContainer[SaintPokerCards]
    """Cards in hand that are public because they were picked up, by seat. Rule
    S-6.2.
    """
    rounds: _containers.RepeatedCompositeFieldContainer[SaintPokerRound]
    """The earlier rounds. Rule S-6.1."""
    def __init__(self, round: _Optional[int] = ..., phase: _Optional[str] = ..., hand: _Optional[_Iterable[str]] = ..., river: _Optional[_Iterable[str]] = ..., future: _Optional[_Iterable[str]] = ..., shown: _Optional[_Iterable[_Union[SaintPokerCards, _Mapping[str, _Any]]]] = ..., order: _Optional[_Iterable[int]] = ..., picked: _Optional[_Iterable[_Union[SaintPokerPicked, _Mapping[str, _Any]]]] = ..., scores: _Optional[_Iterable[int]] = ..., hand_sizes: _Optional[_Iterable[int]] = ..., known: _Optional[_Iterable[_Union[SaintPokerCards, _Mapping[str, _Any]]]] = ..., rounds: _Optional[_Iterable[_Union[SaintPokerRound, _Mapping[str, _Any]]]] = ...) -> None: ...

class SaintPokerCards(_message.Message):
    """A list of cards."""
    __slots__ = ("cards",)
    CARDS_FIELD_NUMBER: _ClassVar[int]
    cards: _containers.RepeatedScalarFieldContainer[str]
    """The cards."""
    def __init__(self, cards: _Optional[_Iterable[str]] = ...) -> None: ...

class SaintPokerPicked(_message.Message):
    """A pick-up."""
    __slots__ = ("seat", "card")
    SEAT_FIELD_NUMBER: _ClassVar[int]
    CARD_FIELD_NUMBER: _ClassVar[int]
    seat: int
    """The seat that picked up the card."""
    card: str
    """The card."""
    def __init__(self, seat: _Optional[int] = ..., card: _Optional[str] = ...) -> None: ...

class SaintPokerRound(_message.Message):
    """A round that is over."""
    __slots__ = ("river", "shown", "order", "picked", "discards")
    RIVER_FIELD_NUMBER: _ClassVar[int]
    SHOWN_FIELD_NUMBER: _ClassVar[int]
    ORDER_FIELD_NUMBER: _ClassVar[int]
    PICKED_FIELD_NUMBER: _ClassVar[int]
    DISCARDS_FIELD_NUMBER: _ClassVar[int]
    river: _containers.RepeatedScalarFieldContainer[str]
    """The whole river: the cards from the future river, then the added cards, by
    seat.
    """
    shown: _containers.RepeatedCompositeFieldContainer[SaintPokerCards]
    """The two shown cards of each seat."""
    order: _containers.RepeatedScalarFieldContainer[int]
    """The seats from the best hand to the worst; the first one scored."""
    picked: _containers.RepeatedCompositeFieldContainer[SaintPokerPicked]
    """The pick-ups, in order."""
    discards: _containers.RepeatedScalarFieldContainer[str]
    """The cards that left the game. Rule S-4.3."""
    def __init__(self, river: _Optional[_Iterable[str]] = ..., shown: _Optional[_Iterable[_Union[SaintPokerCards, _Mapping[str, _Any]]]] = ..., order: _Optional[_Iterable[int]] = ..., picked: _Optional[_Iterable[_Union[SaintPokerPicked, _Mapping[str, _Any]]]] = ..., discards: _Optional[_Iterable[str]] = ...) -> None: ...

class SaintPokerAction(_message.Message):
    """An action of a seat."""
    __slots__ = ("river", "show", "pick_up")
    class River(_message.Message):
        """Adds a card of the hand to the river. Rule S-2.2."""
        __slots__ = ("card",)
        CARD_FIELD_NUMBER: _ClassVar[int]
        card: str
        """The card."""
        def __init__(self, card: _Optional[str] = ...) -> None: ...
    class Show(_message.Message):
        """Shows two cards of the hand. Rule S-2.3."""
        __slots__ = ("cards",)
        CARDS_FIELD_NUMBER: _ClassVar[int]
        cards: _containers.RepeatedScalarFieldContainer[str]
        """Two cards."""
        def __init__(self, cards: _Optional[_Iterable[str]] = ...) -> None: ...
    class PickUp(_message.Message):
        """Takes a card from the river or from the shown cards of any seat. Rule S-4.1."""
        __slots__ = ("card",)
        CARD_FIELD_NUMBER: _ClassVar[int]
        card: str
        """The card."""
        def __init__(self, card: _Optional[str] = ...) -> None: ...
    RIVER_FIELD_NUMBER: _ClassVar[int]
    SHOW_FIELD_NUMBER: _ClassVar[int]
    PICK_UP_FIELD_NUMBER: _ClassVar[int]
    river: SaintPokerAction.River
    """Add to the river."""
    show: SaintPokerAction.Show
    """Show two cards."""
    pick_up: SaintPokerAction.PickUp
    """Take a card."""
    def HasField(self, field_name: _Literal['river', 'show', 'pick_up']) -> bool: ...
    def WhichOneof(self, oneof_group: _Literal['action']) -> _Literal['river', 'show', 'pick_up'] | None: ...
    def __init__(self, river: _Optional[_Union[SaintPokerAction.River, _Mapping[str, _Any]]] = ..., show: _Optional[_Union[SaintPokerAction.Show, _Mapping[str, _Any]]] = ..., pick_up: _Optional[_Union[SaintPokerAction.PickUp, _Mapping[str, _Any]]] = ...) -> None: ...
