"""A position as somebody at the table sees it: what everybody knows, or one seat."""

from collections.abc import Mapping, Sequence
from typing import Any

from arena.presentation.elements import Scene, Table
from arena.presentation.games.registry import draw
from arena.presentation.narration import names_of
from referee.codec import DecodeError
from referee.games.contract import View
from referee.games.registry import find
from referee.replay import view_of_json


class NoPosition(ValueError):
    """What was told is no position of this game. Its text is a sentence for people."""


def live(
    game: str,
    options: Mapping[str, object],
    view: Mapping[str, Any],
    seating: Sequence[str],
    actors: Sequence[int],
    eyes: int | None = None,
) -> Scene:
    """The scene, no hand open but that of a seat through whose eyes it is seen.

    Args:
        game: the game's id.
        options: those of the match.
        view: what is public, or what the seat sees, as the JSON form of the protocol's ``View``.
        seating: who sits where.
        actors: the seats that act now.
        eyes: whose view it is; None if it is that of those who only watch.

    Raises:
        NoPosition: it is none.
    """
    rules = find(game)
    try:
        public = view_of_json(view)
    except DecodeError as error:
        raise NoPosition(f"no position of {game}: {error}") from error
    if not isinstance(public, rules.view_type):
        raise NoPosition(f"no position of {game}: it is one of another game")
    seats = len(seating)
    sides = rules.sides(seats, rules.settle(options))
    table = Table(tuple(names_of(seating)), sides, _scores(game, public, seats), tuple(actors))
    return draw(game, public, {} if eyes is None else {eyes: public}, table)


def _scores(game: str, public: View, seats: int) -> tuple[int, ...]:
    """The score of every seat, which every game has under a name of its own."""
    if game == "poke":
        return tuple(public.above)
    if game == "pokex":
        return tuple(public.points) * (seats // 2)
    return tuple(getattr(public, "scores", (0,) * seats))
