"""Saint Poker: whole games, checked by properties."""

import random
from collections.abc import Iterator
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from referee.games.contract import Action
from referee.games.saint_poker import SaintPoker
from referee.games.saint_poker.state import SaintPokerState
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
    named = (done.card,) if hasattr(done, "card") else done.cards
    return type(done).__name__, frozenset(named)


@games
def test_a_game_gives_36_points(seed: bytes, seats: int, choices: int) -> None:
    """S-5.1."""
    *before, (end, _) = game(seed, seats, choices)
    assert sum(end.scores) == 36
    for state, _ in before:
        done = state.round if state.phase == "pick_up" else state.round - 1
        assert sum(state.scores) == sum(range(done + 1))


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
