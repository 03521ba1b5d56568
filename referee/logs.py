"""How the processes of an arena log: lines for people or, where POKEARENA_LOG says so, JSON.

What somebody works on is bound, for as long as it takes, and stands in every line of JSON that is
logged meanwhile: which match, which attempt, which table. The lines for people say it in words
where it matters.
"""

from __future__ import annotations

import contextlib
import copy
import logging
import os
import sys
from collections.abc import Iterator, Mapping
from contextvars import ContextVar
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from referee.sanitizing import one_line, sanitized

if TYPE_CHECKING:
    from structlog.typing import EventDict

VARIABLE: Final = "POKEARENA_LOG"
TEXT, JSON = "text", "json"
TABLE: Final = "pokearena-table"
"""The metadata by which the referee is told the number of a table, for its log."""
_LINE: Final = "%(asctime)s %(levelname)s %(message)s"
_USAGE: Final = 2

_bound: ContextVar[Mapping[str, object]] = ContextVar("bound", default=MappingProxyType({}))


@contextlib.contextmanager
def bound(**words: object) -> Iterator[None]:
    """Has every line that is logged in the block, in this thread or task, say this too."""
    token = _bound.set({**_bound.get(), **words})
    try:
        yield
    finally:
        _bound.reset(token)


def wrong(environment: Mapping[str, str] = os.environ) -> str:
    """What is wrong with POKEARENA_LOG, as a sentence; empty if nothing is."""
    said = environment.get(VARIABLE) or TEXT
    if said in (TEXT, JSON):
        return ""
    return f'{VARIABLE} is "{said}"; it must be "{TEXT}", for people, or "{JSON}", for programs.'


def formatter(environment: Mapping[str, str] = os.environ) -> logging.Formatter:
    """What makes a line of what is logged. Anything but `JSON` in POKEARENA_LOG is text."""
    if environment.get(VARIABLE) != JSON:
        return _TextFormatter(_LINE)
    # It takes 0.1 s to import, and few want it.
    from structlog import processors, stdlib

    return stdlib.ProcessorFormatter(
        foreign_pre_chain=[
            stdlib.add_log_level,
            stdlib.add_logger_name,
            processors.TimeStamper(fmt="iso", utc=True, key="time"),
            _with_bound,
        ],
        processors=[
            stdlib.ProcessorFormatter.remove_processors_meta,
            processors.format_exc_info,
            processors.JSONRenderer(default=str),
        ],
    )


class _TextFormatter(logging.Formatter):
    """Formats entries so that what bots sent adds no entry and does not act on a terminal.

    Line ends in a message are spelled out. The lines of a traceback are indented, so none of them
    can be taken for another entry.
    """

    def format(self, record: logging.LogRecord) -> str:
        """Return the entry: its line, and the traceback if there is one."""
        shown = copy.copy(record)
        shown.msg, shown.args = one_line(record.getMessage()), None
        return "\n    ".join(map(sanitized, super().format(shown).split("\n")))


def announcement(sentence: str, environment: Mapping[str, str] = os.environ) -> str:
    """A line of the referee's that others wait for: the sentence alone, or in JSON as it logs."""
    if environment.get(VARIABLE) != JSON:
        return sentence
    record = logging.LogRecord("referee", logging.INFO, "", 0, sentence, None, None)
    return formatter(environment).format(record)


def set_up(environment: Mapping[str, str] = os.environ) -> None:
    """Has this process log on its standard error. A POKEARENA_LOG that is wrong ends it."""
    sentence = wrong(environment)
    if sentence:
        print(sentence, file=sys.stderr)
        raise SystemExit(_USAGE)
    handler = logging.StreamHandler()
    handler.setFormatter(formatter(environment))
    logging.basicConfig(level=logging.INFO, handlers=[handler])


def _with_bound(logger: object, method: str, event: EventDict) -> EventDict:
    return {**_bound.get(), **event}
