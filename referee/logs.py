"""Configure logging: text lines or, if POKEARENA_LOG is ``json``, JSON lines.

With POKEARENA_LOG_TO=stdout the lines of all services are on one standard output, and text lines
have the name and id of their process.

Context such as match, attempt and table is bound for a block of code. Each JSON line logged in the
block contains it. Text lines mention it in their message where it matters.
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
TARGET: Final = "POKEARENA_LOG_TO"
"""Environment variable that selects where services log: to files (the default) or `stdout`."""
FILES, STDOUT = "files", "stdout"
_LINE: Final = "%(asctime)s %(levelname)s %(message)s"
_LINE_OF_MANY: Final = "%(asctime)s %(levelname)s %(name)s[%(process)d]: %(message)s"
_USAGE: Final = 2

_bound: ContextVar[Mapping[str, object]] = ContextVar("bound", default=MappingProxyType({}))


@contextlib.contextmanager
def bound(**words: object) -> Iterator[None]:
    """Add fields to every line logged in the block, in this thread or task."""
    token = _bound.set({**_bound.get(), **words})
    try:
        yield
    finally:
        _bound.reset(token)


def setting_error(environment: Mapping[str, str] = os.environ) -> str:
    """Return the error in the settings of the log as a sentence; empty if they are valid."""
    form, target = environment.get(VARIABLE) or TEXT, environment.get(TARGET) or FILES
    if form not in (TEXT, JSON):
        return (
            f'{VARIABLE} is "{form}"; it must be "{TEXT}", for people, or "{JSON}", for programs.'
        )
    if target not in (FILES, STDOUT):
        return f'{TARGET} is "{target}"; it must be "{FILES}" or "{STDOUT}".'
    return ""


def formatter(environment: Mapping[str, str] = os.environ) -> logging.Formatter:
    """Return a JSON formatter if POKEARENA_LOG is `JSON`, otherwise a text formatter."""
    if environment.get(VARIABLE) != JSON:
        return _TextFormatter(_LINE_OF_MANY if environment.get(TARGET) == STDOUT else _LINE)
    # The import takes 0.1 s, and few processes use JSON.
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
    """Formats entries so that untrusted text cannot add entries or control a terminal.

    Line ends in a message are escaped. Lines of a traceback are indented, so that they cannot be
    mistaken for other entries.
    """

    def format(self, record: logging.LogRecord) -> str:
        """Return the entry: its line and the traceback, if any."""
        shown = copy.copy(record)
        shown.msg, shown.args = one_line(record.getMessage()), None
        return "\n    ".join(map(sanitized, super().format(shown).split("\n")))


def announcement(sentence: str, environment: Mapping[str, str] = os.environ) -> str:
    """Format a line of the referee that other programs wait for: as text or a JSON log entry."""
    if environment.get(VARIABLE) != JSON:
        return sentence
    record = logging.LogRecord("referee", logging.INFO, "", 0, sentence, None, None)
    return formatter(environment).format(record)


def set_up(environment: Mapping[str, str] = os.environ) -> None:
    """Log on standard error; exit with status 2 if a setting of the log is not valid."""
    sentence = setting_error(environment)
    if sentence:
        print(sentence, file=sys.stderr)
        raise SystemExit(_USAGE)
    handler = logging.StreamHandler()
    handler.setFormatter(formatter(environment))
    logging.basicConfig(level=logging.INFO, handlers=[handler])


def _with_bound(logger: object, method: str, event: EventDict) -> EventDict:
    return {**_bound.get(), **event}
