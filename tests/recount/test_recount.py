"""Recompute every game from its rules page alone: legal actions, scores and places.

The recounts in this folder were written from the rules pages without knowledge of
``referee/games``. A difference means that one of the two implementations misread a page.
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

from referee.game_checks.recorded_matches import Choose, by_luck, match_line, play_game
from referee.game_checks.tables import Table
from referee.games.registry import find_game
from referee.record import MatchRecord, dump, read
from tests.conformance.golden import path
from tests.conformance.tables import TABLES, every_table, every_table_of_extremes
from tests.recount.record_replay import BOOKS, check
from tests.recount.recount_contract import LegalActions, word_of

MANY = int(os.environ.get("POKEARENA_RECOUNTS", "40"))
"""Number of games in the long test."""
QUICK = 8
"""Number of games in the quick test, except for the slow ones."""
SLOW = {"pokino": 10, "pouku": 3}
"""Divisor of the number of games; Pokino has twenty tables, and long lists of actions."""
LISTS = {"pokino": 2 * MANY}
"""Number of lists per game that this test compares; the long test compares all."""


def test_every_game_has_a_recount() -> None:
    assert {table.game.id for table in TABLES} == set(BOOKS)


@every_table
def test_golden_records_match_the_recount(table: Table) -> None:
    record = read(path(table).read_text())
    assert record.seed is not None
    # The bot chooses by the question's luck, so the other games of the match are similar.
    check(record.match, record.games[0], record.seed)


@every_table_of_extremes
def test_games_match_the_recount(table: Table) -> None:
    number = 1 if table.game.id in SLOW else QUICK
    follow_games(table, range(1, 1 + number), most=20)


@pytest.mark.long
@pytest.mark.timeout(600)
@every_table
def test_many_games_match_the_recount(table: Table) -> None:
    most = LISTS.get(table.game.id, 10_000)
    follow_games(table, range(MANY // SLOW.get(table.game.id, 1)), most)


@pytest.mark.parametrize(("teams", "reference"), [(False, "left"), (True, "right")])
def test_games_with_other_point_values_match_the_recount(teams: bool, reference: str) -> None:
    """Pouku's values are options: points alone may suffice, and a pair may be worth more than a
    three."""
    pouku = find_game("pouku")
    values = {"pair": 4, "three": 1, "straight": 0, "four": 0, "point": 5, "four_yaku": 6}
    settled = pouku.settle({"teams": teams, "reference": reference, "first_turn": 3, **values})
    follow_games(Table(pouku, 4, tuple(settled.items())), [1, 5], most=20)


@every_table
def test_a_false_record_is_found(table: Table) -> None:
    """Change scores, places and the board, remove an action, and repeat an action."""
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
    """Choose one of the listed types of action, then an action of that type, by the question's
    luck."""
    rng = random.Random(question.luck)
    kinds: dict[str, list[bot_pb2.Action]] = {}
    for action in question.legal:
        game = getattr(action, action.WhichOneof("game") or "")
        kinds.setdefault(game.WhichOneof("action"), []).append(action)
    return rng.choice(kinds[rng.choice(sorted(kinds))])


def mostly(place: int) -> Choose:
    """Return a bot that chooses the listed action at a place, and a random one one time in six."""

    def choose(question: bot_pb2.ActRequest) -> bot_pb2.Action:
        return by_luck(question) if question.luck % 6 == 0 else question.legal[place]

    return choose


WAYS = (by_luck, by_kind, mostly(0), mostly(-1))


@cache
def played(table: Table, number: int) -> tuple[bytes, MatchRecord, list[bytes]]:
    """Play a game; return the seed of its match, its record and its questions."""
    seed = hashlib.sha256(f"recount/{table}/{number}".encode()).digest()
    game = play_game(table, seed, 0, 0, WAYS[number % len(WAYS)])
    return seed, read(dump(match_line(table, seed, 1)) + game.record), game.questions


def follow_games(table: Table, games: Iterable[int], most: int = 10_000) -> None:
    """Play games and recount them.

    Args:
        table: the table.
        games: the numbers of the games.
        most: compare the listed actions of at most this number of questions per game.
    """
    for number in games:
        seed, record, questions = played(table, number)
        check(record.match, record.games[0], seed, LegalActionsCheck(questions, most))


class LegalActionsCheck:
    """Compares the listed actions of questions with the recount's legal actions."""

    def __init__(self, questions: list[bytes], most: int) -> None:
        self.questions = questions
        self.every = -(-len(questions) // most)
        self.at = 0

    def __call__(self, seat: int, may: LegalActions) -> None:
        """Compare the next question, or skip it."""
        data = self.questions[self.at]
        self.at += 1
        if self.at % self.every == 0:
            question = bot_pb2.ActRequest.FromString(data)
            assert question.seat == seat
            listed_right(may, question)


def listed_right(may: LegalActions, question: bot_pb2.ActRequest) -> None:
    """Fail unless all listed actions are legal and distinct, and the list complete if marked so."""
    words = []
    for action in question.legal:
        ((_, kind_and_said),) = MessageToDict(action).items()
        words.append(word_of(kind_and_said))
    plain = {may.plain(word) for word in words}
    assert len(plain) == len(words) > 0
    assert [word for word in words if not may.allows(word)] == []
    every = may.every() if question.complete else None
    if every is not None:
        assert every - plain == set()
