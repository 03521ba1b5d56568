"""What the sandboxes of the registered workers mean for matches, `doctor` and the organiser."""

from __future__ import annotations

from collections.abc import Sequence

from arena.services.queue.worker_registrations import UNKNOWN, WorkerInfo

UNAVAILABLE = "unavailable"
"""Registered instead of a level while a worker cannot run bots."""


def pushed_versions_wait(workers: Sequence[WorkerInfo]) -> bool:
    """Return whether matches with pushed versions wait, because no live worker may play them."""
    alive = _able(workers)
    return bool(alive) and not any(worker.sandbox.plays_pushed for worker in alive)


def waiting_reason(workers: Sequence[WorkerInfo]) -> str:
    """Return why matches with pushed versions wait, as a sentence; empty if they do not."""
    if not pushed_versions_wait(workers):
        return ""
    levels = ", ".join(sorted({worker.sandbox.level for worker in _able(workers)}))
    return (
        f"Matches of pushed bots wait: the sandbox of the workers ({levels}) does not keep the"
        " tables of a match apart. The organiser can install bubblewrap or accept this level."
    )


def sandbox_problems(workers: Sequence[WorkerInfo]) -> list[str]:
    """Return the problems with the sandboxes of live workers, one clause each."""
    alive = [worker for worker in workers if worker.alive]
    problems = [
        f"{worker.name} plays nothing, because its sandbox is not available"
        for worker in alive
        if worker.sandbox.level == UNAVAILABLE
    ]
    problems += [
        f"{worker.name} runs bots at the level {worker.sandbox.level}, below the level"
        f" {worker.sandbox.stored} that has held on its machine"
        for worker in alive
        if worker.sandbox.is_below_stored
    ]
    levels = sorted({worker.sandbox.level for worker in _able(alive)} - {UNKNOWN})
    if len(levels) > 1:
        problems.append(f"workers run bots at different sandbox levels: {', '.join(levels)}")
    return problems


def _able(workers: Sequence[WorkerInfo]) -> list[WorkerInfo]:
    """Return the live workers that can run bots."""
    return [each for each in workers if each.alive and each.sandbox.level != UNAVAILABLE]
