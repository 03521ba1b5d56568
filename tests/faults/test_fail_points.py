"""SIGKILL at every edge of every transaction, and around every hint, by name."""

import shutil
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from arena.failpoint import HINTS, NAMES, VARIABLE
from arena.store import copying, submissions, tournaments, versions
from arena.store.schema import SubmissionState
from tests.cluster import Cluster
from tests.faults import processes
from tests.faults.conftest import Conclude
from tests.faults.stage import Arena, Serve
from tests.faults.witness import Witness

pytestmark = [pytest.mark.long, pytest.mark.timeout(400)]

NAP = 0.15
"""Seconds: a game of 16 decisions then takes long enough for a lease to be renewed."""
Act = Callable[[Arena, Witness, str], None]


def play(
    arena: Arena, witness: Witness, failpoint: str = "", act: str = "", nap: float = 0
) -> None:
    """Plays a cup to its end, under a fail-point; `act` is done once a game is committed."""
    cup = arena.schedule([arena.slow("first", nap), arena.slow("last", nap, -1)], cycles=2)
    serve_under(arena, witness, failpoint, act, cup.id)


def serve_under(
    arena: Arena, witness: Witness, failpoint: str, act: str = "", cup: str = ""
) -> None:
    with arena.serving(1, **({VARIABLE: failpoint} if failpoint else {})) as serve:
        if act:
            serve.until(lambda: bool(arena.sql("SELECT 1 FROM games LIMIT 1")))
            ACTS[act](serve, witness)
        serve.until(lambda: arena.over() and (not cup or bool(tournaments.find(arena.engine, cup))))


def kill_referee(serve: Serve, witness: Witness) -> None:
    witness.blow()
    processes.send(serve.one("referee"), signal.SIGKILL)


def kill_worker(serve: Serve, witness: Witness) -> None:
    witness.blow()
    processes.send(serve.one("worker"), signal.SIGKILL)


ACTS: dict[str, Callable[[Serve, Witness], None]] = {
    "kill the referee": kill_referee,
    "kill the worker": kill_worker,
}


def under_way(arena: Arena, witness: Witness, failpoint: str) -> None:
    play(arena, witness, failpoint)


def under_a_long_match(arena: Arena, witness: Witness, failpoint: str) -> None:
    play(arena, witness, failpoint, nap=NAP)


def in_a_knockout(arena: Arena, witness: Witness, failpoint: str) -> None:
    """Its second round is scheduled when the first is over."""
    entrants = [arena.slow(name, choice=-n) for n, name in enumerate(("first", "last"))]
    arena.schedule([*entrants, arena.slow("other")], format="knockout", settings={})
    serve_under(arena, witness, failpoint)


def when_the_referee_dies(arena: Arena, witness: Witness, failpoint: str) -> None:
    play(arena, witness, failpoint, "kill the referee", nap=NAP / 3)


def when_the_worker_dies(arena: Arena, witness: Witness, failpoint: str) -> None:
    play(arena, witness, failpoint, "kill the worker", nap=NAP / 3)


def in_the_first_moment(arena: Arena, witness: Witness, failpoint: str) -> None:
    with arena.serving(1, **{VARIABLE: failpoint}) as serve:
        serve.until(lambda: arena.where.running() is not None and not serve.fell)
    play(arena, witness)


def by_an_operator(action: str) -> Act:
    """An operator's process dies while it does something, and the operator does it again."""

    def act(arena: Arena, witness: Witness, failpoint: str) -> None:
        entrants = [arena.slow("first"), arena.slow("last", choice=-1)]
        cup = arena.schedule(entrants, cycles=2)
        match = arena.sql("SELECT id FROM matches")[0][0]
        said = {
            "schedule": entrants,
            "add_version": [],
            "keep_crate": [],
            "trust_crate": [],
            "add_remote": [],
            "own": [entrants[0], "ada"],
            "retire": entrants[:1],
            "void": [match],
            "join": [cup.id, arena.slow("other")],
            "withdraw": [cup.id, entrants[0]],
        }.get(action, [cup.id])
        if action == "trust_crate":
            arena.operate("keep_crate")
        if action == "resume":
            arena.operate("pause", cup.id)
        assert arena.operate(action, *said, failpoint=failpoint) == -signal.SIGKILL
        before = len(tournaments.listing(arena.engine))
        assert before == 1 + (failpoint.startswith("schedule.committed"))
        again = arena.operate(action, *said)
        # What is done already cannot be done again, and says so.
        done = failpoint.startswith(("cancel.committed", "join.committed"))
        assert again == (1 if done else 0)
        if action == "pause":
            assert arena.operate("resume", cup.id) == 0
        serve_under(arena, witness, "")

    return act


