from typing import Any as _Any, Literal as _Literal
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class PokexView(_message.Message):
    """What a seat sees."""
    __slots__ = ("deal", "dealer", "phase", "hand", "centre", "auction", "bid", "declarer", "wild_rank", "turned", "played", "tricks", "taken", "points", "deals")
    DEAL_FIELD_NUMBER: _ClassVar[int]
    DEALER_FIELD_NUMBER: _ClassVar[int]
    PHASE_FIELD_NUMBER: _ClassVar[int]
    HAND_FIELD_NUMBER: _ClassVar[int]
    CENTRE_FIELD_NUMBER: _ClassVar[int]
    AUCTION_FIELD_NUMBER: _ClassVar[int]
    BID_FIELD_NUMBER: _ClassVar[int]
    DECLARER_FIELD_NUMBER: _ClassVar[int]
    WILD_RANK_FIELD_NUMBER: _ClassVar[int]
    TURNED_FIELD_NUMBER: _ClassVar[int]
    PLAYED_FIELD_NUMBER: _ClassVar[int]
    TRICKS_FIELD_NUMBER: _ClassVar[int]
    TAKEN_FIELD_NUMBER: _ClassVar[int]
    POINTS_FIELD_NUMBER: _ClassVar[int]
    DEALS_FIELD_NUMBER: _ClassVar[int]
    deal: int
    """The deal, from 0."""
    dealer: int
    """The seat of the dealer. The next seat begins the auction. Rules X-1.2, X-2.1."""
    phase: str
    """The required decision: "bid" (pass or bid), "name" (the wild rank) or "play"
    (two cards with four seats, one card with two).
    """
    hand: _containers.RepeatedScalarFieldContainer[str]
    """Your hand, the lowest card first, jokers last. Rule X-8.2."""
    centre: _containers.RepeatedScalarFieldContainer[str]
    """The centre. Four seats: six cards, one per trick, in this order. Two seats:
    twelve cards, the lowest first; chance decides when each is turned up. Rules
    X-1.5, X-5.1.
    """
    auction: _containers.RepeatedCompositeFieldContainer[PokexCall]
    """The auction, from its beginning. Rule X-2."""
    bid: int
    """The highest bid so far; 0 if nobody has bid. Rule X-2.2."""
    declarer: int
    """The seat with the highest bid, which is the declarer after the auction. 0
    without a bid. Rule X-2.6.
    """
    wild_rank: str
    """The wild rank ("7", "T"); empty until it is named. The jokers are always
    wild. Rule X-3.
    """
    turned: _containers.RepeatedScalarFieldContainer[str]
    """The centre cards of the current trick: one with four seats, two with two.
    Empty before the play. Rules X-4.1, X-5.1.
    """
    played: _containers.RepeatedCompositeFieldContainer[PokexPlayed]
    """The plays of the current trick, in order. Rules X-4.3, X-5.3."""
    tricks: _containers.RepeatedCompositeFieldContainer[PokexTrick]
    """The earlier tricks of this deal. Rule X-6."""
    taken: _containers.RepeatedScalarFieldContainer[int]
    """Number of tricks taken in this deal, by side. Rules X-7.1, X-7.2."""
    points: _containers.RepeatedScalarFieldContainer[int]
    """Points of the earlier deals, by side. Rule X-7.5."""
    deals: _containers.RepeatedCompositeFieldContainer[PokexDeal]
    """The earlier deals."""
    def __init__(self, deal: _Optional[int] = ..., dealer: _Optional[int] = ..., phase: _Optional[str] = ..., hand: _Optional[_Iterable[str]] = ..., centre: _Optional[_Iterable[str]] = ..., auction: _Optional[_Iterable[_Union[PokexCall, _Mapping[str, _Any]]]] = ..., bid: _Optional[int] = ..., declarer: _Optional[int] = ..., wild_rank: _Optional[str] = ..., turned: _Optional[_Iterable[str]] = ..., played: _Optional[_Iterable[_Union[PokexPlayed, _Mapping[str, _Any]]]] = ..., tricks: _Optional[_Iterable[_Union[PokexTrick, _Mapping[str, _Any]]]] = ..., taken: _Optional[_Iterable[int]] = ..., points: _Optional[_Iterable[int]] = ..., deals: _Optional[_Iterable[_Union[PokexDeal, _Mapping[str, _Any]]]] = ...) -> None: ...

