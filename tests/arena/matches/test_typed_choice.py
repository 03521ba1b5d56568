"""Typed actions: one legal action, or the reason why the input is refused."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from random import Random

import pytest

from arena.cli.matches.action_menu import ActionMenu
from arena.matches.human_seats import PersonQuestion
from arena.matches.typed_choice import MAX_CHARACTERS, RefusedChoice, typed
from referee.action_phrases import describe
from referee.games.contract import Game, OptionValue, State
from referee.games.pouku.actions import Discard
from referee.games.registry import find_game
from referee.games.shared.cards import Card, cards
from referee.games.shared.dealing import Seeded
from tests.examples import examples
from tests.referee.action_texts import pouku


def asked(rules: Game, options: dict[str, OptionValue], state: State) -> PersonQuestion:
    seat = state.actors[0]
    names = tuple(f"p{number}" for number in range(len(state.scores)))
    return PersonQuestion("p0", seat, names, 0, 0, rules, options, state.view(seat), None)


def question(game: str) -> PersonQuestion:
    rules = find_game(game)
    options = rules.settle({})
    return asked(rules, options, rules.start(Seeded(bytes(32)), rules.seats[0], options))


def questions(game: str, options: dict[str, OptionValue], seats: int) -> Iterator[PersonQuestion]:
    rules = find_game(game)
    settled = rules.settle(options)
    state = rules.start(Seeded(bytes(32)), seats, settled)
    chance = Random(game)
    while state.actors:
        yield asked(rules, settled, state)
        state = state.after({seat: state.legal(seat).any(chance) for seat in state.actors})


FORMS: list[tuple[str, dict[str, OptionValue], int]] = [
    ("poke", {}, 2),
    ("saint_poker", {}, 3),
    ("pokex", {}, 4),
    ("pouku", {}, 3),
    ("pouku", {"teams": True}, 4),
    ("pokino", {}, 2),
]


@pytest.mark.parametrize(("game", "options", "seats"), FORMS)
def test_every_listed_action_can_be_typed_and_chosen_by_its_number(
    game: str, options: dict[str, OptionValue], seats: int
) -> None:
    asked_questions = list(questions(game, options, seats))
    for person_question in asked_questions[:: max(1, len(asked_questions) // examples(60, 6))]:
        choices = person_question.choices()
        menu = ActionMenu(choices)
        step = max(1, len(choices) // examples(100, 15))
        for number, action in list(enumerate(person_question.actions))[::step]:
            assert len(choices[number]) <= MAX_CHARACTERS
            assert typed(person_question, str(number + 1)) == action
            assert typed(person_question, choices[number]) == action
            assert typed(person_question, choices[number].lower()) == action
            assert replace(menu, typed=choices[number]).chosen == number


def test_an_action_with_the_words_of_another_one_is_not_ambiguous() -> None:
    """Both are legal: each discards one jack and keeps the other with the jack of a field."""
    hands, fields = ("JD JS", "2C 3C", "4C 5C"), ("6C 7C", "JC 8C", "9C TC")
    state = pouku("AC", hands, fields, "AS")
    rules = find_game("pouku")
    person_question = asked(rules, rules.settle({}), state)
    jd, js, jc = map(Card, ("JD", "JS", "JC"))
    assert typed(person_question, "discard JD keep JS JC") == Discard(jd, (js, jc))
    assert typed(person_question, "discard JS keep JD JC") == Discard(js, (jd, jc))


def test_an_unlisted_keep_can_be_typed_in_full() -> None:
    """U-10.3: 108 keeps are possible, and 60 are listed."""
    state = pouku("AC", ("5C 2D", "3C 3D", "4C 4D"), ("KC KD", "6C 6D", "8C 8D"), "AS")
    lying = (cards("KC KD"), cards("6C 6D 6H 7C 7D 7H"), cards("8C 8D 8H 9C 9D 9H"))
    rules = find_game("pouku")
    person_question = asked(rules, rules.settle({}), state.but(fields=lying))
    listed = {action.keep for action in person_question.actions if isinstance(action, Discard)}
    assert not person_question.complete
    every = [cards(f"5C 6{a} 7{b} 8{c} 9{d}") for a, b, c, d in product("CDH", repeat=4)]
    unlisted = [keep for keep in every if keep not in listed]
    assert unlisted
    for keep in unlisted:
        action = Discard(Card("2D"), keep)
        assert typed(person_question, describe(action)) == action


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
