"""Test the line protocol between the bridge and its program: the format, and invalid answers."""

import codecs
import json

import pytest
from google.protobuf.json_format import MessageToDict
from pokearena.v1 import bot_pb2

from arena.bots.stdio import program_lines
from arena.bots.stdio.bridge import MAX_LINE_BYTES, Splitter
from referee.reasoning import TEXT_BYTES
from tests.conformance.tables import TABLES
from tests.conformance.walks import walks

QUESTION = bot_pb2.ActRequest(game=2, decision=5, luck=(1 << 64) - 1)
QUESTION.view.poke.hand.extend(("2C", "9H"))
QUESTION.legal.add().poke.stand.SetInParent()
QUESTION.legal.add().poke.draw.discards.append("2C")


def answered(line: bytes) -> bot_pb2.ActResponse:
    return program_lines.act_response(program_lines.read(line), QUESTION)


def test_a_question_is_one_line_that_begins_with_the_number_of_its_actions() -> None:
    line = program_lines.act_line(QUESTION)
    assert line.startswith(b'{"choices":2,"act":{"match":"","game":2,"decision":5,')
    assert line.endswith(b"}\n")
    assert line.count(b"\n") == 1


def test_a_question_holds_all_its_fields_and_large_numbers_as_text() -> None:
    act = json.loads(program_lines.act_line(QUESTION))["act"]
    assert act["luck"] == "18446744073709551615"
    assert (act["seat"], act["complete"], act["view"]["poke"]["lead"]) == (0, False, [])
    assert act["legal"] == [{"poke": {"stand": {}}}, {"poke": {"draw": {"discards": ["2C"]}}}]


def test_questions_of_all_games_are_in_protobuf_s_json_form() -> None:
    for table in {table.game.id: table for table in TABLES}.values():
        for step in next(walks(table, 1))[:40]:
            for seat, action in step.moves.items():
                head = bot_pb2.ActRequest(match="m-test", game=1, luck=1 << 63)
                data = table.codec.question(head, step.state.view(seat), [action])
                request = bot_pb2.ActRequest.FromString(data)
                act = json.loads(program_lines.act_line(request))["act"]
                assert act == MessageToDict(request, always_print_fields_with_no_presence=True)


def test_an_answer_can_be_a_text() -> None:
    response = answered(b'{"text":"draw 2C"}')
    assert (response.text, response.HasField("action")) == ("draw 2C", False)
    for both in (b'{"choice":0,"text":"stand"}', b'{"choice":0,"action":{}}'):
        with pytest.raises(program_lines.Malformed):
            answered(both)


def test_reasoning_is_cut_and_keeps_its_beginning() -> None:
    for text in ("é" * 40_000, "a\ud800" * 40_000):
        response = answered(json.dumps({"choice": 0, "reasoning": text}).encode())
        assert TEXT_BYTES < len(response.reasoning.encode()) <= TEXT_BYTES + 4
        assert response.reasoning[0] == text[0]


@pytest.mark.parametrize("reasoning", [None, 5, ["text"], {"a": 1}])
@pytest.mark.parametrize(
    "usage",
    [
        None,
        5,
        "many",
        [1],
        {"model": 5, "tokens_in": -3, "cost": "free", "tries": 1e99, "ms": 12.5, "other": 1},
        {"tokensIn": 10**30, "usage": {}, "model": "a\ud800"},
    ],
)
def test_reasoning_and_usage_of_a_wrong_type_are_dropped(reasoning: object, usage: object) -> None:
    line = json.dumps({"choice": 1, "reasoning": reasoning, "usage": usage}).encode()
    response = answered(line)
    assert response.action == QUESTION.legal[1]
    assert not response.reasoning
    assert response.usage == bot_pb2.Usage()


def test_the_possible_values_of_a_usage_are_kept() -> None:
    usage = {"model": "small-1", "tokensIn": "900", "tokens_out": 80, "cost": 0.5, "ms": -1}
    response = answered(json.dumps({"choice": 1, "usage": usage}).encode())
    expected = bot_pb2.Usage(model="small-1", tokens_in=900, tokens_out=80, cost=0.5)
    assert response.usage == expected


def test_an_answer_is_a_number_a_choice_or_an_action() -> None:
    for line in (
        b"1",
        b" 1 \r",
        b'{"choice": 1}',
        b'{"action":{"poke":{"draw":{"discards":["2C"]}}}}',
    ):
        response = answered(line)
        assert response.action == QUESTION.legal[1]
        assert (response.game, response.decision) == (2, 5)


def test_an_answer_belongs_to_the_attempt_that_it_names() -> None:
    line = b'{"game": 2, "decision": 5, "attempt": 1, "choice": 0}'
    assert program_lines.read(line).question == (2, 5, 1)
    again = bot_pb2.ActRequest()
    again.CopyFrom(QUESTION)
    again.attempt = 1
    for answer in (line, b"0"):
        assert program_lines.act_response(program_lines.read(answer), again).attempt == 1


def test_zero_fields_of_an_answer_may_be_omitted() -> None:
    assert program_lines.read(b'{"decision": 5, "choice": 0}').question == (0, 5, 0)
    assert program_lines.read(b'{"game": 5, "choice": 0}').question == (5, 0, 0)
    assert program_lines.read(b'{"choice": 0}').question is None


