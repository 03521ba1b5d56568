"""Pokex: whole games, compared with a second scorer written from the rules page."""

import random
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from referee.games.contract import Action
from referee.games.pokex import Pokex
from referee.games.pokex.state import PokexState
from referee.games.shared.cards import DECK_WITH_JOKERS
from referee.games.shared.dealing import Seeded
from tests.examples import examples
from tests.referee.substitutions import quickly

Said = tuple[str, frozenset[str]]

PACK = [rank + suit for rank in "23456789TJQKA" for suit in "CDHS"] + ["X1", "X2"]

games = given(st.binary(min_size=32, max_size=32), st.sampled_from([2, 4]), st.integers(0, 2**32))


def game(seed: bytes, seats: int, choices: int) -> Iterator[tuple[PokexState, Action]]:
    """Play a game at random; yield its positions, each with its action; None at the end."""
    rng = random.Random(choices)
    state: Any = Pokex().start(Seeded(seed), seats)
    while state.actors:
        (seat,) = state.actors
        listed = list(state.legal(seat))
        often_first = state.phase == "bid" and rng.random() < 0.5
        action = listed[0] if often_first else rng.choice(listed)
        yield state, action
        state = state.play({seat: action})
    yield state, None


def description(action: Action) -> Said:
    """Return an action as its word and its cards, number or rank."""
    parts: list[str] = []
    for name in ("tricks", "rank", "cards", "card"):
        value = getattr(action, name, ())
        parts += value if isinstance(value, tuple) else [str(value)]
    return type(action).__name__, frozenset(parts)


