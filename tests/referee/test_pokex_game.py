"""Pokex: whole games, checked by properties."""

import random
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from referee.games.contract import Action
from referee.games.pokex import Pokex
from referee.games.pokex.state import PokexState
from referee.games.shared.dealing import Seeded
from tests.examples import examples

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
