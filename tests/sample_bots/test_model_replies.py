"""Test that the starter bot for models reads replies as they are meant, or classifies them."""

import pytest
from model_replies import ACTION, ILLEGAL, TRANSPORT, Reply, listed_actions, read_reply

from referee.games.registry import GAMES
from referee.games.shared.dealing import Seeded
from referee.presentation.question_text import question_text
from referee.presentation.registry import presentation_of
from tests.sample_bots.model_reply_corpus import ACTIONS, CUT, cases

CASES = cases()


def test_the_corpus_has_at_least_three_hundred_kinds_of_replies() -> None:
    assert sum(map(len, CASES.values())) >= 300
    for group in CASES.values():
        assert len({case.name for case in group}) == len(group)


@pytest.mark.parametrize("group", CASES)
def test_a_reply_is_played_as_meant_or_classified(group: str) -> None:
    for case in CASES[group]:
        reading = read_reply(case.reply, ACTIONS)
        assert reading.kind == (case.kind or ACTION), case
        if not case.kind:
            assert int(reading.answer) == int(case.answer), case


def test_no_reply_becomes_an_action_that_its_text_does_not_name() -> None:
    for group in CASES.values():
        for case in group:
            reading = read_reply(case.reply, ACTIONS)
            if reading.kind == ACTION:
                named = (str(int(reading.answer)), ACTIONS[int(reading.answer)].casefold())
                words = " ".join(case.reply.text.replace("\\u0020", " ").split()).casefold()
                assert any(name in words for name in named), case


def test_an_object_that_is_not_cut_is_played() -> None:
    assert read_reply(Reply(CUT), ACTIONS).answer == "11"


def test_a_failure_of_the_transport_has_its_reason() -> None:
    reading = read_reply(Reply(failure="the connection was lost"), ACTIONS)
    assert (reading.kind, reading.detail) == (TRANSPORT, "the connection was lost")


def test_an_unlisted_action_in_words_is_kept_as_it_was_written() -> None:
    reading = read_reply(Reply('{"action": " Draw 3C "}'), ACTIONS)
    assert (reading.kind, reading.answer, reading.is_listed) == (ILLEGAL, "Draw 3C", False)


@pytest.mark.parametrize("game", GAMES.values(), ids=list(GAMES))
def test_the_listed_actions_are_those_of_the_text_of_a_question(game: object) -> None:
    from referee.games.contract import Game

    assert isinstance(game, Game)
    options = game.settle({})
    seats = game.seats[0]
    state = game.start(Seeded(bytes(32)), seats, options)
    seat = state.actors[0]
    legal = state.legal(seat)
    text = question_text(game, options, seats, state.view(seat), seat, state.actors, legal)
    choice = presentation_of(game.id).choice
    assert listed_actions(text) == [choice(action) for action in legal]
