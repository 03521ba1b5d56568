"""Test questions as plain text: golden texts of every game, secrecy, answers in words."""

import pytest

from referee.game_checks.random_games import walk
from referee.game_checks.tables import Table
from referee.games.contract import State
from referee.games.registry import GAMES, find_game
from referee.games.shared.dealing import Seeded
from referee.presentation.question_text import (
    ALL_LISTED,
    ANSWER_CHARACTERS,
    TEXT_VERSION,
    UNLISTED,
    parse_answer,
    question_text,
    question_text_of_view,
)
from referee.presentation.registry import presentation_of
from tests.referee import golden_texts

TABLES = [*golden_texts.tables()]
SMALLEST = {table.game.id: table for table in reversed(TABLES)}
POSITIONS = 12


def states(table: Table) -> list[State]:
    """Return positions spread over a random game, without its end."""
    steps = walk(table, 0)[:-1]
    return [step.state for step in steps[:: max(1, len(steps) // POSITIONS)]]


def text_of(table: Table, state: State, seat: int) -> str:
    """Return the text that the referee sends, which knows the whole position."""
    return question_text(
        table.game,
        table.options,
        table.seats,
        state.view(seat),
        seat,
        state.actors,
        state.legal(seat),
    )


@pytest.mark.parametrize("table", TABLES, ids=str)
def test_texts_equal_the_golden_ones_of_this_version(table: Table) -> None:
    golden = golden_texts.path(table).read_text(encoding="utf-8")
    assert golden_texts.golden_text(table) == golden, "raise TEXT_VERSION; run scripts/golden"
    assert f"(Text version {TEXT_VERSION})" in golden


@pytest.mark.parametrize("table", TABLES, ids=str)
def test_a_text_does_not_depend_on_hidden_cards(table: Table) -> None:
    """The hidden cards are dealt again: what the referee writes must stay the same."""
    changed = 0
    for number, state in enumerate(states(table)):
        for seat in state.actors:
            text = text_of(table, state, seat)
            other = state.redeal(seat, Seeded(bytes([number]) * 32))
            changed += other != state
            assert text_of(table, other, seat) == text
            made = question_text_of_view(
                table.game, table.options, table.seats, state.view(seat), seat, state.legal(seat)
            )
            assert made == text
    assert changed


@pytest.mark.parametrize("table", list(SMALLEST.values()), ids=str)
def test_every_listed_action_can_be_answered_by_number_and_in_words(table: Table) -> None:
    for state in states(table):
        for seat in state.actors:
            legal = state.legal(seat)
            lines = text_of(table, state, seat).splitlines()
            for number, action in list(enumerate(legal))[:20]:
                words = presentation_of(table.game.id).choice(action)
                assert f"{number}: {words}" in lines
                assert parse_answer(table.game, f" {number}\n", legal) == action
                assert parse_answer(table.game, words.lower(), legal) == action


@pytest.mark.parametrize("text", ["", "-1", "1.0", "99999", "9" * 500, "I play 0", "x" * 401])
@pytest.mark.parametrize("table", list(SMALLEST.values()), ids=str)
def test_prose_and_numbers_beyond_the_list_name_no_action(table: Table, text: str) -> None:
    state = states(table)[0]
    legal = state.legal(state.actors[0])
    assert parse_answer(table.game, text, legal) is None


def test_a_sample_says_that_other_actions_are_legal() -> None:
    """Pokino lists at most 100 runs."""
    pokino = Table(find_game("pokino"), 2, tuple(find_game("pokino").settle({}).items()))
    states = [step.state for number in range(4) for step in walk(pokino, number)[:-1:3]]
    by_completeness = {state.legal(state.actors[0]).complete: state for state in states}
    listed = {
        complete: text_of(pokino, state, state.actors[0])
        for complete, state in by_completeness.items()
    }
    assert ALL_LISTED in listed[True]
    assert UNLISTED not in listed[True]
    assert UNLISTED in listed[False]
    assert ALL_LISTED not in listed[False]


@pytest.mark.parametrize("game_id", list(GAMES))
def test_every_action_fits_into_an_answer_and_every_game_has_short_rules(game_id: str) -> None:
    presentation = presentation_of(game_id)
    assert 500 < len(presentation.short_rules) < 2500
    longest = max(
        len(presentation.choice(action))
        for state in states(SMALLEST[game_id])
        for seat in state.actors
        for action in state.legal(seat)
    )
    assert longest < ANSWER_CHARACTERS
