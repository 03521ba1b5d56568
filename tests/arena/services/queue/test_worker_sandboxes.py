"""Test what the registered sandboxes of workers mean for matches and for the organiser."""

from arena.services.queue.worker_registrations import SandboxState, WorkerInfo
from arena.services.queue.worker_sandboxes import sandbox_problems, waiting_reason

BEST = SandboxState("bubblewrap", "bubblewrap")
LOWER = SandboxState("landlock", "bubblewrap")
LOST = SandboxState("unavailable", "bubblewrap", plays_pushed=False)
REFUSING = SandboxState("landlock", "landlock", plays_pushed=False)


def workers(*sandboxes: SandboxState, silent: float = 0) -> list[WorkerInfo]:
    return [
        WorkerInfo(name=f"w{number}", host="host", pid=1, silent=silent, sandbox=sandbox)
        for number, sandbox in enumerate(sandboxes)
    ]


def test_equal_levels_are_no_problem() -> None:
    assert sandbox_problems(workers(BEST, BEST)) == []
    # Workers of an earlier release register no level.
    assert sandbox_problems(workers(SandboxState(), BEST)) == []
    assert sandbox_problems(workers(LOWER, silent=60)) == []


def test_a_lowered_a_lost_and_a_mixed_level_are_problems() -> None:
    [below, mixed] = sandbox_problems(workers(BEST, LOWER))
    assert "w1 runs bots at the level landlock, below the level bubblewrap" in below
    assert mixed.endswith("different sandbox levels: bubblewrap, landlock")
    [lost] = sandbox_problems(workers(LOST, BEST))
    assert lost.startswith("w0 plays nothing")


def test_pushed_bots_wait_only_if_no_able_worker_plays_them() -> None:
    assert waiting_reason(workers(REFUSING, LOST)).startswith("Matches of pushed bots wait")
    assert waiting_reason(workers(REFUSING, BEST)) == ""
    assert waiting_reason(workers(LOST)) == ""
    assert waiting_reason([]) == ""
