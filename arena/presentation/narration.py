"""Describe games: seat names, results and positions of records, positions of live tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from referee.game_codec import DecodeError
from referee.games.registry import find_game
from referee.presentation.elements import PublicAction, TableRendering
from referee.presentation.question_text import rendered
from referee.presentation.registry import presentation_of
from referee.record import GameRecord, Line
from referee.replay import position, steps, view_of_json

_ACTION = ("seat", "decision", "action", "ms", "note", "by")


def seat_names(game: GameRecord) -> list[str]:
    """Return the player names by seat; partners, two processes of one bot, get a seat suffix."""
    return names_of(game.game["seating"])


def names_of(names: Sequence[str]) -> list[str]:
    """Return the names by seat, with the seat, from 1, behind names that occur twice."""
    return [
        name if names.count(name) == 1 else f"{name}/{seat}" for seat, name in enumerate(names, 1)
    ]


def result(game: GameRecord) -> str:
    """Return the result of a game as text, by bot: partners share one result."""
    seating: Sequence[str] = game.game["seating"]
    seats = {name: seating.index(name) for name in seating}
    places, scores = game.result["places"], game.result["scores"]
    first = [name for name, seat in seats.items() if places[seat] == 1]
    who = f"{first[0]} wins" if len(first) == 1 else f"{' and '.join(first)} share the first place"
    if scores is None:
        out = [
            f"{name}: {verdict}"
            for name, verdict in zip(seat_names(game), game.result["verdicts"], strict=True)
            if verdict != "finished"
        ]
        return f"result: {who}; no scores, for the game was ended by a fault ({', '.join(out)})"
    results = ", ".join(f"{name} {scores[seat]}" for name, seat in seats.items())
    return f"result: {who} · {results}"


def positions(match: Line, game: GameRecord, seed: bytes) -> Iterator[dict[str, Any]]:
    """Yield every position with the actions that follow it; the last one has the result."""
    ended = {name: game.result[name] for name in ("places", "scores", "verdicts")}
    values: dict[str, Any] | None = None
    for step in steps(match, game, seed):
        if values is not None:
            yield values
        values = {
            "match": match["match"],
            "game": game.number,
            "decision": step.decision,
            "position": position(step.state),
            "actors": list(step.state.actors),
            "actions": [{n: line[n] for n in _ACTION if n in line} for line in step.lines],
        }
    if values is not None:
        yield {**values, "result": ended}


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
        InvalidPosition: the view is not a position of this game.
    """
    rules = find_game(game)
    try:
        public = view_of_json(view)
    except DecodeError as error:
        raise InvalidPosition(f"no position of {game}: {error}") from error
    if not isinstance(public, rules.view_type):
        raise InvalidPosition(f"no position of {game}: it is one of another game")
    settled = rules.settle(options)
    try:
        return rendered(rules, settled, public, eyes, names_of(seating), actors)
    except (LookupError, ValueError) as error:
        raise InvalidPosition(
            f"no position of {game}: a field of the view has the wrong length or value"
        ) from error


def public_actions(game: str, view: Mapping[str, Any]) -> Sequence[PublicAction]:
    """Return the public actions of a game so far, in order.

    Raises:
        InvalidPosition: it is not a position of this game.
    """
    try:
        public = view_of_json(view)
        return presentation_of(game).history(public)
    except (DecodeError, LookupError, ValueError, AttributeError) as error:
        raise InvalidPosition(f"no position of {game}: {error}") from error
