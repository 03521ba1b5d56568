"""Poke: whole rubbers, compared with a second scorer written from docs/rules/poke.md."""

import random
from collections.abc import Iterator
from itertools import combinations, count
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from phevaluator import evaluate_cards

from referee.games.contract import Action
from referee.games.poke import Poke
from referee.games.poke.state import PokeState
from referee.games.shared.cards import DECK
from referee.games.shared.dealing import Seeded

Cards = frozenset[str]
Turn = tuple[int, Action]

# The last places of the categories in another package's ranking from 1 to 7462.
PRICES = [(1, 1000), (10, 750), (166, 600), (322, 500), (1599, 400), (1609, 300), (2467, 200)]
PRICES += [(3325, 100), (6185, 50), (7462, 0)]

rubbers = given(st.binary(min_size=32, max_size=32), st.booleans(), st.integers(0, 2**32))


def rubber(seed: bytes, must_beat: bool, choices: int) -> Iterator[tuple[PokeState, Turn | None]]:
    """Play a rubber at random; yield its positions, each with its action."""
    rng = random.Random(choices)
    state: Any = Poke().start(Seeded(seed), 2, {"must_beat": must_beat})
    while state.actors:
        (seat,) = state.actors
        chosen = rng.choice(list(state.legal(seat)))
        yield state, (seat, chosen)
        state = state.play({seat: chosen})
    yield state, None


def height(card: str) -> int:
    """Return the rank of a card as a number."""
    return "23456789TJQKA".index(card[0])


def wins(answer: Cards, lead: Cards) -> bool:
    """P-3.4."""
    heights = {height(c) for c in answer}
    return len(heights) == 1 and max(heights) > max(height(c) for c in lead)


def drawn(hand: Cards) -> set[str]:
    """P-2.2: all legal actions of the draw."""
    sets = (c for size in (1, 2, 3) for c in combinations(sorted(hand), size))
    return {"stand", *("draw " + " ".join(c) for c in sets)}


def leads(hand: Cards) -> set[str]:
    """P-3.2: all that may be led."""
    sets = (c for size in (1, 2, 3, 4) for c in combinations(sorted(hand), size))
    return {"lead " + " ".join(c) for c in sets if len({card[0] for card in c}) == 1}


def answers(hand: Cards, lead: Cards, must_beat: bool) -> set[str]:
    """P-3.3, P-4: all that may be answered."""
    sets = [frozenset(c) for c in combinations(hand, len(lead))]
    winning = [c for c in sets if wins(c, lead)]
    return {"answer " + " ".join(sorted(c)) for c in (must_beat and winning) or sets}


def description(turn: Action) -> str:
    """Return an action in words, with its cards in alphabetical order."""
    cards = getattr(turn, "discards", getattr(turn, "cards", ()))
    return " ".join([type(turn).__name__.lower(), *sorted(cards)])


