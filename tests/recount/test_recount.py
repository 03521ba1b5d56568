"""Every game is recomputed from its page alone: legal actions, scores and places.

The recounts beside this file are written from the rules' pages by somebody who has not read
``referee/games``. Where they and the referee differ, one of them has misread a page.
"""

import hashlib
import os
import random
from collections.abc import Iterable
from dataclasses import replace
from functools import cache

import pytest
from google.protobuf.json_format import MessageToDict
from pokearena.v1 import bot_pb2

from referee.games.registry import find
from referee.record import MatchRecord, dump, read
from tests.conformance.golden import path
from tests.conformance.recorded import Choose, by_luck, match_line, play_game
from tests.conformance.tables import TABLES, Table, every_table
from tests.recount.book import May, of_one
from tests.recount.follow import BOOKS, check

MANY = int(os.environ.get("POKEARENA_RECOUNTS", "40"))
"""How many games are many."""
SLOW = {"pokino": 10, "pouku": 3}
"""Divisor for this test; Pokino has twenty tables, and long lists."""
LISTS = {"pokino": 2 * MANY}
"""Number of lists per game that this test compares; the long test compares all."""


def test_every_game_has_a_recount() -> None:
    assert {table.game.id for table in TABLES} == set(BOOKS)


@every_table
def test_golden_records_are_recounted(table: Table) -> None:
    record = read(path(table).read_text())
    assert record.seed is not None
    # By the same luck the same is played, so the other games of a match are alike.
    check(record.match, record.games[0], record.seed)


@every_table
def test_games_are_recounted(table: Table) -> None:
    follow_games(table, [1], most=20)


@pytest.mark.long
@pytest.mark.timeout(600)
@every_table
def test_many_games_are_recounted(table: Table) -> None:
    most = LISTS.get(table.game.id, 10_000)
    follow_games(table, range(MANY // SLOW.get(table.game.id, 1)), most)


@pytest.mark.parametrize(("teams", "reference"), [(False, "left"), (True, "right")])
def test_games_with_other_tables_of_points_are_recounted(teams: bool, reference: str) -> None:
    """Pouku's values are options; points alone may be enough, and a pair be dearer than a three."""
    pouku = find("pouku")
    values = {"pair": 4, "three": 1, "straight": 0, "four": 0, "point": 5, "four_yaku": 6}
    settled = pouku.settle({"teams": teams, "reference": reference, "first_turn": 3, **values})
    follow_games(Table(pouku, 4, tuple(settled.items())), [1, 5], most=20)


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


def by_kind(question: bot_pb2.ActRequest) -> bot_pb2.Action:
    """One of the kinds of action that are listed, then one of that kind, by the luck."""
    rng = random.Random(question.luck)
    kinds: dict[str, list[bot_pb2.Action]] = {}
    for action in question.legal:
        game = getattr(action, action.WhichOneof("game"))
        kinds.setdefault(game.WhichOneof("action"), []).append(action)
    return rng.choice(kinds[rng.choice(sorted(kinds))])


def mostly(place: int) -> Choose:
    """The action at a place of the list, and by luck one time in six."""

    def choose(question: bot_pb2.ActRequest) -> bot_pb2.Action:
        return by_luck(question) if question.luck % 6 == 0 else question.legal[place]

    return choose


WAYS = (by_luck, by_kind, mostly(0), mostly(-1))


@cache
def played(table: Table, number: int) -> tuple[bytes, MatchRecord, list[bytes]]:
    """A game: the seed of its match, its record, and the questions that were asked in it."""
    seed = hashlib.sha256(f"recount/{table}/{number}".encode()).digest()
    game = play_game(table, seed, 0, 0, WAYS[number % len(WAYS)])
    return seed, read(dump(match_line(table, seed, 1)) + game.record), game.questions


def follow_games(table: Table, games: Iterable[int], most: int = 10_000) -> None:
    """Plays games by the luck in the questions, and recounts them.

    Lists are compared in at most this number of questions of a game.
    """
    for number in games:
        seed, record, questions = played(table, number)
        check(record.match, record.games[0], seed, Looker(questions, most))


class Looker:
    """Compares what was listed with what may be done."""

    def __init__(self, questions: list[bytes], most: int) -> None:
        self.questions = questions
        self.every = -(-len(questions) // most)
        self.at = 0

    def __call__(self, seat: int, may: May) -> None:
        """Looks at the next question, if it is one of those to be looked at."""
        data = self.questions[self.at]
        self.at += 1
        if self.at % self.every == 0:
            question = bot_pb2.ActRequest.FromString(data)
            assert question.seat == seat
            listed_right(may, question)


def listed_right(may: May, question: bot_pb2.ActRequest) -> None:
    """Fail unless all listed actions are legal and distinct, and the list complete if marked so."""
    words = []
    for action in question.legal:
        ((_, kind_and_said),) = MessageToDict(action).items()
        words.append(of_one(kind_and_said))
    plain = {may.plain(word) for word in words}
    assert len(plain) == len(words) > 0
    assert [word for word in words if not may.allows(word)] == []
    every = may.every() if question.complete else None
    if every is not None:
        assert every - plain == set()
