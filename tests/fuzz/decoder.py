"""Fuzz the decoder and the rules with mutated answers, as the referee would pass them on."""

from collections import Counter
from collections.abc import Iterator, Sequence
from copy import copy
from typing import Final

from google.protobuf.message import DecodeError
from pokearena.v1 import bot_pb2, referee_pb2

from referee.faults import Verdict
from referee.game_checks.tables import Table
from referee.games.shared.dealing import board_seed
from referee.record import read_games
from referee.running_game import RunningGame, TableSetting, WrongAnswer
from tests.conformance.tables import TABLES
from tests.fuzz.mutations import Mutations

NO_MESSAGE: Final = "no message"
PLAYED: Final = "played"
A_QUESTION: Final = 50
"""Messages for each question."""
LONGEST_SENTENCE: Final = 2000


class SeatSettings:
    wants_legal = True
    wants_text = False
    clock = bot_pb2.Clock(allowance_ms=200, bank_ms=10_000)


def tried() -> tuple[Table, ...]:
    """Return one default table of each game, and its largest table with all options changed."""
    last = {table.game.id: table for table in TABLES}
    first = {table.game.id: table for table in reversed(TABLES)}
    return tuple(dict.fromkeys((*first.values(), *last.values())))


def setting(table: Table) -> TableSetting:
    sides = table.game.sides(table.seats, table.options)
    return TableSetting("m-fuzz", table.game, table.codec, table.seats, table.options, sides)


def good_answers(table: Table) -> list[bytes]:
    return [
        bot_pb2.ActResponse(action=action, note="good").SerializeToString()
        for request in new_game(table, 0).asked.values()
        for action in request.question.legal[:8]
    ]


def new_game(table: Table, number: int) -> RunningGame:
    seed = board_seed(number.to_bytes(32, "big"), 0)
    play = RunningGame(setting(table), referee_pb2.Board(game=0, number=0, seed=seed))
    play.ask([SeatSettings()] * table.seats)
    return play


def fuzz(messages: int, seed: str, tables: Sequence[Table] | None = None) -> Counter[str]:
    """Fuzz the tables with this number of messages in total; count the verdicts.

    Raises:
        AssertionError: a message had no valid verdict; the error contains the message.
    """
    tables = tables or tried()
    strangers = [answer for table in tables for answer in good_answers(table)]
    verdicts: Counter[str] = Counter()
    for table in tables:
        mutations = Mutations(f"{seed}/{table}", strangers)
        for verdict in _at_table(table, mutations, messages // len(tables)):
            verdicts[verdict] += 1
    return verdicts


def _at_table(table: Table, mutations: Mutations, messages: int) -> Iterator[str]:
    number = 0
    while messages > 0:
        play = new_game(table, number)
        number += 1
        while play.result is None and messages > 0:
            for seat in list(play.asked):
                for verdict in _at_question(play, seat, mutations, min(messages, A_QUESTION)):
                    messages -= 1
                    yield verdict
            play.ask([SeatSettings()] * table.seats)
        if play.result is not None:
            read_games(play.result.record)


def _at_question(play: RunningGame, seat: int, mutations: Mutations, most: int) -> Iterator[str]:
    """Yield the verdicts of messages for one question; the last message is a valid answer.

    The others go to a copy of the game that waits for one more seat, so that a valid answer among
    them does not end the turn.
    """
    request = play.asked[seat]
    legal = request.question.legal
    waiting = copy(play)
    for number in range(most):
        good = bot_pb2.ActResponse(action=mutations.rng.choice(legal))
        if mutations.rng.random() < 0.2:
            good.game, good.decision, good.note = request.game, request.decision, "good"
        data = good.SerializeToString()
        at = play
        if number + 1 < most:
            data, at = mutations.message(data), waiting
            at.asked, at._moves, at._pending_lines = {seat: request, -1: request}, {}, []
        try:
            yield judged(at, seat, data)
        except Exception as error:
            raise AssertionError(
                f"{play.setting.game.id}, decision {request.decision}, {len(data)} bytes "
                f"{data[:2000].hex()}: {error!r}"
            ) from error


def judged(play: RunningGame, seat: int, data: bytes) -> str:
    """Return the verdict of a message as at a table, and check the fault's sentence."""
    request = play.asked[seat]
    try:
        response = bot_pb2.ActResponse.FromString(data)
    except DecodeError:
        return NO_MESSAGE
    try:
        play.answer(seat, response, 1.0)
    except WrongAnswer as error:
        wrong = error
    else:
        return PLAYED
    assert wrong.verdict in (Verdict.ILLEGAL, Verdict.PROTOCOL)
    assert play.asked[seat] is request, "a question that is not answered stays open"
    check_sentence(wrong.clause)
    return str(wrong.verdict)


def check_sentence(sentence: str) -> None:
    """Check that a sentence is short and printable."""
    assert len(sentence) <= LONGEST_SENTENCE, f"a sentence of {len(sentence)} characters"
    assert sentence.isprintable(), f"a sentence that cannot be printed: {sentence!r}"
    sentence.encode()
