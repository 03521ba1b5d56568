"""Describe a recorded game as text: the deals, the actions, the result."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from dataclasses import replace

from arena.cli.output import clean
from arena.presentation.elements import Area, DominoLayout, ScoreTable, TableRendering
from arena.presentation.frames import rendered_steps
from arena.presentation.narration import result, seat_names
from arena.presentation.text import WIDTH, board_lines, lines
from referee.games.contract import Game
from referee.games.registry import find
from referee.record import GameRecord, Line
from referee.replay import in_words

_WIDEST_ACTION = 24


def title(match: Line, game: GameRecord) -> str:
    """Return the first line of a game: the match, the table, the board and the seats."""
    table, board = game.game["table"], game.game["board"]
    seats = ", ".join(f"{name} (seat {seat})" for seat, name in enumerate(game.game["seating"]))
    text = f"game {game.number} of {match['match']} · table {table}, board {board} · {seats}"
    # Older records and those of only remote bots lack the sandbox level.
    sandbox = game.game.get("sandbox")
    return f"{text} · {sandbox}" if sandbox else text


def tell(match: Line, game: GameRecord, seed: bytes, width: int = WIDTH) -> Iterator[str]:
    """Yield a game as lines of text in chronological order.

    The whole position is shown at the beginning of a chapter and at the end of the game, a layout
    of dominoes whenever it changes.
    """
    rules, names = find(match["game"]), seat_names(game)
    yield title(match, game)
    chapter = -1
    boards: tuple[DominoLayout, ...] = ()
    known: frozenset[tuple[str, ...]] = frozenset()
    for step, rendering in rendered_steps(match, game, seed):
        before, boards = boards, _boards(rendering)
        if rendering.chapter != chapter or not step.lines:
            yield from lines(_without_rows(rendering, known), width)
            known = frozenset(_rows(rendering))
        elif boards != before:
            for board in boards:
                yield from board_lines(board, names, width)
        chapter = rendering.chapter
        for line in step.lines:
            yield f"  {move(rules, line, names)}"
    for clause in faults(game):
        yield f"  ! {clause}"
    yield result(game)


def _boards(rendering: TableRendering) -> tuple[DominoLayout, ...]:
    return tuple(area for area in rendering.centre if isinstance(area, DominoLayout))


def _rows(rendering: TableRendering) -> Iterator[tuple[str, ...]]:
    """Yield the rows of the score pads."""
    for area in rendering.below:
        if isinstance(area, ScoreTable):
            yield from area.rows


def _without_rows(rendering: TableRendering, known: Container[tuple[str, ...]]) -> TableRendering:
    """Return the rendering without the rows of score pads that were shown earlier."""
    return replace(rendering, below=tuple(_shorter(area, known) for area in rendering.below))


def _shorter(area: Area, known: Container[tuple[str, ...]]) -> Area:
    if not isinstance(area, ScoreTable):
        return area
    rows = tuple(row for row in area.rows if row not in known)
    return replace(area, rows=rows, foot=area.foot if rows else ())


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
