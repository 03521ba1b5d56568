"""Analyse the newest closed matches in idle workers, and store the result for the replay pages."""

from __future__ import annotations

import functools
import logging
import os
import resource
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, Final

from arena import config
from arena.queue.worker import IdlePermission, IdleWork
from arena.store import analyses
from arena.store.matches import results
from referee import logs

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from arena.records.analysis.engine import Engine as SearchEngine

_CPU_SECONDS: Final = 120
"""The kernel ends an analysis that takes more CPU time; the usual ones take at most 20 s."""

log = logging.getLogger("arena.worker")


def idle_work(engine: Engine, environment: Mapping[str, str]) -> IdleWork | None:
    """Return the idle work of a worker; None if the setting POKEARENA_ANALYSIS is 0.

    Raises:
        SettingError: the setting is neither 0 nor 1.
    """
    value = environment.get(config.ANALYSIS) or "1"
    if value not in ("0", "1"):
        raise config.SettingError(
            f'{config.ANALYSIS} must be 0 or 1, not "{value}".', code="not-a-switch"
        )
    return IdleWork(functools.partial(_work, engine)) if value == "1" else None


def _work(engine: Engine, permission: IdlePermission) -> None:
    """Analyse one match in the process of idle work."""
    resource.setrlimit(resource.RLIMIT_CPU, (_CPU_SECONDS, _CPU_SECONDS))
    analyse_next(engine, permission.wait)


def analyse_next(
    engine: Engine,
    pause: Callable[[], None] = lambda: None,
    search: SearchEngine | None = None,
) -> str:
    """Analyse the newest closed match without an analysis.

    Args:
        engine: the store.
        pause: called many times; returns when the work may continue.
        search: the engine that analyses; by default that of the game.

    Returns:
        The id of the match; "" if no match is left.
    """
    match = analyses.claim(engine)
    if match is None:
        return ""
    with logs.bound(match=match):
        text = results.record(engine, match)
        # Only the computation has a low priority: a process that waits for the processor within a
        # transaction would delay the writes of all others.
        with ThreadPoolExecutor(1, initializer=_yield_to_others) as thread:
            analysis, reason = thread.submit(_analysis, text, pause, search).result()
        analyses.finish(engine, match, analysis, reason)
        if analysis is None:
            log.info("%s is not analysed: %s", match, reason)
        else:
            log.info("%s: analysed with %d play-outs", match, analysis["playouts"])
    return match


def _yield_to_others() -> None:
    """Let all other threads of the machine take precedence over this one."""
    os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))


def _analysis(
    text: str, pause: Callable[[], None], search: SearchEngine | None
) -> tuple[dict[str, Any] | None, str]:
    """Return the stored form of an analysis; or None, and why it is not possible."""
    # Imported here, because most idle periods find no match to analyse.
    from arena.records.analysis import stored_form
    from arena.records.analysis.engine import NoEngine
    from arena.records.analysis.match_analysis import NotAnalysable, analyse
    from referee.record import RecordError, read
    from referee.replay import Mismatch

    try:
        record = read(text)
        analysis = analyse(record, engine=search, progress=lambda share: pause())
    except (NoEngine, NotAnalysable, Mismatch, RecordError) as error:
        return None, str(error)
    return stored_form.to_json(analysis, record), ""