def when_a_ladder_is_rebuilt(arena: Arena, witness: Witness, failpoint: str) -> None:
    play(arena, witness)
    assert arena.operate("rebuild", failpoint=failpoint) == -signal.SIGKILL
    assert arena.operate("rebuild") == 0


def when_a_backup_is_restored(arena: Arena, witness: Witness, failpoint: str) -> None:
    play(arena, witness)
    kept = arena.root / "kept.db"
    copying.backup(arena.engine, kept, lambda what, done, of: None)
    arena.engine.dispose()
    for file in arena.where.root.glob("arena.db*"):
        file.unlink()
    assert arena.operate("restore", str(kept), failpoint=failpoint) == -signal.SIGKILL
    # Into a database that has been filled it is not restored again.
    done = failpoint.startswith("restore.committed")
    assert arena.operate("restore", str(kept)) == int(done)


def when_a_bot_is_gone(arena: Arena, witness: Witness, failpoint: str) -> None:
    """Its matches fail and fail, the others go well: it is quarantined."""
    entrants = [arena.slow("first"), arena.slow("last", choice=-1), arena.slow("gone")]
    arena.schedule(entrants, cycles=6)
    shutil.rmtree(arena.where.versions / "gone")
    serve_under(arena, witness, failpoint)
    assert versions.find(arena.engine, "gone@1").quarantined is not None


def when_a_remote_bot_connects(arena: Arena, witness: Witness, failpoint: str) -> None:
    assert arena.operate("add_remote") == 0
    assert arena.operate("presence", failpoint=failpoint) == -signal.SIGKILL
    assert arena.operate("presence") == 0
    play(arena, witness)


def when_a_remote_bot_stays_away(arena: Arena, witness: Witness, failpoint: str) -> None:
    """Nobody waits for it any longer: its match becomes void."""
    assert arena.operate("add_remote") == 0
    arena.schedule([arena.slow("first"), "far@1"])
    assert arena.operate("give_up", failpoint=failpoint) == -signal.SIGKILL
    assert arena.operate("give_up") == 0
    assert arena.sql("SELECT state FROM matches") == [("VOID",)]
    serve_under(arena, witness, "")


def when_a_quarantine_is_lifted(arena: Arena, witness: Witness, failpoint: str) -> None:
    play(arena, witness)
    with arena.engine.begin() as connection:
        connection.exec_driver_sql("UPDATE versions SET quarantined = 1")
    assert arena.operate("lift", "first@1", failpoint=failpoint) == -signal.SIGKILL
    assert arena.operate("lift", "first@1") == int(failpoint.startswith("lift.committed"))


def when_an_owner_is_given_a_token(arena: Arena, witness: Witness, failpoint: str) -> None:
    """Given, renewed or taken away: what is done already cannot be done again, and says so."""
    play(arena, witness)
    action = failpoint.partition(".")[0]
    if action != "add_owner":
        assert arena.operate("add_owner", "ada") == 0
    assert arena.operate(action, "ada", failpoint=failpoint) == -signal.SIGKILL
    done = failpoint.startswith(("add_owner.committed", "remove_owner.committed"))
    assert arena.operate(action, "ada") == int(done)


