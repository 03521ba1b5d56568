"""Test the messages of games of packages: their JSON, its limits, and answers by number."""

import json
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Literal

import pytest
from pokearena.v1 import bot_pb2, referee_pb2

from arena.bots.stdio import program_lines
from arena.bots.stdio.json_form import writer
from referee.faults import Verdict
from referee.game_checks.tables import Table
from referee.game_codec import DecodeError, GameCodec, MessageMismatch
from referee.games.contract import Game
from referee.games.registry import GAMES, find_game
from referee.generic_codec import (
    ACTION_BYTES,
    DEPTH,
    GenericCodec,
    action_message,
    json_of_message,
    new_codec,
    question_message,
    view_message,
)
from referee.replay import RecordedClock, view_of_json
from referee.running_game import RunningGame, TableSetting, WrongAnswer
from tests.conformance.tables import every_table
from tests.conformance.walks import walks
from tests.game_package import install_game, installed_packages

folder = pytest.fixture(installed_packages)


class Suit(str):
    """A text with a type of its own."""


@dataclass(frozen=True, slots=True)
class Pair:
    left_one: int
    right: bool = True


@dataclass(frozen=True, slots=True)
class Everything:
    whole: int
    part: float
    yes: bool
    suit: Suit
    kind: Literal["a", "b"]
    maybe: int | None
    many: tuple[int, ...]
    two: tuple[str, int]
    pair: Pair
    pairs: tuple[Pair, ...]


VALUES = [
    Everything(0, 0.0, False, Suit(""), "a", None, (), ("", 0), Pair(0), ()),
    Everything(
        1 << 60,
        -1.5e300,
        True,
        Suit('é"\n\u2028😀'),
        "b",
        -(1 << 53) - 1,
        (1, 1 << 53, -(1 << 100)),
        ("x", 3),
        Pair(1, False),
        (Pair(2), Pair(3, False)),
    ),
]


def game_of(view: type, *actions: type) -> Game:
    kind: Any = type("Fake", (Game,), {"id": "tic_tac", "view_type": view, "action_types": actions})
    kind.__abstractmethods__ = frozenset()
    game: Game = kind()
    return game


CODEC = GenericCodec(game_of(Everything, Everything, Pair))


def message(content: Any, game: str = "tic_tac") -> bot_pb2.Action:
    text = content if isinstance(content, str) else json.dumps(content)
    return bot_pb2.Action(generic=bot_pb2.GenericAction(game=game, json=text))


def refused(content: Any, game: str = "tic_tac") -> str:
    with pytest.raises(DecodeError) as error:
        CODEC.decode(message(content, game))
    clause = str(error.value)
    assert "\n" not in clause
    assert len(clause) < 1000
    return clause


@pytest.mark.parametrize("value", VALUES)
def test_every_type_of_field_survives_encoding(value: Everything) -> None:
    view = bot_pb2.View.FromString(CODEC.view(value))
    assert CODEC.decode_view(view) == value
    assert view_message(json_of_message(view)) == view
    action = bot_pb2.Action.FromString(CODEC.action(value))
    assert CODEC.decode(action) == value
    assert CODEC.decode_json(CODEC.action_json(value)) == value
    assert json.loads(CODEC.action_text(value)) == CODEC.action_json(value)
    assert action_message(CODEC.action_json(value)) == action
    CODEC.forget_games()
    assert CODEC.view(value) == view.SerializeToString()


def test_numbers_that_some_languages_cannot_read_are_texts() -> None:
    content = CODEC.action_json(VALUES[1])["ticTac"]["everything"]
    assert content["whole"] == str(1 << 60)
    assert content["many"] == [1, 1 << 53, str(-(1 << 100))]
    assert content["pair"] == {"leftOne": 1, "right": False}


@pytest.mark.parametrize(
    ("text", "game"),
    [
        *((text, "tic_tac") for text in ("", "{", "NaN", "1e999", '"\\ud800"', "9" * 5000)),
        ("[" * 900 + "]" * 900, "tic_tac"),
        ("{}", "poke"),
        ("{}", "ticTac"),
    ],
)
def test_an_answer_that_a_record_cannot_contain_as_json_is_recorded_as_text(
    text: str, game: str
) -> None:
    sent = message(text, game)
    recorded = json_of_message(sent)
    assert recorded.keys() == {"generic"}
    assert action_message(recorded) == sent


def test_an_omitted_field_has_its_default_or_is_empty() -> None:
    assert CODEC.decode(message({"pair": {}})) == Pair(0)
    assert CODEC.decode(message({"everything": {}})) == VALUES[0]


