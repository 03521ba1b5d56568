"""Replay the games of a record with the recounts."""

from collections.abc import Callable, Iterator
from typing import Any

from referee.games.shared.dealing import Seeded, board_seed
from referee.record import GameRecord, Line
from tests.recount import poke, pokex, pokino, pouku, saint_poker
from tests.recount.recount_contract import Asked, Book, GameResult, LegalActions, places, word_of

Look = Callable[[int, LegalActions], None]
"""Receives an acting seat and its legal actions."""

BOOKS: dict[str, Book] = {
    "poke": poke.recount,
    "pokex": pokex.recount,
    "pokino": pokino.recount,
    "pouku": pouku.recount,
    "saint_poker": saint_poker.recount,
}


def sides(match: Line) -> list[int]:
    """Return the side of each seat; partners sit opposite each other."""
    seats = int(match["seats"])
    partners = seats == 4 and (match["game"] == "pokex" or match["options"].get("teams", False))
    return [seat % 2 if partners else seat for seat in range(seats)]


def follow(match: Line, game: GameRecord, seed: bytes) -> Iterator[Asked | GameResult]:
    """Yield the legal actions of each turn by seat, then the end of the game.

    Raises:
        AssertionError: an action is illegal according to the rules page, or the record has too few
            or too many actions.
    """
    luck = Seeded(board_seed(seed, game.game["board"]))
    recount = BOOKS[match["game"]](luck, match["seats"], match["options"])
    rest = iter(game.actions)
    questions = next(recount)
    try:
        while True:
            yield questions
            questions = recount.send(
                {seat: statement(next(rest, {}), seat, questions) for seat in sorted(questions)}
            )
    except StopIteration as stop:
        end = stop.value
    assert list(rest) == []
    yield end


def statement(line: Line, seat: int, questions: Asked) -> Any:
    assert line.get("seat") == seat, line
    ((_, kind_and_said),) = line["action"].items()
    word = word_of(kind_and_said)
    assert questions[seat].allows(word), line
    return word


def check(match: Line, game: GameRecord, seed: bytes, look: Look | None = None) -> None:
    """Replay a game and compare its end with the recorded result.

    Args:
        match: the first line of the record.
        game: the game.
        seed: the seed of the match.
        look: receives every acting seat and its legal actions, before the action.
    """
    for step in follow(match, game, seed):
        if isinstance(step, GameResult):
            assert game.result["scores"] == step.scores
            assert game.result["places"] == places(step.scores, sides(match), step.winner)
        elif look is not None:
            for seat in sorted(step):
                look(seat, step[seat])