class PokexCall(_message.Message):
    """A call in the auction."""
    __slots__ = ("seat", "tricks")
    SEAT_FIELD_NUMBER: _ClassVar[int]
    TRICKS_FIELD_NUMBER: _ClassVar[int]
    seat: int
    """The seat."""
    tricks: int
    """The tricks bid; 0 is a pass."""
    def __init__(self, seat: _Optional[int] = ..., tricks: _Optional[int] = ...) -> None: ...

class PokexPlayed(_message.Message):
    """The cards that a seat played to a trick."""
    __slots__ = ("seat", "cards")
    SEAT_FIELD_NUMBER: _ClassVar[int]
    CARDS_FIELD_NUMBER: _ClassVar[int]
    seat: int
    """The seat."""
    cards: _containers.RepeatedScalarFieldContainer[str]
    """Two cards with four seats, one with two."""
    def __init__(self, seat: _Optional[int] = ..., cards: _Optional[_Iterable[str]] = ...) -> None: ...

class PokexTrick(_message.Message):
    """A trick that is over."""
    __slots__ = ("centre", "played", "taken")
    CENTRE_FIELD_NUMBER: _ClassVar[int]
    PLAYED_FIELD_NUMBER: _ClassVar[int]
    TAKEN_FIELD_NUMBER: _ClassVar[int]
    centre: _containers.RepeatedScalarFieldContainer[str]
    """Its centre cards: one with four seats, two with two."""
    played: _containers.RepeatedCompositeFieldContainer[PokexPlayed]
    """Its plays, in order."""
    taken: _containers.RepeatedScalarFieldContainer[int]
    """By side: 1 for the side that took it. Both are 0 if no side took it. Rule
    X-6.5.
    """
    def __init__(self, centre: _Optional[_Iterable[str]] = ..., played: _Optional[_Iterable[_Union[PokexPlayed, _Mapping[str, _Any]]]] = ..., taken: _Optional[_Iterable[int]] = ...) -> None: ...

class PokexDeal(_message.Message):
    """A deal that is over."""
    __slots__ = ("dealer", "centre", "auction", "bid", "declarer", "wild_rank", "tricks", "taken", "points")
    DEALER_FIELD_NUMBER: _ClassVar[int]
    CENTRE_FIELD_NUMBER: _ClassVar[int]
    AUCTION_FIELD_NUMBER: _ClassVar[int]
    BID_FIELD_NUMBER: _ClassVar[int]
    DECLARER_FIELD_NUMBER: _ClassVar[int]
    WILD_RANK_FIELD_NUMBER: _ClassVar[int]
    TRICKS_FIELD_NUMBER: _ClassVar[int]
    TAKEN_FIELD_NUMBER: _ClassVar[int]
    POINTS_FIELD_NUMBER: _ClassVar[int]
    dealer: int
    """The seat of the dealer."""
    centre: _containers.RepeatedScalarFieldContainer[str]
    """The centre at the beginning of the deal."""
    auction: _containers.RepeatedCompositeFieldContainer[PokexCall]
    """The auction."""
    bid: int
    """The highest bid; 0 if all seats passed."""
    declarer: int
    """The seat of the declarer; 0 without a bid."""
    wild_rank: str
    """The wild rank; empty if all seats passed."""
    tricks: _containers.RepeatedCompositeFieldContainer[PokexTrick]
    """The six tricks."""
    taken: _containers.RepeatedScalarFieldContainer[int]
    """Number of tricks taken, by side."""
    points: _containers.RepeatedScalarFieldContainer[int]
    """Points of the deal, by side. Rule X-7."""
    def __init__(self, dealer: _Optional[int] = ..., centre: _Optional[_Iterable[str]] = ..., auction: _Optional[_Iterable[_Union[PokexCall, _Mapping[str, _Any]]]] = ..., bid: _Optional[int] = ..., declarer: _Optional[int] = ..., wild_rank: _Optional[str] = ..., tricks: _Optional[_Iterable[_Union[PokexTrick, _Mapping[str, _Any]]]] = ..., taken: _Optional[_Iterable[int]] = ..., points: _Optional[_Iterable[int]] = ...) -> None: ...