def test_a_bot_may_write_whole_numbers_in_several_forms() -> None:
    for number in (5, 5.0, "5"):
        assert CODEC.decode(message({"pair": {"leftOne": number}})) == Pair(5)


WRONG: dict[str, list[Any]] = {
    "kind": ["c", 1, None, ["a"]],
    "many": [1, "12", {}, [[]], [None]],
    "two": [[], ["x"], ["x", 1, 2], [1, "x"]],
    "pair": [None, [], {"left": 1}, {"left_one": 1}, {"right": None}, {"right": 1}],
    "part": [True, "1", "NaN"],
    "whole": [None, True, 1.5, "x", [], {}, 1e300, "1" * 41],
}
"""Values that are not valid, by the field of `Everything`."""
NO_ACTIONS: list[Any] = [
    *({}, [], None, 5, "5", "", "{", {"nope": {}}, {"pair": []}, {"pair": {}, "everything": {}}),
    *('{"everything":{"part":NaN}}', '{"everything":{"part":1e999}}', '"\\ud800"'),
    '{"everything":{"suit":"\\ud800"}}',
    '{"\\ud800\\n":1}',
    *({"everything": {name: value}} for name, values in WRONG.items() for value in values),
]


@pytest.mark.parametrize("content", NO_ACTIONS, ids=repr)
def test_json_that_is_not_an_action_is_refused(content: Any) -> None:
    refused(content)


