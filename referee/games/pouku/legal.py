"""Legal actions of Pouku and legal keeps (docs/rules/pouku.md, U-3, U-4, U-5)."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations, islice, repeat

from referee.games.contract import LazyActions, Words
from referee.games.pouku.actions import Discard, Give, GoOut
from referee.games.pouku.scores import GoingOut
from referee.games.pouku.yaku import ACE, LONGEST, LOW_ACE, SHORTEST, name_of
from referee.games.shared.cards import RANK, Card, Hand

# Legal keeps (docs/rules/pouku.md, U-5).

Fields = tuple[Hand, ...]
"""The fields by seat; the keeping seat's is empty, because it must not be used."""

GIVERS = 2
"""Maximum number of other seats whose cards a keep uses."""
LISTED = 60
"""Maximum number of listed keeps; usually there are fewer."""


def is_keep(keep: Hand, hand: Hand, fields: Fields) -> bool:
    """Return whether these cards are a legal keep.

    A keep is one yaku of one card of the hand and cards of at most two other fields.
    """
    if len(set(keep)) != len(keep) or any(c not in RANK for c in keep):
        return False
    shown = [c for c in keep if c in hand]
    taken = [sum(c in field for c in keep) for field in fields]
    if len(shown) != 1 or sum(taken) != len(keep) - 1 or sum(map(bool, taken)) > GIVERS:
        return False
    return name_of(keep) is not None


@lru_cache(256)
def keeps(hand: Hand, fields: Fields) -> tuple[tuple[Hand, ...], bool]:
    """Return the keeps to list, groups before straights, and whether the list is complete.

    The card of the hand comes first. If there are too many, one keep of every set of ranks comes
    before all others, and the list is cut.
    """
    owners = {card: seat for seat, field in enumerate(fields) for card in field}
    legal = tuple(islice(_all(hand, owners), LISTED + 1))
    if len(legal) <= LISTED:
        return legal, True
    of_each = tuple(islice(_all(hand, owners, 1), LISTED))
    return tuple(dict.fromkeys((*of_each, *legal)))[:LISTED], False


def _all(hand: Hand, owners: dict[Card, int], choices: int | None = None) -> Iterator[Hand]:
    """Yield every keep, with at most ``choices`` straights of the same ranks."""
    lying: dict[int, list[Card]] = {}
    for card in owners:
        lying.setdefault(RANK[card], []).append(card)
    if ACE in lying:
        lying[LOW_ACE] = lying[ACE]
    for card in hand:
        same = lying.get(RANK[card], ())
        for size in range(1, len(same) + 1):
            for few in combinations(same, size):
                if size <= GIVERS or len({owners[c] for c in few}) <= GIVERS:
                    yield (card, *few)
    for card in hand:
        for places in _straights(RANK[card], lying):
            yield from islice(_taken(card, places, lying, owners), choices)


def _straights(rank: int, lying: dict[int, list[Card]]) -> Iterator[list[int]]:
    """Yield the other ranks of every straight that contains this rank, shortest first."""
    for place in (LOW_ACE, ACE) if rank == ACE else (rank,):
        first = last = place
        while first - 1 in lying and first > LOW_ACE:
            first -= 1
        while last + 1 in lying:
            last += 1
        for size in range(SHORTEST, min(LONGEST, last - first + 1) + 1):
            for start in range(max(first, place - size + 1), min(place, last - size + 1) + 1):
                if size < LONGEST or start > LOW_ACE:  # avoid a second straight from ace to king
                    yield [at for at in range(start, start + size) if at != place]


def _taken(
    card: Card, places: list[int], lying: dict[int, list[Card]], owners: dict[Card, int]
) -> Iterator[Hand]:
    """Yield all choices of one card per rank from at most two owners."""

    def extended(cards: Hand, givers: frozenset[int]) -> Iterator[Hand]:
        if len(cards) > len(places):
            yield cards
            return
        for taken in lying[places[len(cards) - 1]]:
            now = givers | {owners[taken]}
            if len(now) <= GIVERS:
                yield from extended((*cards, taken), now)

    return extended((card,), frozenset())


@dataclass(slots=True)
class PoukuTurns(LazyActions):
    """Discard, discard after a keep, or go out; the most harmless actions come first."""

    hand: Hand
    fields: Fields
    """Fields whose cards may be kept, by seat; all empty if a keep is not allowed."""
    teams: bool
    offer: GoingOut
    needed: int
    """Points required to go out."""

    def __contains__(self, action: object) -> bool:
        match action:
            case Discard(card, keep):
                return self._may_discard(card, keep)
            case Give(card, keep):
                return self.teams and self._may_discard(card, keep)
            case GoOut():
                return self.offer.reaches(self.needed)
        return False

    def _may_discard(self, card: str, keep: Hand) -> bool:
        if card not in self.hand or card in keep:
            return False
        return not keep or is_keep(keep, self.hand, self.fields)

    @property
    def complete(self) -> bool:
        """Return whether all keeps are listed."""
        return keeps(self.hand, self.fields)[1]

    @property
    def listed_keeps(self) -> tuple[Hand, ...]:
        """Return the keeps of the listed actions."""
        return keeps(self.hand, self.fields)[0]

    def words(self) -> Words:
        kinds = (Discard, Give) if self.teams else (Discard,)
        hand = self.hand
        for kind in kinds:
            yield kind, zip(hand)
        for keep in self.listed_keeps:
            others = [card for card in hand if card != keep[0]]
            for kind in kinds:
                yield kind, zip(others, repeat(keep))
        if self.offer.reaches(self.needed):
            yield GoOut, iter(((),))
