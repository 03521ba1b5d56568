"""Test numeric encodings: every legal action has its own numbers, and no hidden card leaks."""

import random
from collections.abc import Callable

import pytest

from arena.presentation.encoding import (
    NO_CHOICES,
    Choices,
    Decision,
    Encoding,
    Numbers,
    PlainEncoding,
)
from arena.presentation.encodings import encoding_of
from arena.rl.encoded_game import EncodedGame as Played
from referee.game_checks.random_games import walk
from referee.game_checks.tables import Table
from referee.games.contract import Action, State
from tests.conformance.dealing_again import RedealCase, cases
from tests.conformance.leaks import LEAKS
from tests.conformance.tables import every_table, share, tables
from tests.conformance.walks import closely
from tests.examples import examples

RE_DEALT = examples(200)
TO_CATCH = 100


def encoding(table: Table) -> Encoding:
    return encoding_of(table.game.id, table.seats)


def plain(table: Table) -> Encoding:
    return PlainEncoding(table.seats, table.game.view_type)


def reached(choices: Choices, size: int) -> list[Action]:
    """Return every action that some sequence of numbers selects."""
    actions_reached: list[Action] = []
    for number in choices.numbers:
        assert 0 <= number < size
        actions = list(choices.actions(number))
        chosen = choices.chosen(number)
        if isinstance(chosen, Decision):
            assert actions == [chosen.action]
            actions_reached += actions
        else:
            assert len(chosen.numbers) > 1, "a step without a choice"
            below = reached(chosen, size)
            assert set(below) == set(actions)
            actions_reached += below
    return actions_reached


BOTH = pytest.mark.parametrize("encoding", [encoding, plain])
"""Both the encoding of each game and the default encoding."""


@BOTH
@every_table
def test_every_listed_action_has_a_unique_number_sequence(
    table: Table, encoding: Callable[[Table], Encoding]
) -> None:
    table_encoding = encoding(table)
    for step in closely(table, walk(table, 1))[:: examples(1, 3)]:
        for seat in step.state.actors:
            listed = list(step.state.legal(seat))
            choices = table_encoding.choices(step.state.view(seat), step.state.legal(seat))
            actions_reached = reached(choices, table_encoding.size)
            assert len(actions_reached) == len(listed)
            assert set(actions_reached) == set(listed)


@BOTH
@every_table
def test_observations_have_a_fixed_length_and_range(
    table: Table, encoding: Callable[[Table], Encoding]
) -> None:
    table_encoding = encoding(table)
    shapes = set()
    for step in closely(table, walk(table, 2))[:: examples(1, 3)]:
        for seat in range(table.seats):
            seen = observation(table_encoding, step.state, seat)
            shapes.add(seen.shape)
            assert -1 <= seen.min() <= seen.max() <= 1
    assert len(shapes) == 1


def observation(table_encoding: Encoding, state: State, seat: int) -> Numbers:
    """Return the observation of a seat."""
    view = state.view(seat)
    acts = seat in state.actors
    choices = table_encoding.choices(view, state.legal(seat)) if acts else NO_CHOICES
    return table_encoding.observe(view, seat, choices)


def leaks(table_encoding: Encoding, case: RedealCase) -> bool:
    """Return whether the observation or the action mask of a seat depends on hidden cards."""
    assert case.seat is not None
    if (
        observation(table_encoding, case.state, case.seat).tobytes()
        != observation(table_encoding, case.dealt, case.seat).tobytes()
    ):
        return True
    if case.seat not in case.state.actors:
        return False
    masks = [
        set(table_encoding.choices(state.view(case.seat), state.legal(case.seat)).numbers)
        for state in (case.state, case.dealt)
    ]
    return masks[0] != masks[1]


@every_table
def test_observations_do_not_depend_on_hidden_information(table: Table) -> None:
    table_encoding = encoding(table)
    for case in cases(table, share(table, RE_DEALT)):
        assert not leaks(table_encoding, case), case


@pytest.mark.parametrize("game", ["poke", "saint_poker"])
def test_the_leak_test_finds_leaking_observations(game: str) -> None:
    name = f"{game}-the-order-of-the-hand"
    (mutant,) = (leak for leak in LEAKS if str(leak) == name)
    for table in tables({mutant.game.id: mutant.leaking()}):
        assert any(leaks(encoding(table), case) for case in cases(table, TO_CATCH)), table


def test_poke_encodes_cards_by_their_position_in_the_hand() -> None:
    """Discarding the first and the third card has the number 1 + 4."""
    table = Played("poke")
    while table.view(0).phase == "draw":
        seat = table.actor
        assert seat is not None
        (discards,) = table.groups(seat)[5]
        hand = table.view(seat).hand
        assert discards.discards == (hand[0], hand[2])
        table.choose(0)
    assert table.view(0).phase == "lead"


def test_pokino_encodes_a_placement_in_two_steps() -> None:
    table = Played("pokino")
    seat = table.actor
    assert seat is not None
    table.choose(2)
    assert table.actor == seat
    laid = {action.domino for group in table.groups(seat).values() for action in group}
    assert laid == {table.view(seat).dominoes[1]}
    table.choose(min(table.groups(seat)))
    assert table.actor != seat
    assert table.view(seat).turns[-1].domino in laid


def test_pouku_encodes_a_keep_before_the_discard() -> None:
    table, chance = Played("pouku", 4, {"teams": True}), random.Random(1)
    seat = table.actor
    keeps: list[int] = []
    while seat is not None and not keeps:
        groups = table.groups(seat)
        table.choose(chance.choice([number for number in groups if not 2 <= number < 62]))
        seat = table.actor
        keeps = [] if seat is None else [n for n in table.groups(seat) if 2 <= n < 62]
    assert seat is not None
    keep = table.groups(seat)[keeps[0]][0].keep
    assert len(keep) > 1
    table.choose(keeps[0])
    assert table.actor == seat
    assert min(table.groups(seat)) >= 62
    table.choose(min(table.groups(seat)))
    assert table.view(seat).turns[-1].keep == keep
