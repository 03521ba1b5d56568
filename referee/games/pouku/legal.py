"""Legal actions of Pouku and legal keeps (docs/rules/pouku.md, U-3, U-4, U-5)."""

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import chain, combinations, islice, product
from random import Random

from referee.games.contract import Action, ActionArguments, LazyActions, constructed
from referee.games.pouku.actions import Discard, Give, GoOut
from referee.games.pouku.yaku import ACE, LONGEST, LOW_ACE, SHORTEST, name_of
from referee.games.shared.cards import RANK, Card, Hand
from referee.games.shared.random_index import random_index

# Legal keeps (docs/rules/pouku.md, U-5).

Fields = tuple[Hand, ...]
"""The fields by seat; the keeping seat's is empty, because it must not be used."""

Pairs = Sequence[tuple[int, ...]]
"""Pairs of seats."""
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
def keeps(hand: Hand, fields: Fields, most: int = LISTED) -> tuple[tuple[Hand, ...], bool]:
    """Return the keeps to list, groups before straights, and whether the list is complete.

    The card of the hand comes first. If there are too many, the first keep of every set of ranks
    comes before all others, and the list is cut (docs/rules/pouku.md, U-10.3).
    """
    legal = tuple(islice(chain.from_iterable(_by_ranks(hand, fields)), most + 1))
    if len(legal) <= most:
        return legal, True
    first_of_ranks: dict[tuple[int, ...], Hand] = {}
    for keep in filter(None, map(_first, _by_ranks(hand, fields))):
        first_of_ranks.setdefault(tuple(sorted(map(RANK.__getitem__, keep))), keep)
    return tuple(dict.fromkeys((*first_of_ranks.values(), *legal)))[:most], False


def _first(of_ranks: Iterable[Hand]) -> Hand | None:
    return next(iter(of_ranks), None)


def _by_ranks(hand: Hand, fields: Fields) -> Iterator[Iterable[Hand]]:
    """Yield the keeps, together those of a card of the hand and a set of ranks."""
    owners = {card: seat for seat, field in enumerate(fields) for card in field}
    pairs = tuple(combinations([seat for seat, field in enumerate(fields) if field], GIVERS))
    lying: dict[int, list[Card]] = {}
    for card in owners:
        lying.setdefault(RANK[card], []).append(card)
    if ACE in lying:
        lying[LOW_ACE] = lying[ACE]
    for card in hand:
        same = lying.get(RANK[card], ())
        for size in range(1, len(same) + 1):
            yield [
                (card, *few)
                for few in combinations(same, size)
                if size <= GIVERS or len({owners[c] for c in few}) <= GIVERS
            ]
    for card in hand:
        for others in _straights(RANK[card], lying):
            choices = [lying[place] for place in others]
            if len(pairs) <= 1:
                yield product((card,), *choices)
            else:
                yield ((card, *cards) for cards in _cards_of_pairs(choices, owners, pairs))


def _cards_of_pairs(
    choices: Sequence[Sequence[Card]], owners: Mapping[Card, int], pairs: Pairs
) -> Iterator[Hand]:
    """Yield the ways to take one card of each choice from at most two fields.

    Pairs of fields that lack a choice are dropped first. So every card of the others leads to a
    result, and the first result is found at once.
    """
    possible = [p for p in pairs if all(any(owners[c] in p for c in cards) for cards in choices)]
    if len(possible) == 1:
        (pair,) = possible
        return product(*[[c for c in cards if owners[c] in pair] for cards in choices])
    return _chosen_from(choices, owners, possible)


def _chosen_from(
    choices: Sequence[Sequence[Card]], owners: Mapping[Card, int], pairs: Pairs
) -> Iterator[Hand]:
    """Yield the ways to take one card of each choice from one of several pairs of fields."""
    if not choices:
        yield ()
        return
    for card in choices[0]:
        left = [pair for pair in pairs if owners[card] in pair]
        if left:
            for others in _chosen_from(choices[1:], owners, left):
                yield (card, *others)


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
