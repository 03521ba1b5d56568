"""The record of every game replays to the same result."""

import json
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import pytest
from pokearena.v1 import bot_pb2

from referee.game_checks.random_games import question as sent
from referee.game_checks.recorded_matches import (
    CLOCK,
    RecordedGame,
    by_luck,
    match_line,
    match_record,
    play_game,
)
from referee.game_checks.tables import Table
from referee.games.contract import State
from referee.games.shared.dealing import board_seed, commitment, derive
from referee.record import Line, MatchRecord, read
from referee.replay import RecordedClock, position, question, steps, verify
from tests.conformance.oracles import oracle_of
from tests.conformance.tables import TABLES, every_table
from tests.examples import examples

SEED = bytes(range(100, 132))
BOARDS = 2


one_of_a_game = pytest.mark.parametrize(
    "table", {entry.game.id: entry for entry in reversed(TABLES)}.values(), ids=str
)


@lru_cache(maxsize=4)
def first_game(table: Table) -> RecordedGame:
    return play_game(table, SEED, 0, 0)


@every_table
def test_a_record_survives_writing_and_reading(table: Table) -> None:
    text = match_record(table, SEED, BOARDS)
    record = read(text)
    written = [json.loads(line) for line in text.splitlines()]
    games = "".join(game.text for game in record.games).splitlines()
    seed = None if record.seed is None else record.seed.hex()
    read_back = [record.match, *map(json.loads, games), {"type": "seed", "seed": seed}]
    assert read_back == written


@every_table
def test_every_table_of_a_match_has_the_same_boards(table: Table) -> None:
    """The bot chooses by the question's luck, so all tables of a board have the same actions."""
    record = read(match_record(table, SEED, BOARDS))
    boards: dict[int, set[str]] = {}
    for game in record.games:
        actions = str([(line["seat"], line["action"]) for line in game.actions])
        boards.setdefault(game.game["board"], set()).add(actions + str(game.result["scores"]))
    assert [len(ends) for ends in boards.values()] == [1] * BOARDS
    assert len(set.union(*boards.values())) == BOARDS


@every_table
def test_a_replay_repeats_the_played_positions(table: Table) -> None:
    played = first_game(table)
    record = read(json.dumps(match_line(table, SEED, 1)) + "\n" + played.record)
    (game,) = record.games
    states: list[State] = []
    questions = []
    for step in steps(record.match, game, SEED):
        states.append(step.state)
        questions += [sent(table.codec, step.state, seat) for seat in step.state.actors]
    assert states[-1].actors == ()
    assert states[-1].scores == played.outcome.scores
    assert len(questions) == len(game.actions) == len(played.questions)
    for replayed, data in zip(questions, played.questions, strict=True):
        before = bot_pb2.ActRequest.FromString(data)
        again = bot_pb2.ActRequest.FromString(replayed)
        assert (before.seat, before.view, list(before.legal), before.complete) == (
            again.seat,
            again.view,
            list(again.legal),
            again.complete,
        )


