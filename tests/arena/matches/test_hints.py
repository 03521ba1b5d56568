"""Hints of greedy are legal actions with a win expectation, in every built-in game."""

import pytest

from arena.matches.hints import gives_hints, hint_for
from arena.matches.human_seats import PersonQuestion
from referee.games.game_packages import BUILT_IN
from referee.games.registry import find_game
from referee.games.shared.dealing import SEED_BYTES, Seeded

pytestmark = pytest.mark.long


@pytest.mark.parametrize("game", BUILT_IN)
def test_a_hint_is_legal_and_does_not_depend_on_hidden_cards(game: str) -> None:
    rules = find_game(game)
    options = rules.settle({})
    seats = rules.seats[0]
    state = rules.start(Seeded(bytes(SEED_BYTES)), seats, options)
    seat = state.actors[0]
    view = state.view(seat)
    names = tuple(f"bot{number}" for number in range(seats))
    question = PersonQuestion("human", seat, names, 0, 0, rules, dict(options), view, None)
    assert gives_hints(game)
    hint = hint_for(question, "0.0", 0)
    assert hint == hint_for(question, "0.0", 0)
    assert hint.words in question.choices()
    assert hint.worth is not None
    assert 0 <= hint.worth.mean <= 1
