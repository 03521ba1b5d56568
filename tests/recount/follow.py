"""Follows the games of a record with the recounts."""

from collections.abc import Iterable, Iterator
from typing import Any

from referee.dealing import Seeded, board_seed
from referee.record import GameRecord, Line
from tests.recount import poke, pokex, pokino, pouku, saint_poker
from tests.recount.book import Asked, Book, End, of_one, places

BOOKS: dict[str, Book] = {
    "poke": poke.recount,
    "pokex": pokex.recount,
    "pokino": pokino.recount,
    "pouku": pouku.recount,
    "saint_poker": saint_poker.recount,
}


def sides(match: Line) -> list[int]:
    """The side of each seat: partners sit opposite."""
    seats = int(match["seats"])
    partners = seats == 4 and (match["game"] == "pokex" or match["options"].get("teams", False))
    return [seat % 2 if partners else seat for seat in range(seats)]


def follow(match: Line, game: GameRecord, seed: bytes) -> Iterator[Asked | End]:
    """Every question of a game, by seat, with what may be done; then how the game ends.

    Raises:
        AssertionError: what was done is not legal by the page, or its scores and places are not
            those of the result.
    """
    luck = Seeded(board_seed(seed, game.game["board"]))
    recount = BOOKS[match["game"]](luck, match["seats"], match["options"])
    rest = iter(game.actions)
    asked = next(recount)
    try:
        while True:
            yield asked
            asked = recount.send(
                {seat: said(next(rest, {}), seat, asked) for seat in sorted(asked)}
            )
    except StopIteration as stop:
        end = stop.value
    assert list(rest) == []
    yield end


def said(line: Line, seat: int, asked: Asked) -> Any:
    """What a line of the record says that this seat did."""
    assert line.get("seat") == seat, line
    ((_, kind_and_said),) = line["action"].items()
    word = of_one(kind_and_said)
    assert asked[seat].allows(word), line
    return word


def check(match: Line, game: GameRecord, seed: bytes) -> list[Asked]:
    """All that was asked in a game, which must end as its result says."""
    *asked, end = follow(match, game, seed)
    assert isinstance(end, End)
    assert game.result["scores"] == end.scores
    assert game.result["places"] == places(end.scores, sides(match), end.winner)
    return [one for one in asked if not isinstance(one, End)]


def in_turn(asked: Iterable[Asked]) -> Iterator[tuple[int, Any]]:
    """Seats and what they may do, in the order of their decisions."""
    for one in asked:
        for seat in sorted(one):
            yield seat, one[seat]
