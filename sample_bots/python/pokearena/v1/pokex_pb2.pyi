from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class PokexView(_message.Message):
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
    dealer: int
    phase: str
    hand: _containers.RepeatedScalarFieldContainer[str]
    centre: _containers.RepeatedScalarFieldContainer[str]
    auction: _containers.RepeatedCompositeFieldContainer[PokexCall]
    bid: int
    declarer: int
    wild_rank: str
    turned: _containers.RepeatedScalarFieldContainer[str]
    played: _containers.RepeatedCompositeFieldContainer[PokexPlayed]
    tricks: _containers.RepeatedCompositeFieldContainer[PokexTrick]
    taken: _containers.RepeatedScalarFieldContainer[int]
    points: _containers.RepeatedScalarFieldContainer[int]
    deals: _containers.RepeatedCompositeFieldContainer[PokexDeal]
    def __init__(self, deal: _Optional[int] = ..., dealer: _Optional[int] = ..., phase: _Optional[str] = ..., hand: _Optional[_Iterable[str]] = ..., centre: _Optional[_Iterable[str]] = ..., auction: _Optional[_Iterable[_Union[PokexCall, _Mapping]]] = ..., bid: _Optional[int] = ..., declarer: _Optional[int] = ..., wild_rank: _Optional[str] = ..., turned: _Optional[_Iterable[str]] = ..., played: _Optional[_Iterable[_Union[PokexPlayed, _Mapping]]] = ..., tricks: _Optional[_Iterable[_Union[PokexTrick, _Mapping]]] = ..., taken: _Optional[_Iterable[int]] = ..., points: _Optional[_Iterable[int]] = ..., deals: _Optional[_Iterable[_Union[PokexDeal, _Mapping]]] = ...) -> None: ...

class PokexCall(_message.Message):
    __slots__ = ("seat", "tricks")
    SEAT_FIELD_NUMBER: _ClassVar[int]
    TRICKS_FIELD_NUMBER: _ClassVar[int]
    seat: int
    tricks: int
    def __init__(self, seat: _Optional[int] = ..., tricks: _Optional[int] = ...) -> None: ...

class PokexPlayed(_message.Message):
    __slots__ = ("seat", "cards")
    SEAT_FIELD_NUMBER: _ClassVar[int]
    CARDS_FIELD_NUMBER: _ClassVar[int]
    seat: int
    cards: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, seat: _Optional[int] = ..., cards: _Optional[_Iterable[str]] = ...) -> None: ...

class PokexTrick(_message.Message):
    __slots__ = ("centre", "played", "taken")
    CENTRE_FIELD_NUMBER: _ClassVar[int]
    PLAYED_FIELD_NUMBER: _ClassVar[int]
    TAKEN_FIELD_NUMBER: _ClassVar[int]
    centre: _containers.RepeatedScalarFieldContainer[str]
    played: _containers.RepeatedCompositeFieldContainer[PokexPlayed]
    taken: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, centre: _Optional[_Iterable[str]] = ..., played: _Optional[_Iterable[_Union[PokexPlayed, _Mapping]]] = ..., taken: _Optional[_Iterable[int]] = ...) -> None: ...

class PokexDeal(_message.Message):
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
    centre: _containers.RepeatedScalarFieldContainer[str]
    auction: _containers.RepeatedCompositeFieldContainer[PokexCall]
    bid: int
    declarer: int
    wild_rank: str
    tricks: _containers.RepeatedCompositeFieldContainer[PokexTrick]
    taken: _containers.RepeatedScalarFieldContainer[int]
    points: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, dealer: _Optional[int] = ..., centre: _Optional[_Iterable[str]] = ..., auction: _Optional[_Iterable[_Union[PokexCall, _Mapping]]] = ..., bid: _Optional[int] = ..., declarer: _Optional[int] = ..., wild_rank: _Optional[str] = ..., tricks: _Optional[_Iterable[_Union[PokexTrick, _Mapping]]] = ..., taken: _Optional[_Iterable[int]] = ..., points: _Optional[_Iterable[int]] = ...) -> None: ...

class PokexAction(_message.Message):
    __slots__ = ("pass_bid", "bid", "name_wild", "play_pair", "play_card")
    class PassBid(_message.Message):
        __slots__ = ()
        def __init__(self) -> None: ...
    class Bid(_message.Message):
        __slots__ = ("tricks",)
        TRICKS_FIELD_NUMBER: _ClassVar[int]
        tricks: int
        def __init__(self, tricks: _Optional[int] = ...) -> None: ...
    class NameWild(_message.Message):
        __slots__ = ("rank",)
        RANK_FIELD_NUMBER: _ClassVar[int]
        rank: str
        def __init__(self, rank: _Optional[str] = ...) -> None: ...
    class PlayPair(_message.Message):
        __slots__ = ("cards",)
        CARDS_FIELD_NUMBER: _ClassVar[int]
        cards: _containers.RepeatedScalarFieldContainer[str]
        def __init__(self, cards: _Optional[_Iterable[str]] = ...) -> None: ...
    class PlayCard(_message.Message):
        __slots__ = ("card",)
        CARD_FIELD_NUMBER: _ClassVar[int]
        card: str
        def __init__(self, card: _Optional[str] = ...) -> None: ...
    PASS_BID_FIELD_NUMBER: _ClassVar[int]
    BID_FIELD_NUMBER: _ClassVar[int]
    NAME_WILD_FIELD_NUMBER: _ClassVar[int]
    PLAY_PAIR_FIELD_NUMBER: _ClassVar[int]
    PLAY_CARD_FIELD_NUMBER: _ClassVar[int]
    pass_bid: PokexAction.PassBid
    bid: PokexAction.Bid
    name_wild: PokexAction.NameWild
    play_pair: PokexAction.PlayPair
    play_card: PokexAction.PlayCard
    def __init__(self, pass_bid: _Optional[_Union[PokexAction.PassBid, _Mapping]] = ..., bid: _Optional[_Union[PokexAction.Bid, _Mapping]] = ..., name_wild: _Optional[_Union[PokexAction.NameWild, _Mapping]] = ..., play_pair: _Optional[_Union[PokexAction.PlayPair, _Mapping]] = ..., play_card: _Optional[_Union[PokexAction.PlayCard, _Mapping]] = ...) -> None: ...
