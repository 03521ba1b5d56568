"""Test that the fields of observations are documented as the encodings declare them."""

import numpy as np
import pytest

from arena.presentation.encoding import ObservationField
from arena.rl import raw_env
from arena.rl.encoded_game import EncodedGame
from arena.rl.observation_tables import PAGE, replaced
from referee.game_checks.tables import Table
from referee.games.shared.dealing import Seeded
from tests.conformance.tables import every_table


def indices(field: ObservationField) -> set[int]:
    return {
        field.start + step * field.stride + n
        for step in range(field.repeats)
        for n in range(field.length)
    }


def test_the_page_has_the_declared_fields() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert page == replaced(page)


@every_table
def test_every_number_belongs_to_one_field(table: Table) -> None:
    layout = EncodedGame(table.game.id, table.seats, table.options).encoding.layout
    covered = [index for field in layout.fields for index in indices(field)]
    assert sorted(covered) == list(range(layout.width))


@pytest.mark.parametrize(
    ("name", "card"), [("hand", 0), ("hand", 4), ("lead", 0)], ids=["first", "last", "no card"]
)
def test_a_documented_field_has_the_card_of_the_view(name: str, card: int) -> None:
    table = EncodedGame("poke")
    table.deal(Seeded(bytes(32)))
    (field,) = (field for field in table.encoding.layout.fields if field.name == name)
    numbers = table.observe(0)[field.start : field.start + field.length].reshape(field.shape)[card]
    cards = getattr(table.view(0), name)
    expected = (
        []
        if not cards
        else ["23456789TJQKA".index(cards[card][0]), 13 + "CDHS".index(cards[card][1])]
    )
    assert np.flatnonzero(numbers).tolist() == expected


def test_fields_by_seat_begin_with_the_observing_seat() -> None:
    table = EncodedGame("pouku")
    (field,) = (field for field in table.encoding.layout.fields if field.name == "turn")
    for seat in range(table.seats):
        turns = table.observe(seat)[field.start :: field.stride][: field.repeats]
        assert turns.argmax() == (table.view(seat).turn - seat) % table.seats


def test_observations_of_games_with_common_encodings_are_independent() -> None:
    """Pokino keeps the grid of the previous position; another game must not change it."""
    first, other = raw_env("pokino"), raw_env("pokino")
    for environment in (first, other):
        environment.reset(seed=3)
    other.step(int(np.flatnonzero(other.observe(other.agent_selection)["action_mask"])[1]))
    other.reset(seed=3)
    agent = first.agent_selection
    assert np.array_equal(first.observe(agent)["observation"], other.observe(agent)["observation"])
