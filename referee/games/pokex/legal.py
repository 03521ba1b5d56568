"""Legal actions of Pokex (docs/rules/pokex.md, *The auction*, *The wild rank*, *The tricks*)."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from random import Random

from referee.games.contract import Action, ActionArguments, LazyActions, Legal
from referee.games.pokex.actions import Bid, NameWild, PassBid, PlayCard, PlayPair
from referee.games.shared.cards import JOKERS, RANKS, Hand
from referee.games.shared.choices import choices

HIGHEST_BID = 6
_JOKER = JOKERS[0][0]
"""First letter of the jokers, in place of a rank."""

_pass = PassBid()
_bid = cache(Bid)
_pair = cache(PlayPair)
_card = cache(PlayCard)


@dataclass(slots=True)
class LegalCalls(Legal):
    """Pass, or bid more than the standing bid; passing is the most harmless action."""

    standing: int

    def __contains__(self, action: object) -> bool:
        match action:
            case PassBid():
                return True
            case Bid(tricks):
                return self.standing < tricks <= HIGHEST_BID
        return False

    def __iter__(self) -> Iterator[Action]:
        yield _pass
        yield from map(_bid, range(self.standing + 1, HIGHEST_BID + 1))


@dataclass(slots=True)
class LegalWildRanks(Legal):
    """Name one of the thirteen ranks."""

    def __contains__(self, action: object) -> bool:
        return isinstance(action, NameWild) and action.rank in tuple(RANKS)

    def __iter__(self) -> Iterator[Action]:
        return map(NameWild, RANKS)


@dataclass(slots=True)
class LegalPairs(LazyActions):
    """Two cards of the hand; lowest first, wild cards last."""

    hand: Hand
    wild_rank: str

    def __contains__(self, action: object) -> bool:
        if not isinstance(action, PlayPair) or len(action.cards) != 2:
            return False
        first, second = action.cards
        return first != second and first in self.hand and second in self.hand

    def by_constructor(self) -> ActionArguments:
        yield PlayPair, combinations(wild_last(self.hand, self.wild_rank), 2)

    def any(self, chance: Random) -> Action:
        pair = chance.choice(choices(len(self.hand), 2))
        return _pair(pair(wild_last(self.hand, self.wild_rank)))


@dataclass(slots=True)
class LegalCards(LazyActions):
    """One card of the hand; lowest first, wild cards last."""

    hand: Hand
    wild_rank: str

    def __contains__(self, action: object) -> bool:
        return isinstance(action, PlayCard) and action.card in self.hand

    def by_constructor(self) -> ActionArguments:
        yield PlayCard, wild_last(self.hand, self.wild_rank)

    def any(self, chance: Random) -> Action:
        return _card(chance.choice(wild_last(self.hand, self.wild_rank)))


def wild_last(hand: Hand, wild_rank: str) -> Hand:
    """Move the wild cards of a sorted hand to its end."""
    wild = (_JOKER, wild_rank)
    others = tuple([c for c in hand if c[0] not in wild])
    if len(others) == len(hand):
        return hand
    return others + tuple([c for c in hand if c[0] in wild])
