"""Pokino: what holds in every game, with every combination of the variants."""

import random
from collections.abc import Iterator
from itertools import product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from referee.cards import DECK
from referee.dealing import Seeded
from referee.dominoes import DOMINOES
from referee.games.pokino import Pokino
from referee.games.pokino.layout import Layout
from referee.games.pokino.words import Domino, PassTurn, Run
from tests.referee.pokino_table import numbers

NAMES = tuple(Pokino.options)
VARIANTS = [dict(zip(NAMES, on, strict=True)) for on in product((False, True), repeat=4)]

every_variant = pytest.mark.parametrize(
    "options", VARIANTS, ids=lambda o: "+".join(n for n in NAMES if o[n]) or "none"
)


def positions(options: dict[str, bool], seed: int) -> Iterator[tuple[Any, Any]]:
    """A game at random in which every kind of action is played, with what was done."""
    chance = random.Random(seed)
    state: Any = Pokino().start(Seeded(chance.randbytes(32)), chance.randint(2, 6), options)
    while state.actors:
        listed = list(state.legal(state.turn))
        kinds = [[a for a in listed if isinstance(a, kind)] for kind in (PassTurn, Domino, Run)]
        action = chance.choice(chance.choices([k for k in kinds if k])[0])
        yield state, action
        state = state.play({state.turn: action})
    yield state, None


@every_variant
@settings(max_examples=4, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_what_always_holds(options: dict[str, bool], seed: int) -> None:
    """K-2.2, K-4.3, K-5.5, K-5.6, K-8.1, K-10.3."""
    laid = 0
    for state, action in positions(options, seed):
        held = [c for hand in state.hands for c in hand]
        played = [c for run in state.runs for c in run.cards]
        assert sorted([*held, *played, *state.deck]) == sorted(DECK)
        tiles = [d for held in state.dominoes for d in held] + list(state.poke)
        tiles += [tile.domino for tile in state.layout.tiles] + list(state.removed)
        assert sorted(tiles) == sorted(DOMINOES)
        paid = 0 if options["greed"] else len(played)
        assert sum(state.beads) == len(state.hands) + laid - paid
        assert min(state.beads) >= 0
        assert bool(state.removed) <= options["tear_down_the_walls"]
        check_tokens(state)
        laid += isinstance(action, Domino)


def check_tokens(state: Any) -> None:
    """Every token lies on a border that there is, no two on one."""
    halves = {
        frozenset({(t.x, t.y), (t.second_x, t.second_y)}): t.domino for t in state.layout.tiles
    }
    covered = numbers(state)
    assert len(covered) == 2 * len(halves)
    borders = [frozenset({(t.x, t.y), (t.second_x, t.second_y)}) for t in state.layout.tokens]
    assert len(set(borders)) == len(borders)
    for border in borders:
        assert border <= set(covered)
        assert border not in halves


@every_variant
def test_what_is_worked_out_step_by_step_is_what_follows_from_the_table(
    options: dict[str, bool],
) -> None:
    """K-2.2, K-2.3, K-4.2, K-10.4."""
    for state, _ in positions(options, 1):
        kept = state.layout.ground
        afresh = Layout(state.layout.tiles, state.layout.tokens).ground
        assert (kept.numbers, kept.borders) == (afresh.numbers, afresh.borders)
        assert (kept.middles, kept.places) == (afresh.middles, afresh.places)
