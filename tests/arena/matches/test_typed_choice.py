"""Typed actions: one legal action, or the reason why the input is refused."""

import pytest

from arena.matches.human_seats import PersonQuestion
from arena.matches.typed_choice import RefusedChoice, typed
from referee.games.registry import find
from referee.games.shared.dealing import Seeded


def question(game: str) -> PersonQuestion:
    """Return the first question of seat 0."""
    rules = find(game)
    options = dict(rules.settle({}))
    seats = rules.seats[0]
    state = rules.start(Seeded(bytes(32)), seats, options)
    seat = state.actors[0]
    names = tuple(f"p{number}" for number in range(seats))
    return PersonQuestion("p0", seat, names, 0, 0, rules, options, state.view(seat), None)


@pytest.mark.parametrize("game", ["poke", "saint_poker", "pokex", "pouku", "pokino"])
def test_every_listed_action_can_be_typed_and_chosen_by_its_number(game: str) -> None:
    person_question = question(game)
    for number, action in list(enumerate(person_question.actions, 1))[:40]:
        assert typed(person_question, str(number)) == action
        choice = person_question.choices()[number - 1]
        chosen = typed(person_question, choice)
        # The words of one action may begin those of another one.
        assert chosen == action or (isinstance(chosen, RefusedChoice) and chosen.code == "several")


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "empty"),
        ("0", "number"),
        ("9999", "number"),
        ("r", "several"),
        ("fly", "not-legal"),
    ],
)
def test_a_text_without_exactly_one_action_is_refused(text: str, code: str) -> None:
    refused = typed(question("saint_poker"), text)
    assert isinstance(refused, RefusedChoice)
    assert refused.code == code


def test_the_reason_names_the_cards_that_cannot_be_used() -> None:
    person_question = question("saint_poker")
    held = set(person_question.view.hand)
    absent = next(card for card in ("2C", "3C", "4C", "5C", "6C", "7C") if card not in held)
    refused = typed(person_question, f"river {absent}")
    assert isinstance(refused, RefusedChoice)
    assert absent in refused.sentence
