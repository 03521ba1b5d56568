"""Recount Poke from its rules page."""

from collections.abc import Generator, Mapping, Sequence
from itertools import chain, combinations
from typing import Any

from referee.games.shared.dealing import Seeded
from tests.recount.five_cards import PACK, RANKS, name, worth
from tests.recount.recount_contract import (
    Answers,
    Asked,
    GameResult,
    ListedActions,
    Plain,
    Recount,
    Word,
)

BONUS = {
    "high card": 0,
    "pair": 50,
    "two pairs": 100,
    "three of a kind": 200,
    "straight": 300,
    "flush": 400,
    "full house": 500,
    "four of a kind": 600,
    "straight flush": 750,
    "royal flush": 1000,
}
PRICES = {0: [1, 2, 4], 1: [1, 1, 2, 4]}
"""The multiplier by the number of draws, for the non-dealer (0) and the dealer (1)."""

One = Generator[Asked, Answers, Word]


def recount(luck: Seeded, seats: int, options: Mapping[str, Any]) -> Recount:
    assert seats == 2
    first = luck.below("dealer", 0, 2)
    below, above, legs = [0, 0], [0, 0], [0, 0]
    number = 0
    while max(legs) < 2:
        dealer = (first + number) % 2
        pack = luck.shuffled("deck", number, PACK)
        tricks, hands, prices = yield from deal(pack, dealer, options["must_beat"])
        number += 1
        for seat in (0, 1):
            below[seat] += tricks[seat] * prices[1 - seat]
            above[seat] += 250 if tricks[seat] == 5 else 0
            if worth(hands[seat]) > worth(hands[1 - seat]):
                above[seat] += bonus(hands[seat])
        if max(below) >= 20 and below[0] != below[1]:
            winner = below.index(max(below))
            legs[winner] += 1
            above[winner] += 100
            below = [0, 0]
    winner = legs.index(2)
    above[winner] += 500 if legs[1 - winner] else 750
    return GameResult(above)


def bonus(hand: Sequence[str]) -> int:
    """Return the points of the better hand above the line."""
    royal = name(hand) == "straight flush" and {"A", "K"} <= {card[0] for card in hand}
    return BONUS["royal flush" if royal else name(hand)]


def deal(
    pack: Sequence[str], dealer: int, must_beat: bool
) -> Generator[Asked, Answers, tuple[list[int], list[list[str]], list[int]]]:
    """Play one deal; return the tricks by seat, the hands after the draw, and the multipliers."""
    hands = [list(pack[:5]), list(pack[5:10])]
    stock = list(pack[10:])
    prices = [1, 1]
    for seat in (1 - dealer, dealer):
        steps = PRICES[int(seat == dealer)]
        draws = 0
        while draws + 1 < len(steps):
            kind, values = yield from ask(seat, [("stand",), *draws_from(hands[seat])])
            if kind == "stand":
                break
            for card in values["discards"]:
                hands[seat].remove(card)
                hands[seat].append(stock.pop(0))
            draws += 1
        prices[seat] = steps[draws]
    poker = [list(hand) for hand in hands]
    tricks = [0, 0]
    leader = 1 - dealer
    while hands[leader]:
        _, values = yield from ask(leader, leads_from(hands[leader]))
        lead = list(values["cards"])
        other = 1 - leader
        _, values = yield from ask(other, answers_from(hands[other], lead, must_beat))
        answer = list(values["cards"])
        hands[leader] = [card for card in hands[leader] if card not in lead]
        hands[other] = [card for card in hands[other] if card not in answer]
        leader = other if wins(answer, lead) else leader
        tricks[leader] += len(lead)
    assert hands == [[], []]
    assert sum(tricks) == 5
    return tricks, poker, prices


def ask(seat: int, words: Sequence[Plain]) -> One:
    """Yield the legal actions of one seat; return its action."""
    answers = yield {seat: ListedActions(words)}
    return answers[seat]


def draws_from(hand: Sequence[str]) -> list[Plain]:
    choices = chain.from_iterable(combinations(sorted(hand), size) for size in (1, 2, 3))
    return [("draw", cards) for cards in choices]


def leads_from(hand: Sequence[str]) -> list[Plain]:
    choices = chain.from_iterable(combinations(sorted(hand), size) for size in (1, 2, 3, 4))
    return [("lead", cards) for cards in choices if len({card[0] for card in cards}) == 1]


def wins(answer: Sequence[str], lead: Sequence[str]) -> bool:
    return len({card[0] for card in answer}) == 1 and RANKS.index(answer[0][0]) > RANKS.index(
        lead[0][0]
    )


def answers_from(hand: Sequence[str], lead: Sequence[str], must_beat: bool) -> list[Plain]:
    choices = list(combinations(sorted(hand), len(lead)))
    winning = [cards for cards in choices if wins(cards, lead)]
    return [("answer", cards) for cards in (winning if must_beat and winning else choices)]
