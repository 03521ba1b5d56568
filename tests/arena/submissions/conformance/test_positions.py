"""Test the questions of an examination: every form of every game, and all unusual cases."""

from functools import cache

import pytest

from arena.submissions.conformance import examined_forms
from arena.submissions.conformance.question_sheet import (
    HUNDREDS,
    QuestionKind,
    QuestionSheet,
    prepare_questions,
    recorded_clocks,
)
from referee.game_checks.tables import Table
from referee.games.contract import Game
from referee.games.registry import GAMES
from referee.record import read
from referee.replay import question
from tests.conformance.tables import TABLES

SEED = bytes(32)

every_game = pytest.mark.parametrize("game", GAMES.values(), ids=list(GAMES))


def has_other_number(table: Table) -> bool:
    """Return whether an option with whole numbers is changed, which an examination does not try."""
    return any(
        type(option.default) is int and table.options[name] != option.default
        for name, option in table.game.options.items()
    )


@every_game
def test_every_form_is_tried_starting_with_the_default(game: Game) -> None:
    tried = examined_forms.forms(game)
    usual = {name: option.default for name, option in game.options.items()}
    assert (tried[0].game, tried[0].seats, tried[0].options) == (game.id, game.seats[0], usual)
    known = {
        (table.seats, tuple(sorted(table.settings)))
        for table in TABLES
        if table.game is game and not has_other_number(table)
    }
    assert known <= {(form.seats, tuple(sorted(form.options.items()))) for form in tried}
    assert len({form.form for form in tried}) == len(tried)
    default_and_last, quick, every = (
        {form.form for form in chosen}
        for chosen in (
            (tried[0], tried[-1]),
            examined_forms.varied_forms(game),
            tried,
        )
    )
    assert default_and_last <= quick <= every


@cache
def prepared(game_id: str) -> QuestionSheet:
    """Return questions to the last seat of the last form of a game."""
    form = examined_forms.forms(GAMES[game_id])[-1]
    return prepare_questions(form, form.seats - 1, SEED, 4, 2)


@every_game
def test_a_prepared_question_matches_its_record_and_kind(game: Game) -> None:
    made = prepared(game.id)
    record = read(made.record.text)
    assert made.positions
    for position in made.positions:
        place = position.recorded.request
        (recorded,) = (each for each in record.games if each.number == place.game)
        seats = recorded_clocks(made.spec, made.seat)
        again = question(record.match, recorded, made.spec.seed, place.decision, seats)
        assert again.request == place
        assert place.seat == made.seat
        listed = list(again.legal)
        assert len(listed) == position.listed
        if position.kind is QuestionKind.SINGLE:
            assert len(listed) == 1
        if position.kind is QuestionKind.HUNDREDS:
            assert len(listed) >= HUNDREDS
        if position.kind is QuestionKind.SAMPLE:
            assert not again.legal.complete
            assert not place.complete


def test_every_kind_of_question_occurs_in_a_game() -> None:
    kinds = {position.kind for game in GAMES for position in prepared(game).positions}
    assert kinds == set(QuestionKind)


def test_equal_seeds_select_equal_questions() -> None:
    form = examined_forms.forms(GAMES["poke"])[0]
    first, second = (prepare_questions(form, 0, SEED, 2, 2) for _ in range(2))
    other = prepare_questions(form, 0, bytes([1]) * 32, 2, 2)
    assert first.record == second.record
    assert [p.recorded.request for p in first.positions] == [
        p.recorded.request for p in second.positions
    ]
    assert first.record.match != other.record.match
