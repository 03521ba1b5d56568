"""Test that each game has a presentation, and that a game without a module has the default one."""

from pkgutil import iter_modules
from random import Random

import pytest

from referee.games.contract import SetupError
from referee.games.registry import GAMES, find_game
from referee.games.shared.dealing import Seeded
from referee.presentation import games, text
from referee.presentation.contract import Presentation
from referee.presentation.elements import Players
from referee.presentation.registry import presentation_of


def test_every_game_has_a_module_and_every_module_a_game() -> None:
    assert {module.name for module in iter_modules(games.__path__)} == set(GAMES)


def test_an_unknown_game_has_no_presentation() -> None:
    with pytest.raises(SetupError):
        presentation_of("bridge")


@pytest.mark.parametrize("game", GAMES)
def test_the_default_presentation_shows_any_position(game: str) -> None:
    rules = find_game(game)
    default, chance = Presentation(rules), Random(1)
    seats = rules.seats[0]
    state = rules.start(Seeded(bytes(32)))
    sides = rules.sides(seats, rules.settle({}))
    for _ in range(12):
        moves = {seat: state.legal(seat).any(chance) for seat in state.actors}
        assert all(default.phrase(action) for action in moves.values())
        state = state.play(moves)
    table = Players(tuple("abcdef"[:seats]), sides, state.scores, state.actors)
    view = state.view(0)
    shown = "\n".join(text.lines(default.render(state.public(), {0: view}, table)))
    assert "a sees" in shown
    assert all(card in shown for card in view.hand)
