"""SIGKILL at every fault point in the transactions of operators, owners and relays."""

import signal
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import chain

import pytest

from arena.store import backup_file, consistency, webhooks
from arena.store.access.audit_log import DISQUALIFY
from arena.store.bots import submissions, versions
from arena.store.matches import listing
from arena.store.schema import MatchState, SubmissionState, TaskKind
from arena.store.tournaments import lifecycle, tournaments
from arena.system.failpoint import NAMES
from tests.faults import processes
from tests.faults.conftest import Conclude
from tests.faults.fault_arena import Arena
from tests.faults.operators import Operators
from tests.faults.test_fail_points import PROVOKED, subject
from tests.faults.witness import Witness

pytestmark = [pytest.mark.long, pytest.mark.timeout(400)]

Kill = Callable[..., None]
"""Runs an operation repeatedly; each run is killed at another fault point of a transaction."""
Deed = Callable[[Arena, Kill, Sequence[str]], None]
"""Kills operations in some transactions, then runs them to their end."""


def by_an_operator(arena: Arena, kill: Kill, actions: Sequence[str]) -> None:
    """Kill an operator's process during an operation on a tournament, then run it again."""
    for action in actions:
        entrants = [arena.slow(f"{action}-first"), arena.slow(f"{action}-last", choice=-1)]
        tournament = arena.schedule(entrants)
        number = len(tournaments.list_tournaments(arena.engine))
        match = listing.matches(arena.engine, tournament=tournament.id)[0].id
        expected = {
            "schedule": entrants,
            "retire": entrants[:1],
            "void": [match],
            "join": [tournament.id, arena.slow(f"{action}-other")],
            "withdraw": [tournament.id, entrants[0]],
        }.get(action, [tournament.id])
        if action == "resume":
            arena.operate("pause", tournament.id)
        after: list[int] = []
        kill(
            action,
            *(action, *expected),
            then=lambda after=after: after.append(len(tournaments.list_tournaments(arena.engine))),
        )
        assert after == [number, number, number + (action == "schedule")]
        # Only `cancel` and `join` fail if they are repeated.
        assert arena.operate(action, *expected) == (1 if action in ("cancel", "join") else 0)
        if action == "pause":
            assert arena.operate("resume", tournament.id) == 0


def when_a_remote_bot_stays_away(arena: Arena, kill: Kill, actions: Sequence[str]) -> None:
    assert arena.operate("add_remote") == 0
    tournament = arena.schedule([arena.slow("first"), "far@1"])
    kill("give_up", "give_up")
    assert arena.operate("give_up") == 0
    [match] = listing.matches(arena.engine, tournament=tournament.id)
    assert match.state is MatchState.VOID


def when_the_store_is_extended(arena: Arena, kill: Kill, actions: Sequence[str]) -> None:
    """Add versions and builds, and change them; all of these can be repeated."""
    for action in actions:
        words = (action, "first@1", "ada") if action == "own" else (action,)
        kill(action, *words)
        assert arena.operate(*words) == 0


def when_a_backup_is_restored(arena: Arena, kill: Kill, actions: Sequence[str]) -> None:
    kept = arena.root / "kept.db"
    backup_file.backup(arena.engine, kept, lambda what, done, of: None)
    arena.engine.dispose()
    for file in arena.where.root.glob("arena.db*"):
        file.unlink()
    kill("restore", "restore", str(kept))
    # A backup can only be restored into an empty database.
    assert arena.operate("restore", str(kept)) == 1


def when_a_quarantine_is_lifted(arena: Arena, kill: Kill, actions: Sequence[str]) -> None:
    with arena.engine.begin() as connection:
        connection.exec_driver_sql("UPDATE versions SET quarantined = 1")
    kill("lift", "lift", "first@1")
    assert arena.operate("lift", "first@1") == 1


def when_an_owner_is_given_a_token(arena: Arena, kill: Kill, actions: Sequence[str]) -> None:
    """Add, renew and remove a token; only renewing can be repeated."""
    for action in actions:
        kill(action, action, "ada")
        assert arena.operate(action, "ada") == int(action != "renew_token")


def when_an_owner_is_deleted(arena: Arena, kill: Kill, actions: Sequence[str]) -> None:
    """Delete an owner's data; an interrupted deletion continues when it is started again."""
    deletion = ("delete_owner", "ada", str(arena.where.root))
    # The last transaction removes the name, so a deletion killed after it has nothing left to do.
    for bot in ("first@1", "last@1"):
        assert arena.operate("own", bot, "ada") == 0
    for action in actions:
        kill(action, *deletion)
    assert arena.operate(*deletion) == 0
    assert arena.operate(*deletion) == 1


