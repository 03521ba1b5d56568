"""Play a tournament while a fault point is armed."""

import signal
from collections.abc import Callable
from pathlib import Path

from arena.store.tournaments import tournaments
from arena.system.failpoint import JOB_STEPS, VARIABLE
from tests.faults import processes
from tests.faults.fault_arena import Arena, ServeProcess
from tests.faults.witness import Witness


def subject(name: str) -> str:
    """Return the transaction, or the step of a job, to which a fault point belongs."""
    return name if name in JOB_STEPS else name.partition(".")[0]


def play(
    arena: Arena, witness: Witness, failpoint: str = "", act: str = "", nap: float = 0
) -> None:
    """Play a tournament with a fault point; run `act` after the first committed game."""
    tournament = arena.schedule([arena.slow("first", nap), arena.slow("last", nap, -1)], cycles=2)
    serve_under(arena, witness, failpoint, act, tournament.id)


def serve_under(
    arena: Arena, witness: Witness, failpoint: str, act: str = "", tournament: str = ""
) -> None:
    with arena.serving(1, **({VARIABLE: failpoint} if failpoint else {})) as serve:
        if act:
            serve.until(lambda: bool(arena.sql("SELECT 1 FROM games LIMIT 1")))
            ACTS[act](serve, witness)
        serve.until(
            lambda: (
                arena.over()
                and (not tournament or bool(tournaments.find_tournament(arena.engine, tournament)))
            )
        )


def kill_referee(serve: ServeProcess, witness: Witness) -> None:
    witness.blow()
    processes.send(serve.one("referee"), signal.SIGKILL)


def kill_worker(serve: ServeProcess, witness: Witness) -> None:
    witness.blow()
    processes.send(serve.one("worker"), signal.SIGKILL)


ACTS: dict[str, Callable[[ServeProcess, Witness], None]] = {
    "kill the referee": kill_referee,
    "kill the worker": kill_worker,
}


def assert_reached(token: Path, name: str) -> None:
    assert not token.exists(), f"{name} was never reached"
