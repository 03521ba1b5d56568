"""Differences between the games of packages that the registered workers have, for `doctor`."""

from __future__ import annotations

from collections.abc import Sequence

from arena.services.queue.worker_registrations import WorkerInfo


def game_problems(workers: Sequence[WorkerInfo]) -> list[str]:
    """Return the differences between the live workers, one clause per game and kind."""
    alive = [worker for worker in workers if worker.alive]
    games = sorted({game for worker in alive for game in worker.games})
    return [problem for game in games for problem in _problems(game, alive)]


def _problems(game: str, alive: Sequence[WorkerInfo]) -> list[str]:
    problems = []
    if without := [worker.name for worker in alive if game not in worker.games]:
        problems.append(f"matches of {game} are not played by {', '.join(without)}")
    codes = sorted({worker.games[game] for worker in alive if game in worker.games})
    if len(codes) > 1:
        short = ", ".join(code[:8] for code in codes)
        problems.append(f"workers have different code of {game}: {short}")
    return problems