def test_the_answer_of_a_bot_is_limited_in_size_depth_and_length_of_numbers() -> None:
    text = '{"everything":{"suit":"%s"}}'
    room = ACTION_BYTES - len(text) + 2
    assert CODEC.decode(message(text % ("x" * room)))
    refused(text % ("x" * (room + 1)))
    refused(text % ("é" * (room // 2 + 1)))
    assert CODEC.decode(message(text % ("[" * 100 + "]" * 100)))
    refused("[" * (DEPTH + 1) + "]" * (DEPTH + 1))
    refused("[" * 8000)
    refused("[" * 4000 + "]" * 4000)
    refused('{"pair":{"leftOne":%s}}' % ("9" * 41))
    refused('{"everything":{"part":0.%s}}' % ("9" * 41))
    assert CODEC.decode(message('{"pair":{"leftOne":%s}}' % ("9" * 40))) == Pair(int("9" * 40))


def test_an_action_of_another_game_is_refused() -> None:
    assert refused({"pair": {}}, "other") == "is an action of other; expected one of tic_tac"
    assert refused({"pair": {}}, "a\nb" * 1000)
    with pytest.raises(DecodeError):
        CODEC.decode(bot_pb2.Action())
    poke = bot_pb2.Action()
    poke.poke.stand.SetInParent()
    with pytest.raises(DecodeError):
        CODEC.decode(poke)
    with pytest.raises(DecodeError):
        GameCodec(find_game("poke")).decode(message({"stand": {}}, "poke"))


@pytest.mark.parametrize(
    "given", [None, 5, [], {}, {"poke": {"stand": {}}}, {"other": {"pair": {}}}]
)
def test_json_of_another_game_is_refused(given: Any) -> None:
    with pytest.raises(DecodeError):
        CODEC.decode_json(given)


@dataclass
class Unordered:
    cards: dict[str, int]


@dataclass
class Ambiguous:
    a: int | str


@dataclass
class Twice:
    left_one: int
    leftOne: int  # noqa: N815


@pytest.mark.parametrize("kind", [Unordered, Ambiguous, Twice])
def test_a_type_that_cannot_be_sent_is_an_error_of_the_game(kind: type) -> None:
    with pytest.raises(MessageMismatch):
        GenericCodec(game_of(kind, Pair))


@every_table
def test_views_and_actions_have_the_form_of_built_in_games(table: Table) -> None:
    """A game moved into a package keeps its lines, apart from the rule for large numbers."""
    generic = GenericCodec(table.game)
    for step in islice(next(walks(table, 1)), 60):
        for seat, action in step.moves.items():
            view = step.state.view(seat)
            own = bot_pb2.View.FromString(table.codec.view(view))
            sent = bot_pb2.View.FromString(generic.view(view))
            write = writer(bot_pb2.View.DESCRIPTOR)
            assert write(sent) == write(own)
            assert generic.decode_view(sent) == view
            assert generic.decode(bot_pb2.Action.FromString(generic.action(action))) == action


def race(folder: Path, monkeypatch: pytest.MonkeyPatch) -> RunningGame:
    install_game(folder, "race-a", {"race": ""})
    monkeypatch.setenv("POKEARENA_GAMES", "race-a")
    game = find_game("race")
    codec = new_codec(game)
    assert isinstance(codec, GenericCodec)
    setting = TableSetting("m", game, codec, 2, {}, (0, 1))
    return RunningGame(setting, referee_pb2.Board(game=0, number=0, seed=bytes(32)))


def test_a_game_of_a_package_is_played_by_actions_and_by_numbers(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    running = race(folder, monkeypatch)
    clock = RecordedClock(bot_pb2.Clock())
    questions = dict(running.ask((clock, clock)))
    request = questions[0].question
    act = json.loads(program_lines.act_line(request))["act"]
    assert act["view"] == {"race": {"scores": [0, 0]}}
    assert act["legal"] == [{"race": {"step": {"far": far}}} for far in (1, 2)]
    written = json_of_message(request)
    assert (written["view"], written["legal"]) == (act["view"], act["legal"])
    assert question_message(written) == request
    view = {"generic": {"game": "race", "json": request.view.generic.json}}
    assert view_of_json(view) == view_of_json(act["view"]) == running.state.view(0)
    line = program_lines.read(b'{"action":{"race":{"step":{"far":2}}}}')
    running.answer(0, program_lines.act_response(line, request), 1.0)
    assert running.answer(1, bot_pb2.ActResponse(choice=0), 1.0)
    assert list(running.ask((clock, clock))) == []
    assert running.result is not None
    assert list(running.result.scores) == [2, 1]
    assert '"action":{"race":{"step":{"far":1}}}' in running.result.record


@pytest.mark.parametrize(
    ("line", "verdict"),
    [
        ('{"race":{"step":{"far":3}}}', Verdict.ILLEGAL),
        ('{"race":{"step":{"far":"x"}}}', Verdict.PROTOCOL),
        ('{"race":{"jump":{}}}', Verdict.PROTOCOL),
        ('{"race":[]}', Verdict.PROTOCOL),
    ],
)
def test_wrong_answers_have_the_verdicts_of_built_in_games(
    folder: Path, monkeypatch: pytest.MonkeyPatch, line: str, verdict: Verdict
) -> None:
    running = race(folder, monkeypatch)
    clock = RecordedClock(bot_pb2.Clock())
    request = dict(running.ask((clock, clock)))[0].question
    parsed = program_lines.read(f'{{"action":{line}}}'.encode())
    with pytest.raises(WrongAnswer) as error:
        running.answer(0, program_lines.act_response(parsed, request), 1.0)
    assert error.value.verdict is verdict


@pytest.mark.parametrize("line", ['{"poke":{"stand":{}}}', "{}", '{"race":{},"poke":{}}', "5"])
def test_a_line_with_an_action_of_another_game_is_malformed(
    folder: Path, monkeypatch: pytest.MonkeyPatch, line: str
) -> None:
    running = race(folder, monkeypatch)
    clock = RecordedClock(bot_pb2.Clock())
    request = dict(running.ask((clock, clock)))[0].question
    parsed = program_lines.read(f'{{"action":{line}}}'.encode())
    with pytest.raises(program_lines.Malformed):
        program_lines.act_response(parsed, request)


def poke(wants_legal: bool = True) -> RunningGame:
    game = GAMES["poke"]
    setting = TableSetting("m", game, GameCodec(game), 2, game.settle({}), (0, 1))
    running = RunningGame(setting, referee_pb2.Board(game=0, number=0, seed=bytes(32)))
    clock = RecordedClock(bot_pb2.Clock(), wants_legal)
    assert dict(running.ask((clock, clock)))
    return running


def test_the_number_of_a_listed_action_is_an_answer_in_every_game() -> None:
    running = poke()
    (seat, question), *_ = running.asked.items()
    last = len(question.question.legal) - 1
    expected = running.setting.codec.decode(question.question.legal[last])
    running.answer(seat, bot_pb2.ActResponse(choice=last), 1.0)
    assert running.setting.codec.action_text(expected) in "".join(
        [*running._lines, *(line for _, line in running._pending_lines)]
    )


@pytest.mark.parametrize("wants_legal", [True, False])
def test_a_number_without_a_listed_action_is_a_protocol_fault(wants_legal: bool) -> None:
    running = poke(wants_legal)
    (seat, question), *_ = running.asked.items()
    number = len(question.question.legal)
    for response in (
        bot_pb2.ActResponse(choice=number),
        bot_pb2.ActResponse(choice=(1 << 32) - 1),
        bot_pb2.ActResponse(choice=0, action=bot_pb2.Action()),
    ):
        with pytest.raises(WrongAnswer) as error:
            running.answer(seat, response, 1.0)
        assert error.value.verdict is Verdict.PROTOCOL
    assert running.asked
