"""Every game is followed by its page alone: what was legal, every score, every place.

The recounts beside this file are written from the rules' pages by somebody who has not read
``referee/games``. Where they and the referee differ, one of them has misread a page.
"""

import hashlib
import json
import random
from dataclasses import replace

import pytest
from google.protobuf.json_format import MessageToDict
from pokearena.v1 import bot_pb2

from referee.record import read
from tests.conformance.golden import path
from tests.conformance.recorded import by_luck, match_line, play_game
from tests.conformance.tables import TABLES, Table
from tests.recount.book import May, of_one
from tests.recount.follow import BOOKS, check, in_turn

TABLES_WITH_A_RECOUNT = [table for table in TABLES if table.game.id in BOOKS]

every_table = pytest.mark.parametrize("table", TABLES_WITH_A_RECOUNT, ids=str)


def test_every_game_has_a_recount() -> None:
    assert {table.game.id for table in TABLES} <= set(BOOKS)


@every_table
def test_golden_records_are_recounted(table: Table) -> None:
    record = read(path(table).read_text())
    assert record.seed is not None
    for game in record.games:
        check(record.match, game, record.seed)


@every_table
def test_games_are_recounted(table: Table) -> None:
    follow_games(table, 2)


@pytest.mark.long
@pytest.mark.timeout(1800)
@every_table
def test_many_games_are_recounted(table: Table) -> None:
    follow_games(table, 40)


@every_table
def test_a_false_record_is_found(table: Table) -> None:
    """Another score, another place, another board, an action left out."""
    record = read(path(table).read_text())
    assert record.seed is not None
    game = record.games[0]
    scores = [score + 1 for score in game.result["scores"]]
    places = [place % 2 + 1 for place in game.result["places"]]
    for false in (
        replace(game, result=game.result | {"scores": scores}),
        replace(game, result=game.result | {"places": places}),
        replace(game, game=game.game | {"board": 1}),
        replace(game, actions=game.actions[:5] + game.actions[6:]),
        replace(game, actions=(*game.actions, game.actions[-1])),
    ):
        with pytest.raises(AssertionError):
            check(record.match, false, record.seed)


def follow_games(table: Table, games: int) -> None:
    """Plays games by the luck in the questions, and recounts them and what was listed in them."""
    for number in range(games):
        seed = hashlib.sha256(f"recount/{table}/{number}".encode()).digest()
        played = play_game(table, seed, 0, 0, by_kind if number % 2 else by_luck)
        head = json.dumps(match_line(table, seed, 1)) + "\n"
        record = read(head + played.record)
        (game,) = record.games
        mays = list(in_turn(check(record.match, game, seed)))
        questions = sorted(map(bot_pb2.ActRequest.FromString, played.questions), key=decision)
        assert len(mays) == len(questions)
        for (seat, may), question in zip(mays, questions, strict=True):
            assert question.seat == seat
            assert listed_right(may, question)


def by_kind(question: bot_pb2.ActRequest) -> bot_pb2.Action:
    """One of the kinds of action that are listed, then one of that kind, by the luck."""
    rng = random.Random(question.luck)
    kinds: dict[str, list[bot_pb2.Action]] = {}
    for action in question.legal:
        game = getattr(action, action.WhichOneof("game"))
        kinds.setdefault(game.WhichOneof("action"), []).append(action)
    return rng.choice(kinds[rng.choice(sorted(kinds))])


def decision(question: bot_pb2.ActRequest) -> int:
    """The number of a question."""
    return question.decision


def listed_right(may: May, question: bot_pb2.ActRequest) -> bool:
    """Whether what was listed is legal, once each, and everything if it says so."""
    words = []
    for action in question.legal:
        ((_, kind_and_said),) = MessageToDict(action).items()
        words.append(of_one(kind_and_said))
    plain = [may.plain(word) for word in words]
    assert len(set(plain)) == len(plain) > 0
    every = may.every()
    if question.complete and every is not None:
        assert set(plain) == every
    else:
        assert all(map(may.allows, words))
    return True
