"""Render a position from a public view or from the view of one seat."""

from collections.abc import Mapping, Sequence
from typing import Any

from arena.presentation.elements import Players, TableRendering
from arena.presentation.narration import names_of
from arena.presentation.registry import presentation_of
from referee.game_codec import DecodeError
from referee.games.registry import find
from referee.replay import view_of_json


class InvalidPosition(ValueError):
    """The data is not a position of this game. The text is a user-facing sentence."""


def render_view(
    game: str,
    options: Mapping[str, object],
    view: Mapping[str, Any],
    seating: Sequence[str],
    actors: Sequence[int],
    eyes: int | None = None,
) -> TableRendering:
    """Return the rendering; at most the hand of the seat `eyes` is open.

    Args:
        game: the game's id.
        options: the options of the match.
        view: a public view or a seat's view, in the JSON form of the protocol's ``View``.
        seating: names of the players by seat.
        actors: the seats that act now.
        eyes: the seat whose view it is; None for a public view.

    Raises:
        NoPosition: the view is not a position of this game.
    """
    rules = find(game)
    try:
        public = view_of_json(view)
    except DecodeError as error:
        raise InvalidPosition(f"no position of {game}: {error}") from error
    if not isinstance(public, rules.view_type):
        raise InvalidPosition(f"no position of {game}: it is one of another game")
    seats = len(seating)
    sides = rules.sides(seats, rules.settle(options))
    presentation = presentation_of(game)
    try:
        scores = presentation.scores(public, seats)
        table = Players(tuple(names_of(seating)), sides, scores, tuple(actors))
        return presentation.render(public, {} if eyes is None else {eyes: public}, table)
    except (LookupError, ValueError) as error:
        raise InvalidPosition(
            f"no position of {game}: a field of the view has the wrong length or value"
        ) from error
