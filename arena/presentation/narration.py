"""Describe recorded games: seat names, results and positions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from referee.record import GameRecord, Line
from referee.replay import position, steps

_ACTION = ("seat", "decision", "action", "ms", "note", "by")


def seat_names(game: GameRecord) -> list[str]:
    """Return the player names by seat; partners, two processes of one bot, get a seat suffix."""
    return names_of(game.game["seating"])


def names_of(names: Sequence[str]) -> list[str]:
    """Return the names by seat, with a seat suffix for names that occur twice."""
    return [name if names.count(name) == 1 else f"{name}/{seat}" for seat, name in enumerate(names)]


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
    made: dict[str, Any] | None = None
    for step in steps(match, game, seed):
        if made is not None:
            yield made
        made = {
            "match": match["match"],
            "game": game.number,
            "decision": step.decision,
            "position": position(step.state),
            "actors": list(step.state.actors),
            "actions": [{n: line[n] for n in _ACTION if n in line} for line in step.lines],
        }
    if made is not None:
        yield {**made, "result": ended}
