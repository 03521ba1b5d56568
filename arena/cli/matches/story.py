"""Describe a recorded game as text: the deals, the actions, the faults, the result."""

from __future__ import annotations

import sys
from collections.abc import Container, Iterator, Sequence
from dataclasses import replace

from arena.cli import output
from arena.cli.key_input import keyboard
from arena.cli.output import clean
from arena.presentation.narration import result, seat_names
from arena.presentation.recorded_frames import rendered_steps
from referee.games.contract import Game
from referee.games.registry import find_game
from referee.numbering import counted_from_one, game_text, number_text, seat_text
from referee.presentation import text
from referee.presentation.elements import Area, DominoLayout, ScoreTable, TableRendering
from referee.presentation.registry import presentation_of
from referee.presentation.text import WIDTH, board_lines, lines
from referee.record import GameRecord, Line
from referee.replay import in_words
from referee.sanitizing import sanitized

_WIDEST_ACTION = 24
_SHOWN_ACTIONS = 12
_SHOWN_FIRST, _SHOWN_LAST = 6, 14
_KEYS = "n next · p previous · g first · e last · ] next game · [ game before · q quit"
_STEPS = {
    **dict.fromkeys(("n", " ", "\n", "\r", "l", "j", "right", "down"), 1),
    **dict.fromkeys(("p", "\x7f", "h", "k", "left", "up"), -1),
    "g": -sys.maxsize,
    "e": sys.maxsize,
}
_OTHER_GAME = {"]": 1, "[": -1}
_QUIT = ("q", "\x04")


def title(match: Line, game: GameRecord) -> str:
    """Return the first line of a game: the match, the table, the board and the seats."""
    table, board = number_text(game.game["table"]), number_text(game.game["board"])
    seats = ", ".join(
        f"{name} ({seat_text(seat)})" for seat, name in enumerate(game.game["seating"])
    )
    text = f"{game_text(game.number)} of {match['match']} · table {table}, board {board} · {seats}"
    # Older records and those of only remote bots lack the sandbox level.
    sandbox = game.game.get("sandbox")
    return f"{text} · {sandbox}" if sandbox else text


def game_lines(match: Line, game: GameRecord, seed: bytes, width: int = WIDTH) -> Iterator[str]:
    """Yield a game as lines of text in chronological order.

    The whole position is shown at the beginning of a chapter and at the end of the game, a layout
    of dominoes whenever it changes.
    """
    rules, names = find_game(match["game"]), seat_names(game)
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
    number = number_text(line["decision"])
    text = f"{number:>4}  {names[line['seat']]:<{widest}}  {action:<{_WIDEST_ACTION}}"
    if line.get("by") == "referee":
        return f"{text}  played by the referee"
    note = f"  “{clean(line['note'])}”" if line.get("note") else ""
    return f"{text}  {line['ms']:8.2f} ms{note}"


def faults(game: GameRecord) -> Iterator[str]:
    """Yield the excluded seats and the reasons."""
    names = seat_names(game)
    for fault in game.faults:
        name = names[fault["seat"]]
        sentence = counted_from_one(clean(fault["sentence"]))
        yield f"{name} is out: {fault['verdict']}, {sentence}"


def explain_fault(match: Line, fault: Line, name: str) -> Iterator[str]:
    """Yield a fault as lines of text: the sentence, the hand, the legal actions, the output.

    `match` and `fault` are lines of the record, `name` is the bot.
    """
    yield f"fault   {name}: {fault['verdict']}"
    yield f"        {counted_from_one(clean(fault['sentence']))}"
    question = fault.get("question")
    if question:
        for view in question.get("view", {}).values():
            yield f"hand    {' '.join(view.get('hand', ())) or '–'}"
        legal = [in_words(find_game(match["game"]), action) for action in question.get("legal", [])]
        # The sentence of an illegal action lists them already.
        if legal and fault["verdict"] != "illegal":
            more = " | ..." if len(legal) > _SHOWN_ACTIONS else ""
            yield f"legal   {' | '.join(legal[:_SHOWN_ACTIONS])}{more}"
    lines = sanitized(fault.get("output", "")).rstrip().splitlines()
    for number, line in enumerate(_shortened(lines)):
        yield f"{'        ' if number else 'output  '}{line}"


def _shortened(lines: list[str]) -> list[str]:
    """Return the first and last lines; in some languages the message precedes the stack trace."""
    left_out = len(lines) - _SHOWN_FIRST - _SHOWN_LAST
    if left_out <= 0:
        return lines
    return [*lines[:_SHOWN_FIRST], f"... {left_out} lines ...", *lines[-_SHOWN_LAST:]]


Page = list[str]


def pages(match: Line, game: GameRecord, seed: bytes, width: int = text.WIDTH) -> Iterator[Page]:
    """Yield every position of a game as lines of text, with the actions made in it."""
    names = seat_names(game)
    rules = find_game(match["game"])
    hidden = presentation_of(match["game"]).hidden
    heading = title(match, game)
    for step, rendering in rendered_steps(match, game, seed):
        whole = replace(rendering, below=(*rendering.below, *hidden(step.state)))
        page = [heading, *text.lines(whole, width)]
        page += [f"> {move(rules, line, names)}" for line in step.lines]
        if not step.lines:
            page += [f"! {line}" for line in faults(game)]
            page.append(result(game))
        yield page


def by_keys(match: Line, games: Sequence[GameRecord], seed: bytes) -> None:
    """Step through games by keys until a key quits."""
    game, at = 0, 0
    shown = list(pages(match, games[game], seed, output.screen().width))
    with keyboard() as next_key:
        while True:
            output.screen().clear()
            for line in shown[at]:
                output.game_line(line)
            output.hint(f"\nstep {at + 1} of {len(shown)} · {_KEYS}")
            key = next_key()
            if key in _QUIT:
                return
            if key in _OTHER_GAME:
                before, game = game, min(max(game + _OTHER_GAME[key], 0), len(games) - 1)
                if game != before:
                    at, shown = 0, list(pages(match, games[game], seed, output.screen().width))
            at = min(max(at + _STEPS.get(key, 0), 0), len(shown) - 1)
