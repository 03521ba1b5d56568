"""Legal actions of Poke (docs/rules/poke.md, *Draw* and *Tricks*)."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, combinations, groupby
from random import Random

from referee.games.contract import Action, LazyActions, Words
from referee.games.poke.actions import Answer, Draw, Lead, Stand
from referee.games.shared.cards import RANK, Hand


def beats(answer: Hand, lead: Hand) -> bool:
    """Return whether an answer of the right length wins: one rank, higher than the lead's."""
    rank = RANK[answer[0]]
    if rank <= RANK[lead[0]]:
        return False
    return len(answer) == 1 or all(RANK[c] == rank for c in answer)


def can_beat(hand: Hand, lead: Hand) -> bool:
    """Return whether the hand holds a winning answer."""
    rank, size = RANK[lead[0]], len(lead)
    higher = [r for c in hand if (r := RANK[c]) > rank]
    return bool(higher) and (size == 1 or max(map(higher.count, higher)) >= size)


def _from(hand: Hand, chosen: Hand) -> bool:
    """Return whether the chosen cards are distinct cards of the hand."""
    cards = set(chosen)
    return len(cards) == len(chosen) and cards.issubset(hand)


def without(hand: Hand, cards: Hand) -> Hand:
    """Return the hand without these cards, in the same order."""
    return tuple([c for c in hand if c not in cards])


@dataclass(frozen=True, slots=True)
class LegalDraws(LazyActions):
    """Stand, or discard 1 to 3 cards; standing is the most harmless action."""

    hand: Hand

    def __contains__(self, action: object) -> bool:
        match action:
            case Stand():
                return True
            case Draw(discards):
                return 1 <= len(discards) <= 3 and _from(self.hand, discards)
        return False

    def words(self) -> Words:
        yield Stand, iter(((),))
        yield Draw, zip(self._discards())

    def any(self, chance: Random) -> Action:
        discards = chance.choice([(), *self._discards()])
        return Draw(discards) if discards else Stand()

    def _discards(self) -> Iterator[Hand]:
        hand = self.hand
        return chain(combinations(hand, 1), combinations(hand, 2), combinations(hand, 3))


@dataclass(frozen=True, slots=True)
class LegalLeads(LazyActions):
    """Lead 1 to 4 cards of one rank; single low cards are the most harmless leads."""

    hand: Hand

    def __contains__(self, action: object) -> bool:
        match action:
            case Lead(cards):
                if not 1 <= len(cards) <= 4 or not _from(self.hand, cards):
                    return False
                return len({RANK[c] for c in cards}) == 1
        return False

    def words(self) -> Words:
        yield Lead, zip(self._groups())

    def any(self, chance: Random) -> Action:
        return Lead(chance.choice(self._groups()))

    def _groups(self) -> list[Hand]:
        hand = self.hand
        groups: list[Hand] = [(c,) for c in hand]
        if len({c[0] for c in hand}) < len(hand):
            of_rank = [tuple(cards) for _, cards in groupby(hand, RANK.__getitem__)]
            for size in (2, 3, 4):
                for cards in of_rank:
                    groups += combinations(cards, size)
        return groups


@dataclass(frozen=True, slots=True)
class LegalAnswers(LazyActions):
    """Answer with the number of cards led; lowest first."""

    hand: Hand
    lead: Hand
    must_beat: bool

    def __contains__(self, action: object) -> bool:
        match action:
            case Answer(cards):
                if len(cards) != len(self.lead) or not _from(self.hand, cards):
                    return False
                return not self._forced() or beats(cards, self.lead)
        return False

    def words(self) -> Words:
        yield Answer, zip(self._answers())

    def any(self, chance: Random) -> Action:
        return Answer(chance.choice(self._answers()))

    def _answers(self) -> list[Hand]:
        answers = list(combinations(self.hand, len(self.lead)))
        if self._forced():
            return [cards for cards in answers if beats(cards, self.lead)]
        return answers

    def _forced(self) -> bool:
        return self.must_beat and can_beat(self.hand, self.lead)
