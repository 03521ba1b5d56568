"""Test the parts of `champion` that play Pokino against the referee's rules."""

import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from bench.strength import MeasuredForm
from referee.games.pokino.actions import Domino, Run
from referee.games.pokino.runs import NUMBER, RunSearch
from referee.games.pokino.state import PokinoState
from referee.games.registry import GAMES
from referee.games.shared.cards import DECK
from referee.games.shared.dealing import Seeded, board_seed
from tests.examples import quick_cases
from tests.sample_bots.champion_modules import champion_modules

MODULES = (
    "search_interface",
    "pokino_placements",
    "pokino_trails",
    "pokino_prospects",
    "pokino_race",
    "pokino",
)
GAME = GAMES["pokino"]
WALLS = {"tear_down_the_walls": True}
every_ground = pytest.mark.parametrize(
    "given", quick_cases([{}, WALLS], 1), ids=["default", "walls"]
)


@pytest.fixture
def modules() -> Iterator[list[Any]]:
    with champion_modules(MODULES) as imported:
        yield imported


def started(form: MeasuredForm, board: int = 0) -> PokinoState:
    state = form.game.start(Seeded(board_seed(bytes(32), board)), form.seats, form.given)
    assert isinstance(state, PokinoState)
    return state


def positions(form: MeasuredForm, boards: int) -> Iterator[PokinoState]:
    """Yield positions of games in which dominoes are laid at random."""
    chance = random.Random(str(form))
    for board in range(boards):
        state = started(form, board)
        for turn in range(60):
            legal = list(state.legal(state.turn))
            laid = [action for action in legal if isinstance(action, Domino)]
            state = state.after({state.turn: chance.choice(laid)})
            if turn % 6 == 5:
                yield state


def trails(modules: list[Any], state: PokinoState, cards: tuple[Any, ...], limit: int) -> Any:
    _, places, listing, *_ = modules
    graph = listing.RunGraph(state.layout.ground, state.variants.tear_down_the_walls)
    counts = np.array(places.counts_by_number(cards), dtype=np.int64)
    return listing.HandTrails(graph, counts, len(cards), limit, np.random.default_rng(1))


@pytest.mark.long
@every_ground
def test_a_run_of_all_cards_is_found_if_there_is_one(
    given: dict[str, Any], modules: list[Any]
) -> None:
    found = total = 0
    for state in positions(MeasuredForm(GAME, 2, given), 6):
        walls, ground = state.variants.tear_down_the_walls, state.layout.ground
        for size in (2, 3, 4, 5):
            hand = state.hands[state.turn][:size]
            listed = RunSearch(hand, size, ground, walls)
            if not listed.complete:
                continue
            exists = any(len(cards) == size for _, cards, _ in listed.runs)
            path = trails(modules, state, hand, 10**6).whole_run()
            assert (path is not None) == exists
            total += 1
            found += exists
    assert 20 < found < total


@pytest.mark.long
@every_ground
def test_prospects_of_hands_are_those_of_their_trails(
    given: dict[str, Any], modules: list[Any]
) -> None:
    _, places, _, prospects, *_ = modules
    states = list(positions(MeasuredForm(GAME, 2, given), 6))
    chance = random.Random(1)
    hands = [tuple(chance.sample(state.hands[state.turn], 3)) for state in states]
    problems = [
        prospects.HandOnTable(state.layout.ground, places.counts_by_number(hand))
        for state, hand in zip(states, hands, strict=True)
    ]
    walls = bool(given)
    outlook = prospects.prospects(problems, walls, np.full(13, 1 / 13))
    last = prospects.prospects(problems, walls, None)
    assert 0 < outlook.whole.sum() < len(states)
    for row, (state, hand) in enumerate(zip(states, hands, strict=True)):
        listed = trails(modules, state, hand, 10**6)
        assert outlook.longest_run[row] == last.longest_run[row] == len(listed.by_length)
        assert outlook.whole[row] == (len(listed.by_length) == 3)
        assert last.next_turn[row] == 0  # two runs have at least four cards
        numbers = [_plays_soon(modules, state, hand, number) for number in range(13)]
        assert outlook.next_turn[row] == pytest.approx(sum(numbers) / 13)


def _plays_soon(modules: list[Any], state: PokinoState, hand: Any, number: int) -> bool:
    """Return whether a hand and a drawn card of a number need one run, or two with it second."""
    drawn = next(card for card in DECK if NUMBER[card] == number)
    listed = trails(modules, state, (*hand, drawn), 10**6)
    shift = np.uint64(4 * number)
    held = listed.run_pairs(lambda left: (left >> shift) & np.uint64(15) > 0, len(hand))
    return len(listed.by_length) == len(hand) + 1 or any(True for _ in held)


@pytest.mark.long
@pytest.mark.parametrize("variant", [pytest.param("greed", marks=pytest.mark.long), "pokino_up"])
def test_a_run_that_leaves_a_playable_hand_is_preferred(variant: str, modules: list[Any]) -> None:
    """In a race the bot plays a run after which its next run is the last one, if there is one."""
    *_, pokino = modules
    weights = pokino.load(pokino.WEIGHTS)[variant]
    won = 0
    for state in positions(MeasuredForm(GAME, 2, {variant: True}), 4):
        seat = state.turn
        hand = state.hands[seat][:5]
        rich = state.but(deck=(), hands=_with(state, hand), beads=(99, 99))
        search = pokino.PokinoSearch(rich, seat, 1.0, np.random.default_rng(1))
        if search.sure_run() or not search._first_of_two():
            continue
        after = rich.after({seat: search.action(lambda: False, weights)})
        left = trails(modules, after, after.hands[seat], 10**6)
        won += 1
        assert left.whole_run() is not None
    assert won > 1


def _with(state: PokinoState, hand: tuple[Any, ...]) -> tuple[tuple[Any, ...], ...]:
    return tuple(hand if seat == state.turn else held for seat, held in enumerate(state.hands))


@every_ground
def test_the_gain_is_the_difference_of_the_potential(
    given: dict[str, Any], modules: list[Any]
) -> None:
    _, places, *_ = modules
    for state in positions(MeasuredForm(GAME, 2, given), 1):
        seat, walls = state.turn, state.variants.tear_down_the_walls
        hand = places.counts_by_number(state.hands[seat])
        before = places.TablePotential(state.layout.ground, hand, walls)
        for placement in places.placements(state, seat, True)[::40]:
            laid = state.layout.laid(placement.domino, placement.first, placement.second)
            after = places.TablePotential(laid.ground, hand, walls)
            more = _potential(places, hand, after) - _potential(places, hand, before)
            gain = before.gain(placement.domino, placement.first, placement.second)
            assert gain == pytest.approx(more, abs=1e-9)


def _potential(places: Any, hand: list[float], potential: Any) -> float:
    passages = np.array(potential.passages) + places.PASSAGE_SMOOTHING
    return float((np.array(hand) * np.log(passages)).sum())


def test_the_whole_hand_is_played_at_once(modules: list[Any]) -> None:
    *_, pokino = modules
    won = 0
    for state in positions(MeasuredForm(GAME, 2), 4):
        seat = state.turn
        hand = state.hands[seat][:2]
        rich = state.but(hands=_with(state, hand), beads=(99, 99))
        search = pokino.PokinoSearch(rich, seat, 1.0, np.random.default_rng(1))
        if trails(modules, rich, hand, 10**6).whole_run():
            action = search.action(lambda: False, None)
            assert isinstance(action, Run)
            assert rich.after({seat: action}).pokino
            won += 1
    assert won > 5