class Scorer:
    """Scores a rubber, implemented from the rules page alone."""

    def __init__(self, seed: bytes, must_beat: bool, turns: list[Turn]) -> None:
        self.luck = Seeded(seed)
        self.must_beat = must_beat
        self.turns = iter(turns)
        self.legal: list[set[str]] = []
        self.below, self.above, self.legs = [0, 0], [0, 0], [0, 0]

    def turn(self, seat: int, may: set[str]) -> str:
        """Return the action of the seat whose turn it is, which must be one of these."""
        who, done = next(self.turns)
        assert who == seat
        assert description(done) in may
        self.legal.append(may)
        return description(done)

    def rubber(self) -> tuple[int, ...]:
        """Return the scores of the whole rubber."""
        first = self.luck.below("dealer", 0, 2)
        for number in count():
            self.deal(number, (first + number) % 2)
            if 2 in self.legs:
                break
        assert next(self.turns, None) is None
        return tuple(self.above)

    def deal(self, number: int, dealer: int) -> None:
        """P-1.3, P-5, P-6."""
        pack: list[str] = list(self.luck.shuffled("deck", number, DECK))
        hands = [frozenset(pack[:5]), frozenset(pack[5:10])]
        del pack[:10]
        price = [1, 1]
        for seat, free in ((1 - dealer, 0), (dealer, 1)):
            draws = self.draws(seat, 2 + free, hands, pack)
            price[seat] = {2: 4, 1: 2}.get(draws - free, 1)
        taken = self.tricks(1 - dealer, list(hands))
        assert sum(taken) == 5
        for seat in (0, 1):
            self.below[seat] += taken[seat] * price[1 - seat]
            self.above[seat] += 250 * (taken[seat] == 5)
        places = [evaluate_cards(*hand) for hand in hands]
        if places[0] != places[1]:
            best = min(places)
            points = next(points for last, points in PRICES if best <= last)
            self.above[places.index(best)] += points
        self.leg()

    def draws(self, seat: int, most: int, hands: list[Cards], pack: list[str]) -> int:
        """P-2: how many draws a seat makes."""
        for draws in range(most):
            done = self.turn(seat, drawn(hands[seat])).split()
            if done == ["stand"]:
                return draws
            hands[seat] = (hands[seat] - {*done[1:]}) | {*pack[: len(done) - 1]}
            del pack[: len(done) - 1]
        return most

    def tricks(self, leader: int, hands: list[Cards]) -> list[int]:
        """P-3, P-4: how many tricks each seat takes."""
        taken = [0, 0]
        while hands[leader]:
            other = 1 - leader
            lead = frozenset(self.turn(leader, leads(hands[leader])).split()[1:])
            may = answers(hands[other], lead, self.must_beat)
            answer = frozenset(self.turn(other, may).split()[1:])
            hands[leader] -= lead
            hands[other] -= answer
            if wins(answer, lead):
                leader = other
            taken[leader] += len(lead)
        return taken

    def leg(self) -> None:
        """P-6.1, P-6.2, P-6.3."""
        if max(self.below) < 20 or self.below[0] == self.below[1]:
            return
        winner = self.below.index(max(self.below))
        self.legs[winner] += 1
        self.above[winner] += 100
        if self.legs[winner] == 2:
            self.above[winner] += 750 if self.legs[1 - winner] == 0 else 500
        self.below = [0, 0]


@rubbers
def test_an_independent_scorer_agrees(seed: bytes, beat: bool, choices: int) -> None:
    """P-1 to P-6, P-8.1: and finds the same actions legal at every turn."""
    played = list(rubber(seed, beat, choices))
    scorer = Scorer(seed, beat, [turn for _, turn in played if turn is not None])
    scores = scorer.rubber()
    end, _ = played[-1]
    assert end.scores == scores
    assert (list(end.below), list(end.legs)) == (scorer.below, scorer.legs)
    for (state, turn), may in zip(played, scorer.legal, strict=False):
        assert turn is not None
        assert {description(listed) for listed in state.legal(turn[0])} == may


@rubbers
def test_a_deal_has_five_tricks_and_the_totals_are_their_sum(
    seed: bytes, must_beat: bool, choices: int
) -> None:
    """P-3.5, P-3.6, P-6.4."""
    for state, _ in rubber(seed, must_beat, choices):
        for deal in state.deals:
            assert sum(len(trick.lead) for trick in deal.tricks) == 5
            assert all(len(trick.lead) == len(trick.answer) for trick in deal.tricks)
            played = [c for trick in deal.tricks for c in (*trick.lead, *trick.answer)]
            assert len(set(played)) == 10
        assert len(state.hands[0]) == len(state.hands[1]) + (
            0 if state.phase != "answer" else (1 if state.turn == 0 else -1) * len(state.led)
        )
        for seat in (0, 1):
            assert state.above[seat] == sum(deal.above[seat] for deal in state.deals)


@rubbers
def test_all_52_cards_are_in_exactly_one_place(seed: bytes, must_beat: bool, choices: int) -> None:
    """P-1.3, P-2.4, P-2.9."""
    for state, _ in rubber(seed, must_beat, choices):
        if state.phase == "over":
            continue
        played = [c for trick in state.tricks for c in (*trick.lead, *trick.answer)]
        hands, discards = state.hands, state.discards
        everywhere = [*hands[0], *hands[1], *discards[0], *discards[1], *state.stock, *state.led]
        assert sorted([*everywhere, *played]) == sorted(DECK)
        assert len(state.stock) >= 27


@rubbers
def test_the_rubber_ends_with_a_second_leg(seed: bytes, must_beat: bool, choices: int) -> None:
    """P-6.3."""
    *before, (end, _) = rubber(seed, must_beat, choices)
    assert max(end.legs) == 2
    assert all(max(state.legs) < 2 for state, _ in before)
