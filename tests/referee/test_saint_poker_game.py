"""Saint Poker: whole games, compared with a second scorer written from the rules page."""

import random
from collections.abc import Iterator
from itertools import combinations
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from phevaluator import evaluate_cards

from referee.games.contract import Action
from referee.games.saint_poker import SaintPoker
from referee.games.saint_poker.state import SaintPokerState
from referee.games.shared.cards import DECK
from referee.games.shared.dealing import Seeded

Turn = dict[int, Action]

games = given(st.binary(min_size=32, max_size=32), st.integers(2, 5), st.integers(0, 2**32))


def game(seed: bytes, seats: int, choices: int) -> Iterator[tuple[SaintPokerState, Turn]]:
    """Play a game at random; yield its positions, each with its action."""
    rng = random.Random(choices)
    state: Any = SaintPoker().start(Seeded(seed), seats)
    while state.actors:
        turn = {seat: rng.choice(list(state.legal(seat))) for seat in state.actors}
        yield state, turn
        state = state.play(turn)
    yield state, {}


def description(done: Action) -> tuple[str, frozenset[str]]:
    """Return an action as its word and its cards."""
    named = (done.card,) if hasattr(done, "card") else done.cards
    return type(done).__name__, frozenset(named)


class Scorer:
    """Scores a game, implemented from the rules page alone."""

    def __init__(self, seed: bytes, seats: int, turns: list[Turn]) -> None:
        self.luck = Seeded(seed)
        self.seats = seats
        self.turns = iter(turns)
        self.legal: list[list[set[tuple[str, frozenset[str]]]]] = []
        self.points = [0] * seats
        pack: list[str] = list(self.luck.shuffled("deck", 0, DECK))
        self.hands = [set(pack[10 * seat : 10 * seat + 10]) for seat in range(seats)]
        self.stock = pack[10 * seats :]
        self.turned = {2: 3, 3: 2, 4: 1, 5: 0}[seats]
        self.gone: set[str] = set()

    def turn(self, word: str, who: list[int], may: list[list[frozenset[str]]]) -> list[set[str]]:
        """Return the cards that each of these seats chooses from its legal sets."""
        turn = next(self.turns)
        assert sorted(turn) == sorted(who)
        self.legal.append([{(word, cards) for cards in sets} for sets in may])
        for seat, sets in zip(who, may, strict=True):
            assert description(turn[seat])[0] == word
            assert description(turn[seat])[1] in sets
        return [set(description(turn[seat])[1]) for seat in who]

    def all_choose(self, word: str, size: int) -> list[set[str]]:
        """S-2.2, S-2.3: all seats choose this number of hand cards and lay them down."""
        everyone = list(range(self.seats))
        may = [[frozenset(c) for c in combinations(hand, size)] for hand in self.hands]
        chosen = self.turn(word, everyone, may)
        for hand, cards in zip(self.hands, chosen, strict=True):
            hand -= cards
        return chosen

    def scores(self) -> tuple[int, ...]:
        """Return the scores of the whole game."""
        future = self.take()
        for number in range(1, 9):
            river, future = future, self.take()
            for cards in self.all_choose("River", 1):
                river |= cards
            assert len(river) == 5
            shown = self.all_choose("Show", 2)
            best_first = self.order(number, river, shown)
            self.points[best_first[0]] += number
            if number < 8:
                self.pick_up(river.union(*shown), best_first[::-1])
                assert [len(hand) for hand in self.hands] == [10 - number] * self.seats
        assert next(self.turns, None) is None
        return tuple(self.points)

    def take(self) -> set[str]:
        """S-1.4, S-2.1: take a future river from the stock."""
        taken = set(self.stock[: self.turned])
        del self.stock[: self.turned]
        return taken

    def order(self, number: int, river: set[str], shown: list[set[str]]) -> list[int]:
        """S-3: return the seats from the best hand to the worst."""
        ties = self.luck.shuffled("ties", number, range(self.seats))
        places = [evaluate_cards(*river, *cards) for cards in shown]
        return sorted(range(self.seats), key=lambda seat: (places[seat], ties.index(seat)))

    def pick_up(self, lying: set[str], worst_first: list[int]) -> None:
        """S-4."""
        for seat in worst_first + worst_first:
            (taken,) = self.turn("PickUp", [seat], [[frozenset({c}) for c in lying]])
            lying = lying - taken
            self.hands[seat] |= taken
        assert len(lying) == 5
        self.gone |= lying


@games
def test_an_independent_scorer_agrees(seed: bytes, seats: int, choices: int) -> None:
    """S-1 to S-5, S-7.1: and finds the same actions legal at every turn."""
    played = list(game(seed, seats, choices))
    scorer = Scorer(seed, seats, [turn for _, turn in played if turn])
    scores = scorer.scores()
    end, _ = played.pop()
    assert end.scores == scores
    assert list(end.stock) == scorer.stock
    assert {c for done in end.rounds for c in done.discards} == scorer.gone
    for (state, _), may in zip(played, scorer.legal, strict=True):
        for seat, sets in zip(state.actors, may, strict=True):
            assert {description(listed) for listed in state.legal(seat)} == sets


@games
def test_a_game_gives_36_points(seed: bytes, seats: int, choices: int) -> None:
    """S-5.1."""
    *before, (end, _) = game(seed, seats, choices)
    assert sum(end.scores) == 36
    for state, _ in before:
        done = state.round if state.phase == "pick_up" else state.round - 1
        assert sum(state.scores) == sum(range(done + 1))


@games
def test_all_52_cards_are_in_exactly_one_place(seed: bytes, seats: int, choices: int) -> None:
    """S-1.3, S-4.3."""
    for state, _ in game(seed, seats, choices):
        gone = [c for done in state.rounds for c in done.discards]
        hands = [c for hand in state.hands for c in hand]
        everywhere = [*hands, *gone, *state.lying, *state.future, *state.stock]
        assert sorted(everywhere) == sorted(DECK)


@games
def test_known_cards_are_those_picked_up_and_not_played(
    seed: bytes, seats: int, choices: int
) -> None:
    """S-6.2."""
    known: list[set[str]] = [set() for _ in range(seats)]
    for state, turn in game(seed, seats, choices):
        for seat in range(seats):
            view = state.view(seat)
            assert [set(cards.cards) for cards in view.known] == known
            assert all(len(set(c.cards)) == len(c.cards) for c in view.known)
            assert set(view.known[seat].cards) <= set(view.hand)
        for seat, done in turn.items():
            word, cards = description(done)
            known[seat] = known[seat] | cards if word == "PickUp" else known[seat] - cards


@games
def test_one_seat_scores_in_a_round_the_first_in_the_order(
    seed: bytes, seats: int, choices: int
) -> None:
    """S-2.4."""
    before: tuple[int, ...] = (0,) * seats
    for state, _ in game(seed, seats, choices):
        if state.scores != before:
            first = state.order[0]
            gained = [now - then for now, then in zip(state.scores, before, strict=True)]
            assert gained == [state.round if seat == first else 0 for seat in range(seats)]
            assert sorted(state.order) == list(range(seats))
        before = state.scores
