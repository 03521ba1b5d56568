"""Poke: whole rubbers, checked by properties."""

import random
from collections.abc import Iterator
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from referee.games.contract import Action
from referee.games.poke import Poke
from referee.games.poke.state import PokeState
from referee.games.shared.dealing import Seeded

Turn = tuple[int, Action]

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
def test_the_rubber_ends_with_a_second_leg(seed: bytes, must_beat: bool, choices: int) -> None:
    """P-6.3."""
    *before, (end, _) = rubber(seed, must_beat, choices)
    assert max(end.legs) == 2
    assert all(max(state.legs) < 2 for state, _ in before)
