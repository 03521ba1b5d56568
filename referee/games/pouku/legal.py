"""Legal actions of Pouku and legal keeps (docs/rules/pouku.md, U-3, U-4, U-5)."""

from collections.abc import Callable, Container, Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import combinations, islice, product
from random import Random

from referee.games.contract import Action, ActionArguments, LazyActions, constructed
from referee.games.pouku.actions import Discard, Give, GoOut
from referee.games.pouku.yaku import ACE, LONGEST, LOW_ACE, SHORTEST, name_of
from referee.games.shared.cards import RANK, Card, Hand
from referee.games.shared.random_index import random_index

# Legal keeps (docs/rules/pouku.md, U-5).

Fields = tuple[Hand, ...]
"""The fields by seat; the keeping seat's is empty, because it must not be used."""

GIVERS = 2
"""Maximum number of other seats whose cards a keep uses."""
LISTED = 60
"""Maximum number of listed keeps; usually there are fewer."""
_KINDS: tuple[tuple[type[Discard | Give], ...], ...] = ((Discard,), (Discard, Give))
"""The kinds of discards, by whether the game is played in teams."""


def is_keep(keep: Hand, hand: Hand, fields: Fields) -> bool:
    """Return whether these cards are a legal keep.

    A keep is one yaku of one card of the hand and cards of at most two other fields.
    """
    cards = set(keep)
    if len(cards) != len(keep) or not cards <= RANK.keys():
        return False
    shown = cards.intersection(hand)
    taken = [len(cards.intersection(field)) for field in fields]
    if len(shown) != 1 or sum(taken) != len(keep) - 1 or sum(map(bool, taken)) > GIVERS:
        return False
    return name_of(keep) is not None


@lru_cache(256)
def keeps(hand: Hand, fields: Fields) -> tuple[tuple[Hand, ...], bool]:
    """Return the keeps to list, groups before straights, and whether the list is complete.

    The card of the hand comes first. If there are too many, one keep of every set of ranks comes
    before all others, and the list is cut.
    """
    legal = tuple(islice(_all(hand, fields), LISTED + 1))
    if len(legal) <= LISTED:
        return legal, True
    of_each = tuple(islice(_all(hand, fields, 1), LISTED))
    return tuple(dict.fromkeys((*of_each, *legal)))[:LISTED], False


def _all(hand: Hand, fields: Fields, choices: int | None = None) -> Iterator[Hand]:
    """Yield every keep, with at most ``choices`` straights of the same ranks."""
    owners = {card: seat for seat, field in enumerate(fields) for card in field}
    any_owners = sum(map(bool, fields)) <= GIVERS
    lying: dict[int, list[Card]] = {}
    for card in owners:
        lying.setdefault(RANK[card], []).append(card)
    if ACE in lying:
        lying[LOW_ACE] = lying[ACE]
    for card in hand:
        same = lying.get(RANK[card], ())
        for size in range(1, len(same) + 1):
            for few in combinations(same, size):
                if any_owners or len({owners[c] for c in few}) <= GIVERS:
                    yield (card, *few)
    for card in hand:
        for others in _straights(RANK[card], lying):
            choices_of_cards = product((card,), *[lying[place] for place in others])
            straights = (
                cards
                for cards in choices_of_cards
                if any_owners or len({owners[c] for c in cards[1:]}) <= GIVERS
            )
            yield from islice(straights, choices)


def _straights(rank: int, lying: Container[int]) -> Iterator[tuple[int, ...]]:
    """Yield the other ranks of every straight that contains this rank, shortest first."""
    for place in (LOW_ACE, ACE) if rank == ACE else (rank,):
        first = last = place
        while first - 1 in lying:
            first -= 1
        while last + 1 in lying:
            last += 1
        if last - first + 1 >= SHORTEST:
            yield from _straights_within(place, first, last)


@cache
def _straights_within(place: int, first: int, last: int) -> tuple[tuple[int, ...], ...]:
    """Return the other ranks of every straight from ``first`` to ``last`` that contains a rank."""
    return tuple(
        tuple(at for at in range(start, start + size) if at != place)
        for size in range(SHORTEST, min(LONGEST, last - first + 1) + 1)
        for start in range(max(first, place - size + 1), min(place, last - size + 1) + 1)
        if size < LONGEST or start > LOW_ACE  # avoid a second straight from ace to king
    )


def _discard_after_keep(cards: tuple[Card, Hand]) -> Discard:
    return Discard(*cards)


def _give_after_keep(cards: tuple[Card, Hand]) -> Give:
    return Give(*cards)


_AFTER_KEEP = {Discard: _discard_after_keep, Give: _give_after_keep}
"""The constructors of discards after a keep, from the card and the keep."""


@dataclass(slots=True)
class PoukuTurns(LazyActions):
    """Discard, discard after a keep, or go out; the most harmless actions come first."""

    hand: Hand
    fields: Fields
    """Fields whose cards may be kept, by seat; all empty if a keep is not allowed."""
    teams: bool
    may_go_out: Callable[[], bool]

    def __contains__(self, action: object) -> bool:
        match action:
            case Discard(card, keep):
                return self._may_discard(card, keep)
            case Give(card, keep):
                return self.teams and self._may_discard(card, keep)
            case GoOut():
                return self.may_go_out()
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

    def by_constructor(self) -> ActionArguments:
        kinds = _KINDS[self.teams]
        hand = self.hand
        for kind in kinds:
            yield kind, hand
        for keep in self.listed_keeps:
            others = [card for card in hand if card != keep[0]]
            for kind in kinds:
                yield _AFTER_KEEP[kind], [(card, keep) for card in others]
        if self.may_go_out():
            yield constructed, (GoOut(),)

    def any(self, chance: Random) -> Action:
        """Return a random listed action: choose its index, then construct it.

        Whether the seat may go out is decided only if the index depends on it.
        """
        hand, listed, kinds = self.hand, self.listed_keeps, _KINDS[self.teams]
        without_keep = len(kinds) * len(hand)
        per_keep = len(kinds) * (len(hand) - 1)
        discards = without_keep + per_keep * len(listed)
        number = random_index(chance, discards, discards + 1, lambda: discards + self.may_go_out())
        if number == discards:
            return GoOut()
        if number < without_keep:
            kind, place = divmod(number, len(hand))
            return kinds[kind](hand[place])
        which, number = divmod(number - without_keep, per_keep)
        kind, place = divmod(number, len(hand) - 1)
        keep = listed[which]
        return kinds[kind]([card for card in hand if card != keep[0]][place], keep)
