"""Test that a live table, drawn from events only, equals its replay with all hands closed."""

import pytest
from google.protobuf.json_format import MessageToDict
from pokearena.v1 import bot_pb2

from arena.presentation.narration import InvalidPosition, render_view
from referee.game_checks.random_games import walk
from referee.game_checks.tables import Table as Setup
from referee.games.registry import GAMES
from referee.games.shared.dealing import Seeded
from tests.arena.presentation.test_table_rendering import rendered
from tests.conformance.tables import every_table
from tests.conformance.walks import closely
from tests.examples import examples


@every_table
def test_a_published_position_is_rendered_as_a_spectator_sees_it(table: Setup) -> None:
    seating = [f"bot{seat}" for seat in range(table.seats)]
    for step in closely(table, walk(table, 0))[:: examples(1, 15)]:
        state = step.state
        view = MessageToDict(bot_pb2.View.FromString(table.codec.view(state.public())))
        made = render_view(table.game.id, table.options, view, seating, state.actors)
        assert made == rendered(table, state, ())


def test_an_invalid_position_is_refused() -> None:
    with pytest.raises(InvalidPosition):
        render_view("poke", {}, {"whist": {}}, ["a", "b"], [0])
    with pytest.raises(InvalidPosition):
        render_view("poke", {}, {"pokex": {}}, ["a", "b"], [0])


@pytest.mark.parametrize("game", GAMES)
def test_a_view_with_fields_of_the_wrong_shape_is_refused(game: str) -> None:
    camel = "".join(word.title() for word in game.split("_"))
    with pytest.raises(InvalidPosition):
        render_view(game, {}, {camel[0].lower() + camel[1:]: {}}, ["a", "b", "c", "d"], [0])


@every_table
def test_a_view_with_the_names_of_another_number_of_seats_is_refused(table: Setup) -> None:
    public = table.game.start(Seeded(bytes(32)), table.seats, table.options).public()
    view = MessageToDict(bot_pb2.View.FromString(table.codec.view(public)))
    for seats in {*table.game.seats} - {table.seats}:
        with pytest.raises(InvalidPosition):
            render_view(table.game.id, table.options, view, ["x"] * seats, [0])
