"""Test `pokearena rules`, which prints the options, the forms of action and the rules of a game."""

from typing import Any

import pytest
from google.protobuf.json_format import ParseDict
from pokearena.v1 import bot_pb2

from referee.field_names import snake
from referee.games.registry import GAMES
from tests.arena.cli.terminal import Cli

every_game = pytest.mark.parametrize("game", sorted(GAMES))


def rules_document(cli: Cli, game: str) -> Any:
    result = cli("rules", game, "--json")
    assert result.status == 0
    return result.json


def test_rules_without_a_game_lists_the_games(cli: Cli) -> None:
    result = cli("rules")
    assert result.status == 0
    assert [line.split()[0] for line in result.out.splitlines()[1:]] == list(GAMES)
    assert [row["game"] for row in cli("rules", "--json").json] == list(GAMES)


@every_game
def test_rules_prints_options_action_types_and_every_rule(cli: Cli, game: str) -> None:
    result = cli("rules", game)
    assert result.status == 0
    assert result.out.startswith(f"{GAMES[game].title} ({game}), for ")
    for name, option in GAMES[game].options.items():
        assert name in result.out
        assert option.meaning in result.out
    for kind in GAMES[game].action_types:
        assert f"\n{snake(kind.__name__)} " in result.out
    assert "-1.1** " in result.out


@every_game
def test_the_example_of_every_action_type_is_valid(cli: Cli, game: str) -> None:
    forms = rules_document(cli, game)["actions"]
    assert len(forms) == len(GAMES[game].action_types)
    for form in forms:
        message = ParseDict(form["example"], bot_pb2.Action())
        assert message.WhichOneof("game") == game
        assert getattr(message, game).WhichOneof("action") == form["name"]


@every_game
def test_the_json_output_has_the_options_and_the_page(cli: Cli, game: str) -> None:
    rulebook = rules_document(cli, game)
    assert {option["name"] for option in rulebook["options"]} == set(GAMES[game].options)
    assert rulebook["seats"] == sorted(GAMES[game].seats)
    assert rulebook["rules"].startswith(f"# Rules of {GAMES[game].title}")


@pytest.mark.long
def test_the_suggested_next_command_works(cli: Cli) -> None:
    result = cli("rules", "saint_poker")
    assert result.last.startswith("next  pokearena play saint_poker ")
    assert cli(*result.last.split()[2:]).status == 0
