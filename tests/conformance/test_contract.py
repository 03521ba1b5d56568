"""Properties of every game: it ends, its values are immutable, and it is reproducible."""

import pytest

from referee.game_checks.random_games import walk
from referee.game_checks.suite import check_table
from referee.game_checks.tables import Table
from referee.games.contract import Game
from referee.games.registry import GAMES, find_game
from tests.conformance.oracles import oracle_of
from tests.conformance.tables import TABLES, every_table
from tests.conformance.walks import walks

WALKS = 12

CHECKED_HERE = (
    "description",
    "random-games",
    "harmless-games",
    "immutability",
    "purity",
    "determinism",
    "turns",
    "listing",
    "listed-are-played",
    "view-messages",
    "records",
    "from-view",
    "rendering",
    "action-texts",
    "history",
)
"""Checks of `referee.game_checks`; other files test the rest in more depth."""

every_game = pytest.mark.parametrize("game", GAMES.values(), ids=lambda game: game.id)


@every_game
def test_a_game_describes_itself(game: Game) -> None:
    assert find_game(game.id) is game
    assert game.id.replace("_", "").isalnum()
    assert game.id == game.id.lower()
    assert game.settle({}) == {name: option.default for name, option in game.options.items()}
    assert any(table.game is game for table in TABLES)


@every_table
@pytest.mark.parametrize("check", CHECKED_HERE)
def test_a_check_of_the_suite_finds_nothing(table: Table, check: str) -> None:
    assert check_table(check, table).problem is None


@every_table
def test_random_games_differ(table: Table) -> None:
    ends = [str(steps[-1].state.view(0)) for steps in walks(table, WALKS)]
    assert len(set(ends)) == len(ends)


@every_table
def test_cards_are_conserved(table: Table) -> None:
    oracle = oracle_of(table)
    for steps in walks(table, WALKS):
        everything = sorted(oracle.cards(steps[0].state))
        assert len(set(everything)) == len(everything)
        for step in steps:
            assert sorted(oracle.cards(step.state)) == everything


@every_game
def test_every_kind_of_action_is_played_at_some_table(game: Game) -> None:
    missing = set(game.action_types)
    tables = (table for table in TABLES if table.game is game)
    while missing:
        for step in walk(next(tables), 3):
            missing -= {type(action) for action in step.moves.values()}
