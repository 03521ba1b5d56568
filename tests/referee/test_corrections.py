"""Second tries: a question is sent again after an illegal or unreadable answer."""

import asyncio
from typing import Any

import pytest
from pokearena.v1 import bot_pb2

from tests.referee.authors import Answer, Author, TableResults, first, play

Question = bot_pb2.ActRequest


def answer_of(question: Question, **members: Any) -> Answer:
    reply = Answer(**members)
    reply.game, reply.decision, reply.attempt = question.game, question.decision, question.attempt
    return reply


def legal(question: Question) -> Answer:
    return answer_of(question, action=question.legal[0])


def illegal(question: Question) -> Answer:
    action = bot_pb2.Action()
    action.poke.lead.cards.extend(["AS", "AC", "AD", "AH"])
    return answer_of(question, action=action)


def unreadable(question: Question) -> Answer:
    return answer_of(question, text="I fold")


def wrong_until(attempt: int, wrong: object = illegal) -> Author:
    def answer(question: Question) -> Answer:
        assert callable(wrong)
        reply = wrong(question) if question.attempt < attempt else legal(question)
        assert isinstance(reply, Answer)
        return reply

    return Author(answer, with_corrections=True)


def corrected(played: TableResults) -> list[int]:
    """Return the numbers of corrections in the lines of seat 0."""
    (game,) = played.games
    return [line.get("corrections", 0) for line in game.actions if line["seat"] == 0]


@pytest.mark.parametrize("streams", [True, False])
@pytest.mark.parametrize(("wrong", "code"), [(illegal, "illegal"), (unreadable, "unreadable")])
def test_a_wrong_answer_is_corrected_in_both_methods(
    streams: bool, wrong: object, code: str
) -> None:
    author = wrong_until(2, wrong)
    author.streams = streams
    played = play([author, Author()], corrections=2)
    assert played.verdicts == [["finished", "finished"]]
    assert set(corrected(played)) == {2}
    assert played.games[0].result["corrections"] == [sum(corrected(played)), 0]
    assert "defaults" not in played.games[0].result
    tries = author.questions[:3]
    assert [question.attempt for question in tries] == [0, 1, 2]
    assert [question.correction.code for question in tries] == ["", code, code]
    assert {(question.view.SerializeToString(), question.decision) for question in tries} == {
        (tries[0].view.SerializeToString(), tries[0].decision)
    }
    assert author.starts[0].corrections == 2


def test_the_moves_are_those_of_a_bot_that_needs_no_correction() -> None:
    moves = [
        [line["action"] for line in play([author, Author()], corrections=1).games[0].actions]
        for author in (wrong_until(1), wrong_until(0))
    ]
    assert moves[0] == moves[1]


@pytest.mark.parametrize(
    ("first_wrong", "last_wrong", "verdict"),
    [(illegal, unreadable, "protocol"), (unreadable, illegal, "illegal")],
)
def test_the_fault_is_that_of_the_last_answer(
    first_wrong: object, last_wrong: object, verdict: str
) -> None:
    def answer(question: Question) -> Answer:
        wrong = last_wrong if question.attempt else first_wrong
        assert callable(wrong)
        reply = wrong(question)
        assert isinstance(reply, Answer)
        return reply

    played = play([Author(answer, with_corrections=True), Author()], corrections=1)
    assert played.verdicts == [[verdict, "finished"]]
    (fault,) = played.games[0].faults
    assert fault["question"]["attempt"] == 1
    assert played.games[0].result["corrections"] == [1, 0]


@pytest.mark.parametrize(("takes", "allowed"), [(True, 0), (False, 2)])
def test_without_permission_or_support_the_first_answer_is_the_fault(
    takes: bool, allowed: int
) -> None:
    author = Author(illegal, with_corrections=takes)
    played = play([author, Author()], corrections=allowed)
    assert played.verdicts == [["illegal", "finished"]]
    assert len(author.questions) == 1


def test_all_tries_share_one_clock() -> None:
    author = wrong_until(1)
    play([author, Author()], corrections=1, allowance_ms=60_000, bank_ms=5_000)
    before, after = author.questions[:2]
    assert after.clock.allowance_ms < before.clock.allowance_ms
    assert after.clock.bank_ms == before.clock.bank_ms


def test_a_try_that_exceeds_the_rest_of_the_clock_is_a_timeout() -> None:
    async def answer(question: Question) -> Answer:
        if question.attempt:
            await asyncio.Event().wait()
        return illegal(question)

    played = play(
        [Author(answer, with_corrections=True), Author()], corrections=9, allowance_ms=1000
    )
    assert played.verdicts[0][0] == "timeout"
    (fault,) = played.games[0].faults
    assert fault["clock"]["limit_ms"] < 1000


def test_an_answer_to_an_earlier_try_is_not_taken_for_the_new_one() -> None:
    """The bot answers the corrected question, but names the first try."""

    def answer(question: Question) -> Answer:
        if not question.attempt:
            return illegal(question)
        late = legal(question)
        late.attempt = 0
        return late

    played = play(
        [Author(answer, with_corrections=True), Author()], corrections=1, allowance_ms=1000
    )
    assert played.verdicts == [["timeout", "finished"]]


def test_an_answer_to_a_later_try_is_a_fault() -> None:
    def answer(question: Question) -> Answer:
        early = first(question)
        early.attempt = 1
        return early

    played = play([Author(answer, with_corrections=True), Author()], corrections=1)
    assert played.verdicts == [["protocol", "finished"]]


def test_corrections_in_concurrent_games_do_not_disturb_each_other() -> None:
    author = wrong_until(1)
    author.games_in_flight = 4
    other = Author(games_in_flight=4)
    played = play([author, other], boards=4, corrections=1)
    assert played.verdicts == [["finished", "finished"]] * 4
    for game in played.games:
        own = [line for line in game.actions if line["seat"] == 0]
        assert {line["corrections"] for line in own} == {1}


def test_a_default_action_is_counted_and_no_fault() -> None:
    author = Author(lambda question: answer_of(question, choice=0, played_default=True))
    played = play([author, Author()])
    (game,) = played.games
    own = [line for line in game.actions if line["seat"] == 0]
    assert all(line["default"] for line in own)
    assert game.result["defaults"] == [len(own), 0]
    assert played.verdicts == [["finished", "finished"]]
