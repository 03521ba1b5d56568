"""Explain a fault of a record to the author of the bot."""

from __future__ import annotations

from collections.abc import Iterator

from arena.cli.output import clean
from referee.games.registry import find
from referee.record import Line
from referee.replay import in_words
from referee.sanitizing import sanitized

_SHOWN_ACTIONS = 12
_SHOWN_FIRST, _SHOWN_LAST = 6, 14


def explain(match: Line, fault: Line, name: str) -> Iterator[str]:
    """Yield a fault as lines of text: the sentence, the hand, the legal actions, the output.

    Args:
        match: the match line of the record.
        fault: its fault line.
        name: the bot.
    """
    yield f"fault   {name}: {fault['verdict']}"
    yield f"        {clean(fault['sentence'])}"
    question = fault.get("question")
    if question:
        for view in question.get("view", {}).values():
            yield f"hand    {' '.join(view.get('hand', ())) or '–'}"
        legal = [in_words(find(match["game"]), action) for action in question.get("legal", [])]
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
