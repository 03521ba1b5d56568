"""What is legal in Poke (docs/rules/poke.md, *Draw* and *Tricks*)."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, combinations

from referee.cards import RANK
from referee.games.contract import Action, Legal
from referee.games.poke.words import Answer, Draw, Hand, Lead, Stand


def beats(answer: Hand, lead: Hand) -> bool:
    """Whether an answer of the right length wins: all of one rank, higher than the lead's."""
    rank = RANK[answer[0]]
    return rank > RANK[lead[0]] and all(RANK[c] == rank for c in answer)


def can_beat(hand: Hand, lead: Hand) -> bool:
    """Whether the hand holds an answer that wins."""
    rank, size = RANK[lead[0]], len(lead)
    higher = [r for c in hand if (r := RANK[c]) > rank]
    return bool(higher) and (size == 1 or any(higher.count(r) >= size for r in higher))


def _from(hand: Hand, chosen: Hand) -> bool:
    """Whether the chosen cards are different cards of the hand."""
    return len(set(chosen)) == len(chosen) and all(c in hand for c in chosen)


def without(hand: Hand, cards: Hand) -> Hand:
    """The hand with these cards gone, in the order it had."""
    return tuple(c for c in hand if c not in cards)


@dataclass(frozen=True, slots=True)
class Draws(Legal):
    """Standing, or discarding 1 to 3 cards; to stand changes least."""

    hand: Hand

    def __contains__(self, action: object) -> bool:
        match action:
            case Stand():
                return True
            case Draw(discards):
                return 1 <= len(discards) <= 3 and _from(self.hand, discards)
        return False

    def __iter__(self) -> Iterator[Action]:
        draws = (map(Draw, combinations(self.hand, size)) for size in (1, 2, 3))
        return chain((Stand(),), *draws)


@dataclass(frozen=True, slots=True)
class Leads(Legal):
    """1 to 4 cards of one rank; few and low cards give away least."""

    hand: Hand

    def __contains__(self, action: object) -> bool:
        match action:
            case Lead(cards):
                one_rank = len({RANK.get(c) for c in cards}) == 1
                return 1 <= len(cards) <= 4 and one_rank and _from(self.hand, cards)
        return False

    def __iter__(self) -> Iterator[Action]:
        hand = self.hand
        for c in hand:
            yield Lead((c,))
        ranks = [RANK[c] for c in hand]
        if len(set(ranks)) == len(ranks):
            return
        for size in (2, 3, 4):
            for cards in combinations(hand, size):
                if RANK[cards[0]] == RANK[cards[-1]]:  # the hand is in order
                    yield Lead(cards)


@dataclass(frozen=True, slots=True)
class Answers(Legal):
    """As many cards as were led; the lowest first."""

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

    def __iter__(self) -> Iterator[Action]:
        answers = combinations(self.hand, len(self.lead))
        if self._forced():
            return (Answer(cards) for cards in answers if beats(cards, self.lead))
        return map(Answer, answers)

    def _forced(self) -> bool:
        return self.must_beat and can_beat(self.hand, self.lead)
