"""Recount Saint Poker from its rules page."""

from collections.abc import Mapping
from itertools import combinations
from typing import Any

from referee.games.shared.dealing import Seeded
from tests.recount.five_cards import PACK, worth
from tests.recount.recount_contract import GameResult, ListedActions, Recount


def recount(luck: Seeded, seats: int, options: Mapping[str, Any]) -> Recount:
    assert not options
    everyone = range(seats)
    stock = list(luck.shuffled("deck", 0, PACK))
    hands = [[stock.pop(0) for _ in range(10)] for _ in everyone]
    begin = {2: 3, 3: 2, 4: 1, 5: 0}[seats]
    future = [stock.pop(0) for _ in range(begin)]
    scores = [0] * seats
    for number in range(1, 9):
        river, future = future, [stock.pop(0) for _ in range(begin)]
        assert all(len(hand) == 11 - number for hand in hands)
        answers = yield {
            seat: ListedActions(("river", card) for card in hands[seat]) for seat in everyone
        }
        for seat in everyone:
            card = answers[seat][1]["card"]
            hands[seat].remove(card)
            river.append(card)
        assert len(river) == 5
        answers = yield {
            seat: ListedActions(("show", two) for two in combinations(sorted(hands[seat]), 2))
            for seat in everyone
        }
        shown = [list(answers[seat][1]["cards"]) for seat in everyone]
        hands = [[card for card in hands[seat] if card not in shown[seat]] for seat in everyone]
        ties = luck.shuffled("ties", number, list(everyone))
        worths = [max(map(worth, combinations(river + shown[seat], 5))) for seat in everyone]
        order = sorted(everyone, key=lambda seat: (worths[seat], -ties.index(seat)))
        scores[order[-1]] += number
        if number < 8:
            lying = river + [card for two in shown for card in two]
            for seat in order + order:
                answers = yield {seat: ListedActions(("pickUp", card) for card in lying)}
                card = answers[seat][1]["card"]
                lying.remove(card)
                hands[seat].append(card)
            assert len(lying) == 5
    assert sum(scores) == 36
    return GameResult(scores)