def when_a_bot_is_pushed(arena: Arena, kill: Kill, actions: Sequence[str]) -> None:
    """Push bots; each becomes exactly one version."""
    where = str(arena.where.root)
    # A submission has only three attempts, so each point of its steps needs its own.
    points = [(name,) for name in edges("step")]
    for number, names in enumerate([*(edges(each) for each in actions if each != "step"), *points]):
        bot = arena.where.root / f"pushed{number}"
        bot.mkdir()
        (bot / "bot.toml").write_text(f'name = "{bot.name}"\nrun = ["./bot"]\n')
        submission = f"s-{number:010}"
        arrives = ("submit", where, str(bot), submission)
        if "submit.begin" in names:
            kill(names, *arrives)
            assert arena.operate(*arrives) == 0
        else:
            assert arena.operate(*arrives) == 0
            kill(names, "receive", where)
        assert arena.operate("receive", where) == 0
        pushed = versions.list_versions(arena.engine, name=bot.name)
        assert [version.id for version in pushed] == [f"{bot.name}@1"]
        stored = submissions.find_submission(arena.engine, submission)
        assert (stored.state, stored.version) == (SubmissionState.ACCEPTED, f"{bot.name}@1")


def when_a_webhook_is_used(arena: Arena, kill: Kill, actions: Sequence[str]) -> None:
    """Plan no event twice for a webhook of an interrupted process."""
    for action in actions:
        kill(action, "use_webhook")
    assert arena.operate("use_webhook") == 0
    webhooks.plan(arena.engine)
    planned = [each.task.key for each in webhooks.log(arena.engine, limit=1000)]
    assert len(planned) == len(set(planned))


def when_models_are_called(arena: Arena, kill: Kill, actions: Sequence[str]) -> None:
    """Call a model; an interrupted call counts with its worst case."""
    for action in actions:
        kill(action, "use_models")
    assert arena.operate("use_models") == 0
    assert arena.sql("SELECT * FROM model_grants") == []
    assert arena.sql("SELECT * FROM model_stops") == []
    tokens = {row[0] for row in arena.sql("SELECT input_tokens + output_tokens FROM model_calls")}
    assert tokens <= {20, 200}


def when_an_idle_worker_computes(arena: Arena, kill: Kill, actions: Sequence[str]) -> None:
    """Analyse a match again after a killed worker; store one analysis, and delete the luck."""
    kill("use_idle_results")
    assert arena.operate("use_idle_results") == 0
    stored = "SELECT DISTINCT kind FROM tasks WHERE ended IS NOT NULL"
    assert arena.sql(stored) == [(TaskKind.ANALYSIS,)]


def when_files_are_moved(arena: Arena, kill: Kill, actions: Sequence[str]) -> None:
    """Move all files to object storage and back, without a lost file or a left object."""
    for action in actions:
        kill(action, "use_objects", str(arena.where.root))
        assert arena.operate("use_objects", str(arena.where.root)) == 0
    assert list(consistency.problems(arena.engine, lambda what, done, of: None)) == []
    assert arena.sql("SELECT key FROM stored_objects") == []
    folder = arena.where.root / "objects"
    assert [path for path in folder.rglob("*") if path.is_file()] == []


def when_an_organiser_signs_in(arena: Arena, kill: Kill, actions: Sequence[str]) -> None:
    for action in actions:
        kill(action, "use_token")
    assert arena.operate("use_token") == 0


def when_an_organiser_corrects(arena: Arena, kill: Kill, actions: Sequence[str]) -> None:
    """Log a correction exactly if it was made; then cancel what nobody can play."""
    for action in actions:
        kill(action, "correct")
    assert arena.operate("correct") == 0
    logged = arena.sql("SELECT subject FROM audit_log WHERE action = ?", DISQUALIFY)
    withdrawn = arena.sql("SELECT tournament FROM entrants WHERE withdrawn IS NOT NULL")
    assert sorted(logged) == sorted(withdrawn)
    for tournament in tournaments.list_tournaments(arena.engine):
        if tournament.ended is None:
            lifecycle.cancel(arena.engine, tournament.id)


def when_a_ladder_is_rated(arena: Arena, kill: Kill, actions: Sequence[str]) -> None:
    """Play, rate and rebuild a ladder; then cancel what nobody can play."""
    for action in actions:
        kill(action, "rate_ladder")
    assert arena.operate("rate_ladder") == 0
    for tournament in tournaments.list_tournaments(arena.engine):
        if tournament.ended is None:
            lifecycle.cancel(arena.engine, tournament.id)