def when_a_bot_is_pushed(arena: Arena, witness: Witness, failpoint: str) -> None:
    """It arrives, is worked on, and becomes a version once."""
    play(arena, witness)
    bot = arena.where.root / "pushed"
    bot.mkdir()
    (bot / "bot.toml").write_text('name = "pushed"\nrun = ["./bot"]\n')
    where = str(arena.where.root)
    arrives = ("submit", where, str(bot), "s-0000000000")
    if failpoint.startswith("submit."):
        assert arena.operate(*arrives, failpoint=failpoint) == -signal.SIGKILL
        assert arena.operate(*arrives) == 0
    else:
        assert arena.operate(*arrives) == 0
        assert arena.operate("receive", where, failpoint=failpoint) == -signal.SIGKILL
    assert arena.operate("receive", where) == 0
    assert [one.id for one in versions.listing(arena.engine, name="pushed")] == ["pushed@1"]
    (found,) = submissions.listing(arena.engine)
    assert (found.state, found.version) == (SubmissionState.ACCEPTED, "pushed@1")


PROVOKED: dict[str, Act] = {
    "upgrade": in_the_first_moment,
    "lease": under_way,
    "commit_game": under_way,
    "closing_game": under_way,
    "renew": under_a_long_match,
    "release": when_the_referee_dies,
    "extend": in_a_knockout,
    "close": under_way,
    "lapse": when_the_worker_dies,
    "quarantine": when_a_bot_is_gone,
    "lift": when_a_quarantine_is_lifted,
    "presence": when_a_remote_bot_connects,
    "give_up": when_a_remote_bot_stays_away,
    "rebuild": when_a_ladder_is_rebuilt,
    "restore": when_a_backup_is_restored,
    **dict.fromkeys(("add_owner", "renew_owner", "remove_owner"), when_an_owner_is_given_a_token),
    **dict.fromkeys(("submit", "take_up", "step", "decide"), when_a_bot_is_pushed),
    **{
        action: by_an_operator(action)
        for action in (
            *("add_version", "retire", "schedule", "pause", "resume", "cancel", "void"),
            *("join", "withdraw", "own", "add_remote", "keep_crate", "trust_crate"),
        )
    },
    **dict.fromkeys(HINTS, under_way),
}
"""How each transaction, or hint, is brought about."""


@pytest.mark.parametrize("name", NAMES)
def test_killed_at_a_point_nothing_is_lost_and_nothing_doubled(
    name: str, conclude: Conclude
) -> None:
    strike(name, conclude)


# What a play brings about by itself; the operators' transactions are tried beside their tests.
@pytest.mark.parametrize(
    "name",
    [
        f"{what}.written"
        for what in ("upgrade", "lease", "renew", "commit_game", "closing_game", "release")
    ]
    + [f"{what}.written" for what in ("lapse", "extend", "close", "quarantine")]
    + ["commit_game.committed", "closing_game.committed"],
)
def test_killed_in_a_transaction_of_postgresql_nothing_is_lost_and_nothing_doubled(
    name: str, conclude: Conclude, server: Cluster
) -> None:
    with server.database() as url:
        strike(name, conclude, url)


def strike(name: str, conclude: Conclude, url: str = "") -> None:
    what = name if name in HINTS else name.partition(".")[0]
    with processes.orphanage():
        arena = Arena(made=what != "upgrade", url=url)
        if what == "upgrade":
            under_fire_from_nothing(arena, name, conclude)
        else:
            token = arena.token()
            with Witness(arena, token) as witness:
                PROVOKED[what](arena, witness, f"{name}@{token}")
            assert_reached(token, name)
            conclude(arena, witness, f"SIGKILL at {what}{', PostgreSQL' if url else ''}")
    arena.remove()


def under_fire_from_nothing(arena: Arena, name: str, conclude: Conclude) -> None:
    token = arena.token()
    with arena.serving(1, **{VARIABLE: f"{name}@{token}"}) as serve:
        serve.until(lambda: arena.where.running() is not None and not serve.fell)
    assert_reached(token, name)
    with Witness(arena) as witness:
        play(arena, witness)
    conclude(arena, witness, "SIGKILL at upgrade")


def assert_reached(token: Path, name: str) -> None:
    assert not token.exists(), f"{name} was never reached"