@pytest.mark.parametrize("line", [b"0", b"-1", b"  17 ", b"{", b' {"choice": 0}', b"9" * 5000])
def test_a_number_or_a_line_starting_with_a_brace_is_an_answer(line: bytes) -> None:
    assert program_lines.is_answer(line)


@pytest.mark.parametrize(
    "line", [b"", b"1.5", b"thinking", b"[1]", b"true", b"1 2", b"\xff\x00", b"+1"]
)
def test_any_other_line_goes_to_the_log(line: bytes) -> None:
    assert not program_lines.is_answer(line)


@pytest.mark.parametrize(
    ("line", "clause"),
    [
        (b"2", "its choice is 2, and the listed actions are 0 to 1"),
        (b"-1", "its choice is -1, and the listed actions are 0 to 1"),
        (b"9" * 5000, "is not the number of an action"),
        (b'{"choice": 1.5}', 'its "choice" is 1.5; it must be a whole number'),
        (b'{"choice": true}', 'its "choice" is true; it must be a whole number'),
        (b'{"choice": null}', 'its "choice" is null; it must be a whole number'),
        (b'{"choice": ' + b"9" * 5000 + b"}", "is not valid JSON"),
        (b'{"choice": 0, "action": {"poke": {"stand": {}}}}', 'both a "choice" and an "action"'),
        (b'{"action": 3}', "its answer is not a valid ActResponse"),
        (b'{"acton": {}}', 'has no field named "acton"'),
        (b'{"note": "\\ud800"}', "its answer is not a valid ActResponse"),
        (
            b'{"action": {"saintPoker": {"river": "\\ud800"}}}',
            "its answer is not a valid ActResponse",
        ),
        (b'{"game": -1, "choice": 0}', "its answer is not a valid ActResponse"),
        (
            b'{"action": {"poke": {"stand": {}, "draw": {}}}}',
            "its answer is not a valid ActResponse",
        ),
        (b'{"choice": 0} {"choice": 1}', "is not valid JSON: Extra data"),
        (b'{"action": {"poke": {"stand"', "is not valid JSON: Expecting"),
        (b'{"a":' * 100_000, "is nested too deep"),
        (b'{"note": "\xff"}', "is not valid JSON"),
    ],
    ids=lambda value: str(value[:24]),
)
def test_an_invalid_answer_is_described_in_a_short_error(line: bytes, clause: str) -> None:
    with pytest.raises(program_lines.Malformed) as raised:
        answered(line)
    assert clause in str(raised.value)
    assert len(str(raised.value)) < 400
    str(raised.value).encode()


def test_a_start_response_may_have_settings_or_be_empty() -> None:
    assert (
        program_lines.start_response(program_lines.read(b'{"gamesInFlight": 4}')).games_in_flight
        == 4
    )
    assert program_lines.start_response(program_lines.read(b"0")) == bot_pb2.StartResponse()
    with pytest.raises(program_lines.Malformed, match="not a valid StartResponse"):
        program_lines.start_response(program_lines.read(b'{"gamesInFlight": -4}'))


def test_lines_are_split_at_any_chunk_boundaries() -> None:
    data = b"one\n\ntwo\nthr"
    for size in range(1, len(data)):
        splitter = Splitter()
        pieces = [data[i : i + size] for i in range(0, len(data), size)]
        lines_read = [line for piece in pieces for line in splitter.feed(piece)]
        assert lines_read == [(b"one", False), (b"", False), (b"two", False)]
        assert splitter.rest() == b"thr"


def test_a_line_that_is_too_long_is_split() -> None:
    splitter = Splitter()
    pieces_read = [
        piece for _ in range(40) for piece in splitter.feed(b"x" * (MAX_LINE_BYTES // 16))
    ] + list(splitter.feed(b"end\nnext\n"))
    assert [is_rest for _, is_rest in pieces_read] == [False, True, True, False]
    assert sum(len(line) for line, _ in pieces_read[:-1]) == 40 * (MAX_LINE_BYTES // 16) + 3
    assert pieces_read[-1] == (b"next", False)


@pytest.mark.parametrize(
    ("tags", "kept"),
    [
        (["book", 3, None, "", "y" * 21], ["book"]),
        ("book", []),
        (None, []),
        ({"a": 1}, []),
        ([["a"]], []),
        (["\ud800", "b"], ["b"]),
    ],
)
def test_bad_tags_are_dropped(tags: object, kept: list[str]) -> None:
    response = answered(json.dumps({"choice": 1, "tags": tags}).encode())
    assert list(response.tags) == kept
    assert response.action.poke.HasField("draw")


ANSWER = '{"choice": 3}'


@pytest.mark.parametrize(
    "line",
    [
        codecs.BOM_UTF8 + ANSWER.encode(),
        codecs.BOM_UTF16_LE + ANSWER.encode("utf-16-le"),
        codecs.BOM_UTF16_BE + ANSWER.encode("utf-16-be"),
        # The rest of the line end of UTF-16 LE begins the next line.
        b"\0" + "3".encode("utf-16-le"),
    ],
)
def test_an_answer_in_another_encoding_is_named(line: bytes) -> None:
    assert program_lines.is_answer(line)
    with pytest.raises(program_lines.Malformed, match="UTF-8"):
        program_lines.read(line)


def test_text_in_another_encoding_stays_in_the_log() -> None:
    assert not program_lines.is_answer(codecs.BOM_UTF8 + b"loading")
    assert not program_lines.is_answer("loading".encode("utf-16"))
    assert program_lines.read(ANSWER.encode()).fields == {"choice": 3}
