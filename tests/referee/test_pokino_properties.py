"""Pokino: properties of every game, with every combination of the variants."""

import random
from collections.abc import Iterator
from itertools import product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from referee.games.pokino import Pokino
from referee.games.pokino.actions import Domino, PassTurn, Run
from referee.games.pokino.layout import FARTHEST, PokinoLayout
from referee.games.shared.cards import DECK
from referee.games.shared.dealing import Seeded
from referee.games.shared.dominoes import DOMINOES, Tile
from tests.examples import examples
from tests.referee.pokino_table import numbers, started, with_table

NAMES = tuple(Pokino.options)
VARIANTS = [dict(zip(NAMES, on, strict=True)) for on in product((False, True), repeat=4)]

every_variant = pytest.mark.parametrize(
    "options",
    # The quick suite tries all options off, all on, and two of the others.
    [
        pytest.param(options, marks=() if number % 5 == 0 else pytest.mark.long)
        for number, options in enumerate(VARIANTS)
    ],
    ids=lambda o: "+".join(n for n in NAMES if o[n]) or "none",
)


def positions(options: dict[str, bool], seed: int) -> Iterator[tuple[Any, Any]]:
    """Yield a random game with every kind of action, each position with its action."""
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
@settings(max_examples=examples(4, 3), deadline=None)
@given(seed=st.integers(0, 10_000))
def test_invariants_hold_in_every_position(options: dict[str, bool], seed: int) -> None:
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
    """Check that every token lies on an existing border, and at most one on each."""
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
def test_incremental_layouts_equal_recomputed_ones(
    options: dict[str, bool],
) -> None:
    """K-2.2, K-2.3, K-4.2, K-10.4."""
    for state, _ in positions(options, 1):
        kept = state.layout.ground
        afresh = PokinoLayout(state.layout.tiles, state.layout.tokens).ground
        assert (kept.numbers, kept.borders) == (afresh.numbers, afresh.borders)
        assert (kept.middles, kept.places) == (afresh.middles, afresh.places)


NEAR_THE_EDGE = st.one_of(
    st.integers(-FARTHEST - 2, -FARTHEST + 2),
    st.integers(-2, 2),
    st.integers(FARTHEST - 2, FARTHEST + 2),
)
OPPOSITE = {"right": "left", "left": "right", "down": "up", "up": "down"}
STEP = {"right": (1, 0), "left": (-1, 0), "down": (0, 1), "up": (0, -1)}


@given(
    NEAR_THE_EDGE, NEAR_THE_EDGE, st.sampled_from(sorted(STEP)), st.sampled_from(["4-4", "3-12"])
)
def test_a_placement_is_legal_exactly_if_both_squares_are_on_the_grid(
    x: int, y: int, direction: str, domino: str
) -> None:
    """K-2.1, K-4.1, K-10.5: on an empty table, in every direction, named from either square."""
    state = with_table(started("2S 3S 4S 5C 9C", "2H 3H 4H 5H 6H", held=f"{domino} 5-6 7-8"))
    dx, dy = STEP[direction]
    squares = {(x, y), (x + dx, y + dy)}
    on_the_grid = all(-FARTHEST <= at <= FARTHEST for square in squares for at in square)
    lay = Domino(Tile(domino), x, y, direction)
    same_squares = Domino(Tile(domino), x + dx, y + dy, OPPOSITE[direction])
    assert (lay in state.legal(0)) == on_the_grid
    assert (same_squares in state.legal(0)) == on_the_grid
    if on_the_grid:
        after = state.play({0: lay})
        assert set(numbers(after)) == squares
        is_double = domino == "4-4"
        assert (after == state.play({0: same_squares})) == is_double