class PokexAction(_message.Message):
    """An action of a seat."""
    __slots__ = ("pass_bid", "bid", "name_wild", "play_pair", "play_card")
    class PassBid(_message.Message):
        """Passes. A later bid is still possible. Rule X-2.3."""
        __slots__ = ()
        def __init__(self) -> None: ...
    class Bid(_message.Message):
        """Bids a number of tricks. Rule X-2.2."""
        __slots__ = ("tricks",)
        TRICKS_FIELD_NUMBER: _ClassVar[int]
        tricks: int
        """1 to 6, and more than the highest bid so far."""
        def __init__(self, tricks: _Optional[int] = ...) -> None: ...
    class NameWild(_message.Message):
        """Names the wild rank. Rule X-3.1."""
        __slots__ = ("rank",)
        RANK_FIELD_NUMBER: _ClassVar[int]
        rank: str
        """One of "2" to "9", "T", "J", "Q", "K", "A"."""
        def __init__(self, rank: _Optional[str] = ...) -> None: ...
    class PlayPair(_message.Message):
        """Plays two cards of the hand. Only with four seats. Rule X-4.2."""
        __slots__ = ("cards",)
        CARDS_FIELD_NUMBER: _ClassVar[int]
        cards: _containers.RepeatedScalarFieldContainer[str]
        """Two cards."""
        def __init__(self, cards: _Optional[_Iterable[str]] = ...) -> None: ...
    class PlayCard(_message.Message):
        """Plays one card of the hand. Only with two seats. Rule X-5.2."""
        __slots__ = ("card",)
        CARD_FIELD_NUMBER: _ClassVar[int]
        card: str
        """The card."""
        def __init__(self, card: _Optional[str] = ...) -> None: ...
    PASS_BID_FIELD_NUMBER: _ClassVar[int]
    BID_FIELD_NUMBER: _ClassVar[int]
    NAME_WILD_FIELD_NUMBER: _ClassVar[int]
    PLAY_PAIR_FIELD_NUMBER: _ClassVar[int]
    PLAY_CARD_FIELD_NUMBER: _ClassVar[int]
    pass_bid: PokexAction.PassBid
    """Pass."""
    bid: PokexAction.Bid
    """Bid."""
    name_wild: PokexAction.NameWild
    """Name the wild rank."""
    play_pair: PokexAction.PlayPair
    """Play two cards."""
    play_card: PokexAction.PlayCard
    """Play one card."""
    def HasField(self, field_name: _Literal['pass_bid', 'bid', 'name_wild', 'play_pair', 'play_card']) -> bool: ...
    def WhichOneof(self, oneof_group: _Literal['action']) -> _Literal['pass_bid', 'bid', 'name_wild', 'play_pair', 'play_card'] | None: ...
    def __init__(self, pass_bid: _Optional[_Union[PokexAction.PassBid, _Mapping[str, _Any]]] = ..., bid: _Optional[_Union[PokexAction.Bid, _Mapping[str, _Any]]] = ..., name_wild: _Optional[_Union[PokexAction.NameWild, _Mapping[str, _Any]]] = ..., play_pair: _Optional[_Union[PokexAction.PlayPair, _Mapping[str, _Any]]] = ..., play_card: _Optional[_Union[PokexAction.PlayCard, _Mapping[str, _Any]]] = ...) -> None: ...
