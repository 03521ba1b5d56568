"""Reasoning and usage of answers: kept beside the record, cut, and never a fault."""

import math
from pathlib import Path
from typing import Any

import pytest
from pokearena.v1 import bot_pb2

from referee import reasoning
from referee.record import GameRecord, MatchRecord
from tests.referee.authors import Answer, Author, TableResults, first, play
from tests.referee.test_nonsense import raw_bot

Question = bot_pb2.ActRequest
SPACE = 1 << 20


def with_reasoning(text: str, **usage: Any) -> Author:
    def answer(question: Question) -> Answer:
        reply = first(question)
        reply.reasoning = text
        if usage:
            reply.usage.CopyFrom(bot_pb2.Usage(**usage))
        return reply

    return Author(answer)


def decisions(played: TableResults, seat: int = 0) -> list[dict[str, Any]]:
    """Return what is kept of the decisions of a seat in the only game."""
    (lines,) = played.reasoning
    if not lines or not lines[seat]:
        return []
    kept: list[dict[str, Any]] = reasoning.read_line(lines[seat])["decisions"]
    return kept


def record_of(played: TableResults) -> MatchRecord:
    return MatchRecord({}, tuple(played.games))


def reported(**usage: Any) -> dict[str, Any]:
    response = bot_pb2.ActResponse(usage=bot_pb2.Usage(**usage))
    kept = reasoning.SeatReasoning(SPACE)
    kept.add(0, response)
    line = kept.line(0, 0)
    return reasoning.read_line(line)["decisions"][0]["usage"] if line else {}


@pytest.mark.parametrize("streams", [True, False])
def test_reasoning_and_usage_of_each_decision_are_kept(streams: bool) -> None:
    author = with_reasoning("the ace wins", model="small-1", tokens_in=900, cost=0.25)
    author.streams = streams
    played = play([author, Author()], reasoning_bytes=SPACE)
    own = [line["decision"] for line in played.games[0].actions if line["seat"] == 0]
    assert [kept["decision"] for kept in decisions(played)] == own
    assert decisions(played)[0] == {
        "decision": own[0],
        "text": "the ace wins",
        "usage": {"source": "reported", "model": "small-1", "tokens_in": 900, "cost": 0.25},
    }
    assert decisions(played, 1) == []
    assert not list(reasoning.problems(record_of(played), [played.reasoning[0][0]]))


def test_a_game_without_reasoning_has_no_trace_of_it_in_its_record() -> None:
    played = play([Author(), Author()], reasoning_bytes=SPACE)
    assert played.reasoning == [[]]
    assert "reasoning" not in played.games[0].result


def test_a_table_without_space_keeps_nothing() -> None:
    played = play([with_reasoning("x"), Author()])
    assert played.reasoning == [[]]