DONE: Sequence[tuple[Deed, Sequence[str]]] = (
    (
        by_an_operator,
        ("retire", "schedule", "pause", "resume", "cancel", "void", "join", "withdraw"),
    ),
    (when_a_remote_bot_stays_away, ("give_up",)),
)
"""The transactions of operators by how they are caused, before the arena plays its tournaments."""

DONE_AFTERWARDS: Sequence[tuple[Deed, Sequence[str]]] = (
    (
        when_the_store_is_extended,
        (
            *("add_version", "own", "add_remote", "presence", "keep_crate", "trust_crate"),
            "rebuild",
        ),
    ),
    (when_a_quarantine_is_lifted, ("lift",)),
    (when_a_ladder_is_rated, ("recount_results", "delete_ladder")),
    (when_a_backup_is_restored, ("restore",)),
    (when_an_owner_is_given_a_token, ("add_token", "renew_token", "revoke_token")),
    (when_an_owner_is_deleted, ("delete_owner", "erase_owner")),
    (when_a_bot_is_pushed, ("submit", "take_up", "approve", "decide", "step")),
    (
        when_a_webhook_is_used,
        (
            *("add_webhook", "remove_webhook", "plan_deliveries", "start_delivery"),
            *("end_delivery", "note_test"),
        ),
    ),
    (
        when_models_are_called,
        (
            *("grant_model", "revoke_model", "reserve_call", "settle_call"),
            *("reserve_match", "release_match", "stop_calls", "resume_calls"),
        ),
    ),
    (when_an_organiser_signs_in, ("sign_in", "sign_out", "audit")),
    (when_files_are_moved, ("begin_object", "discard_object", "abandon_objects")),
    (when_files_are_moved, ("forget_objects", "keep_object", "move_to_object")),
    (when_files_are_moved, ("move_to_database", "archive_records", "restore_records")),
    (
        when_an_idle_worker_computes,
        ("claim_idle_result", "store_idle_result", "delete_idle_results"),
    ),
    (
        when_an_organiser_corrects,
        ("reassign", "void_closed", "replay", "forfeit", "disqualify", "ban"),
    ),
)
"""The same for transactions in an arena whose tournament is over."""

RATED = ("sum_results", "write_standings", "write_rating_points")
"""Transactions in which tests/arena/ladders/test_rater.py kills."""


def test_every_fault_point_is_used() -> None:
    actions = chain.from_iterable(actions for _, actions in (*DONE, *DONE_AFTERWARDS))
    assert {subject(name) for name in NAMES} == {*PROVOKED, *actions, *RATED}


@pytest.fixture(scope="module")
def operators() -> Iterator[Operators]:
    with Operators() as operators:
        yield operators


def edges(action: str) -> tuple[str, ...]:
    return tuple(name for name in NAMES if subject(name) == action)


def test_killed_operator_commands_lose_and_double_nothing(
    operators: Operators, conclude: Conclude
) -> None:
    with processes.orphanage():
        arena = Arena()
        arena.operators = operators
        with Witness(arena) as witness:
            for deed, actions in DONE:
                deed(arena, partial(kill, arena), actions)
            with arena.serving(1) as serve:
                serve.until(arena.over)
        conclude(arena, witness, "SIGKILL of operators")
    arena.remove()


@pytest.fixture(scope="module")
def finished_arena() -> Iterator[Arena]:
    """An arena whose tournament is over, to be copied."""
    arena = Arena()
    arena.schedule([arena.slow("first"), arena.slow("last", choice=-1)], cycles=2)
    with arena.serving(1) as serve:
        serve.until(arena.over)
    yield arena
    arena.remove()


@pytest.mark.parametrize(
    ("deed", "actions"), DONE_AFTERWARDS, ids=["-".join(actions) for _, actions in DONE_AFTERWARDS]
)
def test_commands_killed_after_the_matches_lose_and_double_nothing(
    deed: Deed,
    actions: Sequence[str],
    finished_arena: Arena,
    operators: Operators,
    conclude: Conclude,
) -> None:
    with processes.orphanage():
        arena = finished_arena.copy()
        arena.operators = operators
        with Witness(arena) as witness:
            deed(arena, partial(kill, arena), actions)
        conclude(arena, witness, "SIGKILL of operators")
    arena.remove()


def kill(
    arena: Arena,
    points: str | Sequence[str],
    *operation: str,
    then: Callable[[], object] = lambda: None,
) -> None:
    """Kill a process that runs an operation, at each of the points or of a transaction's edges.

    A process that is killed before its commit leaves no changes, so the operation can be repeated.
    """
    for name in edges(points) if isinstance(points, str) else points:
        arena.arm(name)
        assert arena.operate(*operation) == -signal.SIGKILL, name
        assert arena.armed() == []
        then()
