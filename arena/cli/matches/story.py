"""Describe a recorded game as text: the deals, the actions, the result."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from arena.cli.output import clean
from arena.cli.pictures.registry import Picture, picture_of
from arena.presentation.narration import result, seat_names
from referee.games.contract import Game
from referee.games.registry import find
from referee.record import GameRecord, Line
from referee.replay import Step, in_words, steps

_WIDEST_ACTION = 24


def title(match: Line, game: GameRecord) -> str:
    """Return the first line of a game: the match, the table, the board and the seats."""
    table, board = game.game["table"], game.game["board"]
    seats = ", ".join(f"{name} (seat {seat})" for seat, name in enumerate(game.game["seating"]))
    text = f"game {game.number} of {match['match']} · table {table}, board {board} · {seats}"
    # Older records and those of only remote bots lack the sandbox level.
    sandbox = game.game.get("sandbox")
    return f"{text} · {sandbox}" if sandbox else text


def chapters(
    picture: Picture, all_steps: Iterable[Step]
) -> Iterator[tuple[Step, int | None, bool]]:
    """Yield each step with the chapter that ended before it, if any, and whether one begins."""
    chapter: int | None = None
    for step in all_steps:
        now = picture.chapter(step.state)
        goes_on = now == chapter
        over = not step.state.actors
        ended = chapter is not None and (over or not goes_on)
        yield step, chapter if ended else None, not (goes_on or over)
        chapter = now


def tell(match: Line, game: GameRecord, seed: bytes) -> Iterator[str]:
    """Yield a game as lines of text in chronological order."""
    names = seat_names(game)
    picture = picture_of(match["game"])
    yield title(match, game)
    lying: list[str] = []
    for step, ended, begins in chapters(picture, steps(match, game, seed)):
        lay, lying = lying, picture.table(step.state)
        if lying != lay and not begins:
            yield from lying
        if ended is not None:
            yield from picture.closing(step.state, ended, names)
        if begins:
            yield from picture.opening(step.state, names)
        for line in step.lines:
            yield f"  {move(find(match['game']), line, names)}"
    for clause in faults(game):
        yield f"  ! {clause}"
    yield result(game)


def move(game: Game, line: Line, names: Sequence[str]) -> str:
    """Return one action: its decision, the actor, the action, its duration and the bot's note."""
    widest = max(map(len, names))
    action = in_words(game, line["action"])
    text = f"{line['decision']:>4}  {names[line['seat']]:<{widest}}  {action:<{_WIDEST_ACTION}}"
    if line.get("by") == "referee":
        return f"{text}  played by the referee"
    note = f"  “{clean(line['note'])}”" if line.get("note") else ""
    return f"{text}  {line['ms']:8.2f} ms{note}"


def faults(game: GameRecord) -> Iterator[str]:
    """Yield the excluded seats and the reasons."""
    names = seat_names(game)
    for fault in game.faults:
        name = names[fault["seat"]]
        yield f"{name} is out: {fault['verdict']}, {clean(fault['sentence'])}"