@every_table
def test_every_question_of_a_record_can_be_repeated(table: Table) -> None:
    played = first_game(table)
    record = read(json.dumps(match_line(table, SEED, 1)) + "\n" + played.record)
    rights = [RecordedClock(CLOCK) for _ in range(table.seats)]
    for decision in range(
        0, len(played.questions), max(9, len(played.questions) // examples(20, 6))
    ):
        again = question(record.match, record.games[0], SEED, decision, rights)
        assert again.request.SerializeToString() == (
            bot_pb2.ActRequest.FromString(played.questions[decision]).SerializeToString()
        )


@every_table
def test_questions_are_numbered_and_have_distinct_luck(table: Table) -> None:
    """The numbers follow docs/reference/dealing.md."""
    played = play_game(table, SEED, 3, 1)
    messages = [bot_pb2.ActRequest.FromString(data) for data in played.questions]
    assert [message.decision for message in messages] == list(range(len(messages)))
    assert {(message.game, message.match) for message in messages} == {(3, "m-golden")}
    for message in messages:
        start = derive(board_seed(SEED, 1), "luck", message.seat)[:8]
        assert message.luck == (int.from_bytes(start, "big") + message.decision) % 2**64
    assert len({message.luck for message in messages}) == len(messages)


@every_table
def test_a_bot_without_listed_actions_gets_the_same_questions(table: Table) -> None:
    listed = first_game(table)
    requests = iter([bot_pb2.ActRequest.FromString(data) for data in listed.questions])

    def choose(request: bot_pb2.ActRequest) -> bot_pb2.Action:
        before = next(requests)
        assert request.view == before.view
        assert (list(request.legal), request.complete) == ([], False)
        return by_luck(before)

    unlisted = play_game(table, SEED, 0, 0, choose, legal=False)
    assert unlisted.record == listed.record


@every_table
def test_every_position_of_a_record_can_be_shown_in_full(table: Table) -> None:
    """The position contains every card of the game, as plain JSON."""
    record = read(match_record(table, SEED, BOARDS))
    oracle = oracle_of(table)
    for step in steps(record.match, record.games[0], SEED):
        shown = position(step.state)
        text = json.dumps(shown)
        assert json.loads(text) == shown
        assert "luck" not in shown
        assert all(f'"{card}"' in text for card in oracle.cards(step.state))


Change = Callable[[list[Line]], object]


def at(lines: list[Line], kind: str, number: int = 0) -> int:
    """Return the index of a line of a type; a negative number counts from the end."""
    return [place for place, line in enumerate(lines) if line["type"] == kind][number]


def one_more(lines: list[Line]) -> None:
    place = at(lines, "result")
    lines.insert(place, {**lines[place - 1], "decision": lines[place - 1]["decision"] + 1})


def game_twice(lines: list[Line]) -> None:
    first = lines[at(lines, "game") : at(lines, "result") + 1]
    lines[-1:-1] = first


def line(lines: list[Line], kind: str, number: int = 0) -> Any:
    return lines[at(lines, kind, number)]


CHANGES: dict[str, Change] = {
    "a point more": lambda lines: line(lines, "result")["scores"].append(
        line(lines, "result")["scores"].pop() + 1
    ),
    "other places": lambda lines: line(lines, "result").update(
        places=[1 + len(lines[0]["entrants"]) - n for n in line(lines, "result")["places"]]
    ),
    "no scores": lambda lines: line(lines, "result").update(scores=None),
    "another seed": lambda lines: lines[-1].update(seed="00" * 32),
    "another seed and commitment": lambda lines: (
        lines[-1].update(seed="00" * 32),
        lines[0].update(commitment=commitment(bytes(32))),
    ),
    "another seat": lambda lines: line(lines, "action").update(
        seat=line(lines, "action")["seat"] + 1
    ),
    "an action without content": lambda lines: line(lines, "action", 5).update(action={}),
    "no first action": lambda lines: lines.pop(at(lines, "action")),
    "no last action": lambda lines: lines.pop(at(lines, "result") - 1),
    "an action after the end": one_more,
    "another decision": lambda lines: line(lines, "action", 3).update(decision=99),
    "another board": lambda lines: line(lines, "game").update(board=99),
    "no last game": lambda lines: lines.__delitem__(slice(at(lines, "game", -1), -1)),
    "a game twice": game_twice,
    "no seed": lambda lines: lines.pop(),
}


def changed(text: str, change: Change) -> MatchRecord:
    lines = [json.loads(line) for line in text.splitlines()]
    change(lines)
    return read("".join(json.dumps(line) + "\n" for line in lines))


@one_of_a_game
@pytest.mark.parametrize("name", CHANGES)
def test_a_record_that_was_changed_does_not_verify(table: Table, name: str) -> None:
    problems = verify(changed(match_record(table, SEED), CHANGES[name]))
    assert problems
    assert all(sentence and "\n" not in sentence for sentence in problems)


@one_of_a_game
def test_an_action_by_the_referee_needs_a_fault(table: Table) -> None:
    by_the_referee = changed(
        match_record(table, SEED), lambda lines: line(lines, "action").update(by="referee")
    )
    assert verify(by_the_referee)
