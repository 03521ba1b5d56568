"""Legal actions of Poke (docs/rules/poke.md, *Draw* and *Tricks*)."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, combinations, groupby
from operator import itemgetter
from random import Random

from referee.games.contract import Action, ActionArguments, LazyActions, constructed
from referee.games.poke.actions import Answer, Draw, Lead, Stand
from referee.games.shared.cards import RANK, Card, Hand
from referee.games.shared.choices import Choice, choices

# The actions chosen at random. A lookup takes a quarter of the time of a construction.

_ACTIONS = 1 << 14
"""Actions per cache, about 4 MB."""

_stand = Stand()
_draw = lru_cache(_ACTIONS)(Draw)
_lead = lru_cache(_ACTIONS)(Lead)
_answer = lru_cache(_ACTIONS)(Answer)
_rank_letter = itemgetter(0)
_DISCARDS: tuple[tuple[Choice | None, ...], ...] = tuple(
    (None, *choices(size, 1), *choices(size, 2), *choices(size, 3)) for size in range(6)
)
"""Choices of a draw by the size of the hand, in listing order; None is a stand."""


def beats(answer: Hand, lead: Hand) -> bool:
    """Return whether an answer of the right length wins: one rank, higher than the lead's."""
    rank = RANK[answer[0]]
    if rank <= RANK[lead[0]]:
        return False
    return len(answer) == 1 or all(RANK[c] == rank for c in answer)


def can_beat(hand: Hand, lead: Hand) -> bool:
    """Return whether the hand holds a winning answer."""
    rank, size = RANK[lead[0]], len(lead)
    if size == 1:
        return any(RANK[c] > rank for c in hand)
    higher = [r for c in hand if (r := RANK[c]) > rank]
    return bool(higher) and max(map(higher.count, higher)) >= size


def is_from(hand: Hand, chosen: Hand) -> bool:
    """Return whether the chosen cards are distinct cards of the hand."""
    if len(chosen) == 1:
        return chosen[0] in hand
    cards = set(chosen)
    return len(cards) == len(chosen) and cards.issubset(hand)


def without(hand: Hand, cards: Hand) -> Hand:
    """Return the hand without these cards, in the same order."""
    if len(cards) == 1:
        place = hand.index(cards[0])
        return hand[:place] + hand[place + 1 :]
    return tuple([c for c in hand if c not in cards])


@dataclass(slots=True)
class LegalDraws(LazyActions):
    """Stand, or discard 1 to 3 cards; standing is the most harmless action."""

    hand: Hand

    def __contains__(self, action: object) -> bool:
        if isinstance(action, Draw):
            return 1 <= len(action.discards) <= 3 and is_from(self.hand, action.discards)
        return isinstance(action, Stand)

    def by_constructor(self) -> ActionArguments:
        yield constructed, (Stand(),)
        yield Draw, self._discards()

    def any(self, chance: Random) -> Action:
        discards = chance.choice(_DISCARDS[len(self.hand)])
        return _stand if discards is None else _draw(discards(self.hand))

    def _discards(self) -> Iterator[Hand]:
        hand = self.hand
        return chain(combinations(hand, 1), combinations(hand, 2), combinations(hand, 3))


@dataclass(slots=True)
class LegalLeads(LazyActions):
    """Lead 1 to 4 cards of one rank; single low cards are the most harmless leads."""

    hand: Hand

    def __contains__(self, action: object) -> bool:
        if not isinstance(action, Lead):
            return False
        cards = action.cards
        if not 1 <= len(cards) <= 4 or not is_from(self.hand, cards):
            return False
        return len(cards) == 1 or len({RANK[c] for c in cards}) == 1

    def by_constructor(self) -> ActionArguments:
        yield Lead, self._groups()

    def any(self, chance: Random) -> Action:
        return _lead(chance.choice(self._groups()))

    def _groups(self) -> list[Hand]:
        hand = self.hand
        groups: list[Hand] = list(zip(hand))
        if len(set(map(_rank_letter, hand))) < len(hand):
            of_rank = [tuple(cards) for _, cards in groupby(hand, RANK.__getitem__)]
            for size in (2, 3, 4):
                for cards in of_rank:
                    groups += combinations(cards, size)
        return groups


@dataclass(slots=True)
class LegalAnswers(LazyActions):
    """Answer with the number of cards led; lowest first."""

    hand: Hand
    lead: Hand
    must_beat: bool

    def __contains__(self, action: object) -> bool:
        if not isinstance(action, Answer):
            return False
        cards = action.cards
        if len(cards) != len(self.lead) or not is_from(self.hand, cards):
            return False
        return not self._forced() or beats(cards, self.lead)

    def by_constructor(self) -> ActionArguments:
        yield Answer, self._answers()

    def any(self, chance: Random) -> Action:
        return _answer(chance.choice(self._answers()))

    def _answers(self) -> list[Hand]:
        if len(self.lead) == 1:
            return list(zip(self._single_answers()))
        answers = list(combinations(self.hand, len(self.lead)))
        if self._forced():
            return [cards for cards in answers if beats(cards, self.lead)]
        return answers

    def _single_answers(self) -> Hand | list[Card]:
        """Return the cards that may answer a single card."""
        if not self.must_beat:
            return self.hand
        rank = RANK[self.lead[0]]
        return [c for c in self.hand if RANK[c] > rank] or self.hand

    def _forced(self) -> bool:
        return self.must_beat and can_beat(self.hand, self.lead)