class Scorer:
    """Scores a game, implemented from the rules page alone."""

    def __init__(self, seed: bytes, seats: int, actions: list[Action]) -> None:
        self.luck = Seeded(seed)
        self.seats = seats
        self.actions = iter(actions)
        self.turns: list[tuple[int, set[Said]]] = []
        """The seat to act and its legal actions, for each turn."""
        self.totals = [0, 0]
        self.deals = 0
        self.tricks: list[int | None] = []
        """The side that took each trick of the last deal."""

    def ask(self, seat: int, may: set[Said]) -> Said:
        """Return the next action of the seat, which must be one of these."""
        done = description(next(self.actions))
        self.turns.append((seat, may))
        assert done in may
        return done

    def result(self) -> tuple[int, ...]:
        """Return the scores of the whole game."""
        dealer = self.luck.below("dealer", 0, self.seats)
        while max(self.totals) < 33 or self.totals[0] == self.totals[1]:
            self.deal(dealer)
            self.deals += 1
            dealer = (dealer + 1) % self.seats
        assert next(self.actions, None) is None
        return tuple(self.totals[seat % 2] for seat in range(self.seats))

    def deal(self, dealer: int) -> None:
        """X-1 to X-7."""
        pack = self.luck.shuffled("deck", self.deals, PACK)
        size = {2: 18, 4: 12}[self.seats]
        self.hands = [set(pack[size * seat : size * (seat + 1)]) for seat in range(self.seats)]
        middle = pack[size * self.seats :][: 24 // self.seats]
        bid, declarer = self.auction(dealer)
        wild_rank = ""
        leader = dealer + 1
        if bid:
            may = {("NameWild", frozenset({rank})) for rank in "23456789TJQKA"}
            (wild_rank,) = self.ask(declarer, may)[1]
            leader = declarer - 1
        if self.seats == 2:
            middle = self.luck.shuffled("centre", self.deals, sorted(middle, key=PACK.index))
        each = len(middle) // 6
        self.tricks = []
        for number in range(6):
            centre = middle[each * number : each * (number + 1)]
            self.tricks.append(self.trick(leader, set(centre), wild_rank, bid, declarer))
        self.score(bid, declarer)

    def auction(self, dealer: int) -> tuple[int, int]:
        """X-2: return the last bid and its seat; (0, 0) if all have passed."""
        bid = declarer = passes = 0
        seat = dealer
        while bid < 6 and passes < self.seats - (bid > 0):
            seat = (seat + 1) % self.seats
            may: set[Said] = {("Bid", frozenset({str(n)})) for n in range(bid + 1, 7)}
            word, number = self.ask(seat, may | {("PassBid", frozenset())})
            passes += 1
            if word == "Bid":
                bid, declarer, passes = int(*number), seat, 0
        return bid, declarer

    def trick(
        self, leader: int, centre: set[str], wild_rank: str, bid: int, declarer: int
    ) -> int | None:
        """X-4, X-5, X-6: return the side that takes the trick."""
        hands = [set(centre), set(centre)]
        for turn in range({2: 6, 4: 4}[self.seats]):
            seat = (leader + turn) % self.seats
            word, size = ("PlayPair", 2) if self.seats == 4 else ("PlayCard", 1)
            may = {(word, frozenset(c)) for c in combinations(self.hands[seat], size)}
            _, cards = self.ask(seat, may)
            self.hands[seat] -= cards
            hands[seat % 2] |= cards
        assert [len(hand) for hand in hands] == [5, 5]
        first, second = (quickly(hand, wild_rank) for hand in hands)
        if first == second:
            return declarer % 2 if bid else None
        return int(second > first)

    def score(self, bid: int, declarer: int) -> None:
        """X-7."""
        for side in (0, 1):
            took = self.tricks.count(side)
            gave = sum(range(took + 1))
            if bid and side == declarer % 2:
                gave = 0 if took < bid else sum(range(bid + 1)) + bid * (took - bid)
            self.totals[side] += gave


@settings(deadline=None, max_examples=examples(60))
@games
def test_an_independent_scorer_agrees(seed: bytes, seats: int, choices: int) -> None:
    """X-1 to X-7, X-9.1: and finds the same actions legal at every turn."""
    *played, (end, _) = game(seed, seats, choices)
    scorer = Scorer(seed, seats, [action for _, action in played])
    assert scorer.result() == end.scores
    assert len(end.deals) == scorer.deals
    won = {(1, 0): 0, (0, 1): 1, (0, 0): None}
    assert [won[trick.taken] for trick in end.deals[-1].tricks] == scorer.tricks
    for (state, _), (seat, may) in zip(played, scorer.turns, strict=True):
        assert state.actors == (seat,)
        assert {description(listed) for listed in state.legal(seat)} == may


@settings(deadline=None, max_examples=examples(40))
@games
def test_all_54_cards_are_in_exactly_one_place(seed: bytes, seats: int, choices: int) -> None:
    """X-1.3, X-1.4."""
    for state, _ in game(seed, seats, choices):
        held = [c for hand in state.hands for c in hand]
        played = [*state.played, *(play for trick in state.tricks for play in trick.played)]
        on_the_table = [c for play in played for c in play.cards]
        everywhere = [*held, *on_the_table, *state.centre, *state.aside]
        assert sorted(everywhere) == sorted(DECK_WITH_JOKERS)
        assert not state.row or sorted(state.row) == sorted(state.centre)


@settings(deadline=None, max_examples=examples(40))
@games
def test_a_deal_gives_each_trick_to_one_side_if_there_is_a_declarer(
    seed: bytes, seats: int, choices: int
) -> None:
    """X-6.5, X-7.5: so somebody scores in it, and the game ends."""
    *_, (end, _) = game(seed, seats, choices)
    for deal in end.deals:
        assert sum(deal.taken) <= len(deal.tricks) == 6
        if deal.bid:
            assert sum(deal.taken) == 6
            assert sum(deal.points) > 0
    assert sum(deal.bid > 0 for deal in end.deals) <= 65
    before = [sum(deal.points[side] for deal in end.deals[:-1]) for side in (0, 1)]
    assert max(before) < 33 or before[0] == before[1]
    assert max(end.points) >= 33
    assert end.points[0] != end.points[1]


@settings(deadline=None, max_examples=examples(40))
@games
def test_views_differ_only_in_hands(seed: bytes, seats: int, choices: int) -> None:
    """X-8.1, X-8.2: everybody sees the same but for the hands."""
    for state, _ in game(seed, seats, choices):
        views = [state.view(seat) for seat in range(seats)]
        assert [view.hand for view in views] == list(state.hands)
        first, *others = (replace(view, hand=()) for view in views)
        assert all(other == first for other in others)
