"""Play whole matches in this process with a bot that chooses by the question's luck."""

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache

from pokearena.v1 import bot_pb2, referee_pb2

from referee.game_checks.tables import Table
from referee.games.contract import Outcome
from referee.games.shared.dealing import board_seed, commitment
from referee.record import FORMAT, Line, dump, read_games
from referee.replay import RecordedClock
from referee.running_game import RunningGame, TableSetting

CLOCK = bot_pb2.Clock(allowance_ms=200, bank_ms=10_000)
MATCH = "m-golden"

Choose = Callable[[bot_pb2.ActRequest], bot_pb2.Action]


def by_luck(question: bot_pb2.ActRequest) -> bot_pb2.Action:
    """Return the listed action that the luck in the question selects."""
    return random.Random(question.luck).choice(question.legal)


@dataclass
class RecordedGame:
    """A finished game and all its questions."""

    record: str = ""
    questions: list[bytes] = field(default_factory=list)

    @property
    def outcome(self) -> Outcome:
        """Return the result in the record."""
        (game,) = read_games(self.record)
        return Outcome(tuple(game.result["scores"]), tuple(game.result["places"]))


def setting(table: Table) -> TableSetting:
    """Return the table's setting for the referee."""
    sides = table.game.sides(table.seats, table.options)
    return TableSetting(MATCH, table.game, table.codec, table.seats, table.options, sides)


def play_game(
    table: Table, seed: bytes, game: int, board: int, choose: Choose = by_luck, legal: bool = True
) -> RecordedGame:
    """Play one game of the match with this seed; ``legal``: whether legal actions are listed."""
    order = referee_pb2.Board(game=game, number=board, seed=board_seed(seed, board))
    play = RunningGame(setting(table), order)
    rights = [RecordedClock(CLOCK, legal) for _ in range(table.seats)]
    played = RecordedGame()
    while questions := dict(play.ask(rights)):
        for seat, waiting in questions.items():
            played.questions.append(waiting.data)
            question = bot_pb2.ActRequest.FromString(waiting.data)
            play.answer(seat, bot_pb2.ActResponse(action=choose(question)), 0.0)
    assert play.result is not None
    played.record = play.result.record
    return played


def match_line(table: Table, seed: bytes, boards: int) -> Line:
    """Return the first line of a match's record."""
    entrants = max(table.game.sides(table.seats, table.options)) + 1
    return {
        "type": "match",
        "format": FORMAT,
        "match": MATCH,
        "game": table.game.id,
        "options": table.options,
        "seats": table.seats,
        "boards": boards,
        "commitment": commitment(seed),
        "entrants": [[f"luck{number}@1", "0" * 64] for number in range(entrants)],
        "clock": {"start_ms": 10_000, "allowance_ms": 200, "bank_ms": 10_000},
        "policy": "lenient",
        "tournament": None,
        "round": 0,
        "number": 0,
    }


@lru_cache(maxsize=64)
def match_record(table: Table, seed: bytes, boards: int = 1) -> str:
    """Return the record of a whole match: every seating plays every board."""
    return new_match_record(table, seed, boards)


def new_match_record(table: Table, seed: bytes, boards: int = 1) -> str:
    """Play a whole match and return its record."""
    return "".join(lines(table, seed, boards))


def lines(table: Table, seed: bytes, boards: int) -> Iterator[str]:
    """Yield the record of a match in pieces."""
    head = match_line(table, seed, boards)
    yield dump(head)
    names = [name for name, _ in head["entrants"]]
    sides = table.game.sides(table.seats, table.options)
    for turn in range(len(names)):
        for board in range(boards):
            game = turn * boards + board
            _, rest = play_game(table, seed, game, board).record.split("\n", 1)
            seating = [names[(side + turn) % len(names)] for side in sides]
            line = {"type": "game", "game": game, "table": turn, "board": board}
            yield dump(line | {"seating": seating})
            yield rest
    yield dump({"type": "seed", "seed": seed.hex()})
