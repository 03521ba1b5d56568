"""Logs of processes: lines of text, or JSON with the current match."""

import json
import logging
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextvars import copy_context
from io import StringIO

import pytest

from referee import logs

AS_JSON = {logs.VARIABLE: logs.JSON}


@pytest.fixture
def log() -> Iterator[logging.Logger]:
    logger = logging.getLogger("test.logs")
    logger.setLevel(logging.INFO)
    logger.propagate = False
    yield logger
    logger.handlers.clear()


def listen(log: logging.Logger, environment: dict[str, str]) -> StringIO:
    stream = StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(logs.formatter(environment))
    log.addHandler(handler)
    return stream


def documents(stream: StringIO) -> list[dict[str, object]]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def test_a_text_line_has_time_level_and_message(
    log: logging.Logger,
) -> None:
    stream = listen(log, {})
    with logs.bound(match="m-1"):
        log.warning("%s: stopped", "m-1")
    assert stream.getvalue().endswith(" WARNING m-1: stopped\n")


def test_a_json_line_has_its_context(log: logging.Logger) -> None:
    stream = listen(log, AS_JSON)
    with logs.bound(match="m-1", attempt=2):
        with logs.bound(table=1):
            log.info("game %d", 7)
        log.info("between")
    log.info("after")
    table, between, after = documents(stream)
    time = str(table.pop("time"))
    assert time.endswith("Z")
    assert table == {
        "event": "game 7",
        "level": "info",
        "logger": "test.logs",
        "match": "m-1",
        "attempt": 2,
        "table": 1,
    }
    assert "table" not in between
    assert between["match"] == "m-1"
    assert "match" not in after


def test_json_stays_on_one_line(log: logging.Logger) -> None:
    stream = listen(log, AS_JSON)
    try:
        raise ValueError("a\nb")
    except ValueError:
        log.exception("two\nlines")
    (line,) = documents(stream)
    assert line["event"] == "two\nlines"
    assert "ValueError: a\nb" in str(line["exception"])


def test_an_announcement_is_a_json_line_or_the_plain_sentence() -> None:
    assert logs.announcement("referee listening", {}) == "referee listening"
    line = json.loads(logs.announcement("referee listening", AS_JSON))
    assert line.pop("time").endswith("Z")
    assert line == {"event": "referee listening", "level": "info", "logger": "referee"}


def test_a_thread_with_a_copied_context_logs_it(log: logging.Logger) -> None:
    stream = listen(log, AS_JSON)
    with logs.bound(match="m-1"):
        thread = threading.Thread(target=copy_context().run, args=(log.info, "renewed"))
    thread.start()
    thread.join()
    assert documents(stream)[0]["match"] == "m-1"


def test_an_unknown_log_format_is_refused() -> None:
    code = "from referee import logs; logs.set_up({'POKEARENA_LOG': 'xml'})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr == (
        'POKEARENA_LOG is "xml"; it must be "text", for people, or "json", for programs.\n'
    )


def test_text_lines_need_no_structlog() -> None:
    code = (
        "import sys; from referee import logs; logs.set_up({}); "
        "raise SystemExit('structlog' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_bot_text_in_a_log_is_escaped(log: logging.Logger) -> None:
    stream = listen(log, {})
    log.warning("gone: %s", "a\n2026-01-01 00:00:00 INFO all is well\x1b[2J\u202eevil\u200b\x9b")
    (line,) = stream.getvalue().splitlines()
    assert line.endswith(
        r" WARNING gone: a\n2026-01-01 00:00:00 INFO all is well\x1b[2J\u202eevil\u200b\x9b"
    )


def test_lines_of_a_traceback_are_indented_and_escaped(log: logging.Logger) -> None:
    stream = listen(log, {})
    try:
        raise ValueError("\u202ea\n2026-01-01 00:00:00,000 INFO all is well\x1b[2J")
    except ValueError:
        log.exception("failed")
    first, *rest = stream.getvalue().split("\n")[:-1]
    assert first.endswith(" ERROR failed")
    assert all(line.startswith("    ") for line in rest)
    assert rest[-2:] == [
        r"    ValueError: \u202ea",
        r"    2026-01-01 00:00:00,000 INFO all is well\x1b[2J",
    ]


def test_json_escapes_control_characters(log: logging.Logger) -> None:
    stream = listen(log, AS_JSON)
    log.warning("\u202e\x1b\u200b")
    assert r"\u202e\u001b\u200b" in stream.getvalue()
    assert stream.getvalue().isascii()