@pytest.mark.parametrize(
    "character", ["a", "é", "\N{CARD INDEX}", "\x01", "\N{RIGHT-TO-LEFT MARK}"]
)
def test_a_long_text_in_every_answer_is_cut_and_no_fault(character: str) -> None:
    long_text = character * (60_000 // len(character.encode()))
    most = 300_000
    played = play([with_reasoning(long_text), Author()], reasoning_bytes=most)
    assert played.verdicts == [["finished", "finished"]]
    kept = decisions(played)
    assert kept[0]["cut"]
    assert len(kept[0]["text"]) >= reasoning.TEXT_BYTES // len(character.encode()) - 1
    assert len(played.reasoning[0][0]) <= most + 200
    assert len(kept) == sum(line["seat"] == 0 for line in played.games[0].actions)


def test_without_space_for_the_text_the_usage_is_kept() -> None:
    author = with_reasoning("x" * 15_000, tokens_in=7)
    played = play([author, Author()], reasoning_bytes=40_000)
    kept = decisions(played)
    assert [bool(line.get("text")) for line in kept[:3]] == [True, True, False]
    assert all(line["usage"]["tokens_in"] == 7 for line in kept)
    assert kept[2]["cut"]


@pytest.mark.parametrize("method", ["Act", "Play"])
def test_invalid_utf_8_is_a_fault_of_its_bot_only(tmp_path: Path, method: str) -> None:
    # Field 10 with two bytes that are not UTF-8.
    answer = b"\x52\x02\xff\xfe"
    message = answer if method == "Act" else b"\x0a\x04" + answer
    with raw_bot(tmp_path, **{method: lambda request: message}) as address:
        played = play([address, Author()], reasoning_bytes=SPACE)
    assert played.verdicts == [["protocol", "finished"]]


def test_a_message_of_sixteen_megabytes_is_a_fault_of_its_bot_only() -> None:
    played = play([with_reasoning("x" * (16 << 20)), Author()], reasoning_bytes=SPACE)
    assert played.verdicts == [["protocol", "finished"]]


@pytest.mark.parametrize(
    "usage",
    [
        {"cost": math.nan},
        {"cost": -1.0},
        {"cost": math.inf},
        {"tokens_in": 2**64 - 1},
        {"model": " "},
        {},
    ],
)
def test_impossible_values_of_a_usage_are_dropped(usage: dict[str, Any]) -> None:
    assert reported(**usage) == {}
    assert reported(**usage, tries=2) == {"source": "reported", "tries": 2}


def test_hidden_characters_of_a_model_name_are_escaped() -> None:
    assert reported(model="a\u202eb\n" + "c" * 200)["model"] == "a\\u202eb\\n" + "c" * 96


def test_the_reasoning_of_a_refused_answer_is_kept_with_its_attempt() -> None:
    def answer(question: Question) -> Answer:
        reply = first(question)
        reply.attempt = question.attempt
        if not question.attempt:
            reply.action.poke.lead.cards.extend(["AS", "AC", "AD", "AH"])
        reply.reasoning = f"try {question.attempt}"
        return reply

    author = Author(answer, with_corrections=True)
    played = play([author, Author()], corrections=1, reasoning_bytes=SPACE)
    refused, accepted, *_ = decisions(played)
    assert (refused["text"], refused.get("attempt")) == ("try 0", None)
    assert (accepted["text"], accepted["attempt"]) == ("try 1", 1)


def test_no_question_contains_reasoning() -> None:
    others = Author()
    author = with_reasoning("SECRET", model="SECRET")
    author.with_text = others.with_text = True
    played = play([author, others], reasoning_bytes=SPACE, watch_ms=1, watch_notes=True)
    received = [*others.questions, *author.questions, *others.starts, *played.shown]
    assert received
    assert not [message for message in received if b"SECRET" in message.SerializeToString()]
    assert "SECRET" not in played.games[0].text


def game_record(*digests: object) -> GameRecord:
    return GameRecord({"game": 0}, (), (), {"reasoning": list(digests)})


def one_line(text: str) -> str:
    kept = reasoning.SeatReasoning(SPACE)
    kept.add(0, bot_pb2.ActResponse(reasoning=text))
    return kept.line(0, 0)


def test_a_deleted_line_is_accepted_and_a_changed_one_is_not() -> None:
    line = one_line("mine")
    record = MatchRecord({}, (game_record(*reasoning.digests([line, ""])),))
    assert list(reasoning.problems(record, [line])) == []
    assert list(reasoning.problems(record, [])) == []
    for changed in (line.replace("mine", "yours"), line.replace('"seat":0', '"seat":1'), "{}", "["):
        assert list(reasoning.problems(record, [changed]))
    assert list(reasoning.problems(record, [line, line]))


@pytest.mark.parametrize("hashes", [None, 5, "text", {"a": 1}, [1, None], [[]]])
def test_a_record_with_unusable_hashes_is_not_an_error(hashes: object) -> None:
    game = GameRecord({"game": 0}, (), (), {"reasoning": hashes})
    assert list(reasoning.problems(MatchRecord({}, (game,)), [one_line("mine")]))


def test_equal_texts_have_different_hashes() -> None:
    assert len(set(reasoning.digests([one_line("yes"), one_line("yes")]))) == 2
