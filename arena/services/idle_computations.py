"""Analyse the newest closed matches in idle workers, and measure the luck of their games.

Replay pages show the analyses; `compare`, `standings` and ladder pages use the luck.
"""

from __future__ import annotations

import functools
import logging
import os
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, Final

from arena import config
from arena.services.queue.idle_work import IdlePermission, IdleWork
from arena.store.idle_results import ANALYSES, LUCK, IdleResults
from arena.store.matches import results
from referee import logs
from referee.record import RecordError, read

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from arena.records.analysis.engine import Engine as SearchEngine
    from referee.record import MatchRecord

    Computation = Callable[[MatchRecord], dict[str, Any]]
    """Returns the stored form of a result of a match."""

_CPU_SECONDS: Final = 120
"""The kernel ends a computation that takes more CPU time; the usual ones take at most 20 s."""
MAX_GAMES: Final = 200
"""Largest match whose luck is measured: 0.2 to 0.5 s of CPU time per board."""

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
    """Analyse one match, or measure the luck of one, in the process of idle work."""
    import resource

    resource.setrlimit(resource.RLIMIT_CPU, (_CPU_SECONDS, _CPU_SECONDS))
    if not analyse_next(engine, permission.wait):
        measure_luck_of_next(engine, permission.wait)


def analyse_next(
    engine: Engine,
    pause: Callable[[], None] = lambda: None,
    search: SearchEngine | None = None,
) -> str:
    """Analyse the newest closed match without an analysis; return it, or "" if none is left.

    Args:
        pause: called many times; returns when the work may continue.
        search: the engine that analyses; by default that of the game.
    """
    return _compute_next(engine, ANALYSES, functools.partial(_analysis, pause=pause, search=search))


def measure_luck_of_next(engine: Engine, pause: Callable[[], None] = lambda: None) -> str:
    """Measure the luck of the newest closed match without it; return it, or "" if none is left.

    Args:
        pause: called many times; returns when the work may continue.
    """
    return _compute_next(engine, LUCK, functools.partial(_luck, pause=pause))


def _compute_next(engine: Engine, computed: IdleResults, compute: Computation) -> str:
    """Compute and store one result; return the match, or "" if none is left."""
    task = computed.claim(engine)
    if task is None:
        return ""
    with logs.bound(match=task.key):
        text = results.record(engine, task.key)
        # Only the computation has a low priority: a process that waits for the processor within a
        # transaction would delay the writes of all others.
        with ThreadPoolExecutor(1, initializer=_yield_to_others) as thread:
            result, reason = thread.submit(_computed, text, compute).result()
        computed.finish(engine, task, result, reason)
        if result is None:
            log.info("%s: no %s: %s", task.key, task.kind, reason)
        else:
            log.info("%s: %s stored", task.key, task.kind)
    return task.key


def _yield_to_others() -> None:
    """Let all other threads of the machine take precedence over this one."""
    os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))


def _computed(text: str, compute: Computation) -> tuple[dict[str, Any] | None, str]:
    """Return the stored form of a result; or None, and why it is not possible."""
    # Imported here, because most idle periods find no match to compute.
    from arena.records.analysis.engine import NoEngine
    from arena.records.analysis.match_analysis import NotAnalysable
    from referee.replay import Mismatch

    try:
        return compute(read(text)), ""
    except (NoEngine, NotAnalysable, Mismatch, RecordError) as error:
        return None, str(error)


def _analysis(
    record: MatchRecord, pause: Callable[[], None], search: SearchEngine | None
) -> dict[str, Any]:
    """Return the stored form of an analysis."""
    from arena.records.analysis import stored_form
    from arena.records.analysis.match_analysis import analyse
    from arena.records.analysis.win_probability import rate_recorded_games

    analysis = analyse(record, engine=search, progress=lambda share: pause())
    return stored_form.to_json(analysis, record, rate_recorded_games(record, pause))


def _luck(record: MatchRecord, pause: Callable[[], None]) -> dict[str, Any]:
    """Return the stored form of the luck of a match."""
    from arena.records.analysis.match_analysis import NotAnalysable
    from arena.records.luck_adjustment.match_luck import luck_of_match

    if len(record.games) > MAX_GAMES:
        raise NotAnalysable(f"the match has more than {MAX_GAMES} games", code="too-long")
    return luck_of_match(record, pause).to_json()
