"""SIGKILL at every fault point in the transactions of operators, owners and relays."""

import signal
from collections.abc import Callable, Iterator

import pytest

from arena.store import backup_file, consistency, webhooks
from arena.store.access.audit_log import DISQUALIFY
from arena.store.bots import submissions, versions
from arena.store.schema import SubmissionState, TaskKind
from arena.store.tournaments import lifecycle, tournaments
from arena.system.failpoint import NAMES
from tests.faults import processes
from tests.faults.conftest import Conclude
from tests.faults.failpoint_runs import assert_reached, play, serve_under, subject
from tests.faults.fault_arena import Arena
from tests.faults.operators import Operators
from tests.faults.test_fail_points import PROVOKED
from tests.faults.witness import Witness

pytestmark = [pytest.mark.long, pytest.mark.timeout(400)]

Kill = Callable[..., None]
"""Runs an operation repeatedly; each run is killed at another fault point."""
Deed = Callable[[Arena, Witness, Kill, str], None]


def by_an_operator(arena: Arena, witness: Witness, kill: Kill, action: str) -> None:
    """Kill an operator's process during an operation, then run the operation again."""
    entrants = [arena.slow("first"), arena.slow("last", choice=-1)]
    tournament = arena.schedule(entrants, cycles=2)
    match = arena.sql("SELECT id FROM matches")[0][0]
    expected = {
        "schedule": entrants,
        "retire": entrants[:1],
        "void": [match],
        "join": [tournament.id, arena.slow("other")],
        "withdraw": [tournament.id, entrants[0]],
    }.get(action, [tournament.id])
    if action == "resume":
        arena.operate("pause", tournament.id)
    before = []
    kill(
        action,
        *expected,
        then=lambda: before.append(len(tournaments.list_tournaments(arena.engine))),
    )
    assert before == [1, 1, 2 if action == "schedule" else 1]
    # Only `cancel` and `join` fail if they are repeated.
    assert arena.operate(action, *expected) == (1 if action in ("cancel", "join") else 0)
    if action == "pause":
        assert arena.operate("resume", tournament.id) == 0
    serve_under(arena, witness, "")


def when_the_store_is_extended(arena: Arena, witness: Witness, kill: Kill, action: str) -> None:
    """Add a version or a build, or set an owner; all of these can be repeated."""
    words = (action, "first@1", "ada") if action == "own" else (action,)
    if action == "trust_crate":
        assert arena.operate("keep_crate") == 0
    kill(*words)
    assert arena.operate(*words) == 0


def when_a_ladder_is_rebuilt(arena: Arena, witness: Witness, kill: Kill, action: str) -> None:
    kill("rebuild")
    assert arena.operate("rebuild") == 0


def when_a_backup_is_restored(arena: Arena, witness: Witness, kill: Kill, action: str) -> None:
    kept = arena.root / "kept.db"
    backup_file.backup(arena.engine, kept, lambda what, done, of: None)
    arena.engine.dispose()
    for file in arena.where.root.glob("arena.db*"):
        file.unlink()
    kill("restore", str(kept))
    # A backup can only be restored into an empty database.
    assert arena.operate("restore", str(kept)) == 1


def when_a_remote_bot_connects(arena: Arena, witness: Witness, kill: Kill, action: str) -> None:
    assert arena.operate("add_remote") == 0
    kill("presence")
    assert arena.operate("presence") == 0


def when_a_remote_bot_stays_away(arena: Arena, witness: Witness, kill: Kill, action: str) -> None:
    assert arena.operate("add_remote") == 0
    arena.schedule([arena.slow("first"), "far@1"])
    kill("give_up")
    assert arena.operate("give_up") == 0
    assert arena.sql("SELECT state FROM matches") == [("VOID",)]
    serve_under(arena, witness, "")


def when_a_quarantine_is_lifted(arena: Arena, witness: Witness, kill: Kill, action: str) -> None:
    with arena.engine.begin() as connection:
        connection.exec_driver_sql("UPDATE versions SET quarantined = 1")
    kill("lift", "first@1")
    assert arena.operate("lift", "first@1") == 1


def when_an_owner_is_given_a_token(arena: Arena, witness: Witness, kill: Kill, action: str) -> None:
    """Add, renew or remove a token; only renewing can be repeated."""
    if action != "add_token":
        assert arena.operate("add_token", "ada") == 0
    kill(action, "ada")
    assert arena.operate(action, "ada") == int(action != "renew_token")


def when_an_owner_is_deleted(arena: Arena, witness: Witness, kill: Kill, action: str) -> None:
    """Delete an owner's data; an interrupted deletion continues when it is started again."""
    deletion = ("delete_owner", "ada", str(arena.where.root))
    # The last transaction removes the name, so a deletion killed after it has nothing left to do.
    for bot in ("first@1", "last@1"):
        assert arena.operate("own", bot, "ada") == 0
    kill(*deletion)
    assert arena.operate(*deletion) == 0
    assert arena.operate(*deletion) == 1


def when_a_bot_is_pushed(arena: Arena, witness: Witness, kill: Kill, action: str) -> None:
    """Push a bot, which becomes exactly one version."""
    bot = arena.where.root / "pushed"
    bot.mkdir()
    (bot / "bot.toml").write_text('name = "pushed"\nrun = ["./bot"]\n')
    where = str(arena.where.root)
    arrives = ("submit", where, str(bot), "s-0000000000")
    if action == "submit":
        kill(*arrives)
        assert arena.operate(*arrives) == 0
    else:
        assert arena.operate(*arrives) == 0
        kill("receive", where)
    assert arena.operate("receive", where) == 0
    assert [version.id for version in versions.list_versions(arena.engine, name="pushed")] == [
        "pushed@1"
    ]
    (submission,) = submissions.list_submissions(arena.engine)
    assert (submission.state, submission.version) == (SubmissionState.ACCEPTED, "pushed@1")


def when_a_webhook_is_used(arena: Arena, witness: Witness, kill: Kill, action: str) -> None:
    """Plan no event twice for a webhook of an interrupted process."""
    kill("use_webhook")
    assert arena.operate("use_webhook") == 0
    webhooks.plan(arena.engine)
    planned = [each.task.key for each in webhooks.log(arena.engine, limit=1000)]
    assert len(planned) == len(set(planned))


def when_models_are_called(arena: Arena, witness: Witness, kill: Kill, action: str) -> None:
    """Call a model; an interrupted call counts with its worst case."""
    kill("use_models")
    assert arena.operate("use_models") == 0
    assert arena.sql("SELECT * FROM model_grants") == []
    assert arena.sql("SELECT * FROM model_stops") == []
    tokens = {row[0] for row in arena.sql("SELECT input_tokens + output_tokens FROM model_calls")}
    assert tokens <= {20, 200}


def when_an_idle_worker_computes(arena: Arena, witness: Witness, kill: Kill, action: str) -> None:
    """Analyse a match again after a killed worker; store one analysis, and delete the luck."""
    kill("use_idle_results")
    assert arena.operate("use_idle_results") == 0
    stored = "SELECT DISTINCT kind FROM tasks WHERE ended IS NOT NULL"
    assert arena.sql(stored) == [(TaskKind.ANALYSIS,)]


def when_files_are_moved(arena: Arena, witness: Witness, kill: Kill, action: str) -> None:
    """Move all files to object storage and back, without a lost file or a left object."""
    kill("use_objects", str(arena.where.root))
    assert arena.operate("use_objects", str(arena.where.root)) == 0
    assert list(consistency.problems(arena.engine, lambda what, done, of: None)) == []
    assert arena.sql("SELECT key FROM stored_objects") == []
    folder = arena.where.root / "objects"
    assert [path for path in folder.rglob("*") if path.is_file()] == []


def when_an_organiser_signs_in(arena: Arena, witness: Witness, kill: Kill, action: str) -> None:
    kill("use_token")
    assert arena.operate("use_token") == 0


def when_an_organiser_corrects(arena: Arena, witness: Witness, kill: Kill, action: str) -> None:
    """Log a correction exactly if it was made; then cancel what nobody can play."""
    kill("correct")
    assert arena.operate("correct") == 0
    logged = arena.sql("SELECT subject FROM audit_log WHERE action = ?", DISQUALIFY)
    withdrawn = arena.sql("SELECT tournament FROM entrants WHERE withdrawn IS NOT NULL")
    assert sorted(logged) == sorted(withdrawn)
    for tournament in tournaments.list_tournaments(arena.engine):
        if tournament.ended is None:
            lifecycle.cancel(arena.engine, tournament.id)


def when_a_ladder_is_rated(arena: Arena, witness: Witness, kill: Kill, action: str) -> None:
    """Play, rate and rebuild a ladder; then cancel what nobody can play."""
    kill("rate_ladder")
    assert arena.operate("rate_ladder") == 0
    for tournament in tournaments.list_tournaments(arena.engine):
        if tournament.ended is None:
            lifecycle.cancel(arena.engine, tournament.id)


DONE: dict[str, Deed] = {
    **dict.fromkeys(
        (
            *("retire", "schedule", "pause", "resume", "cancel", "void"),
            *("join", "withdraw"),
        ),
        by_an_operator,
    ),
    "give_up": when_a_remote_bot_stays_away,
}
"""How each transaction of an operator is caused, before the arena plays its tournament."""

DONE_AFTERWARDS: dict[str, Deed] = {
    **dict.fromkeys(
        ("add_version", "own", "add_remote", "keep_crate", "trust_crate"),
        when_the_store_is_extended,
    ),
    "lift": when_a_quarantine_is_lifted,
    "presence": when_a_remote_bot_connects,
    "rebuild": when_a_ladder_is_rebuilt,
    **dict.fromkeys(
        (
            *("sum_results", "recount_results", "write_standings", "write_rating_points"),
            "delete_ladder",
        ),
        when_a_ladder_is_rated,
    ),
    "restore": when_a_backup_is_restored,
    **dict.fromkeys(("add_token", "renew_token", "revoke_token"), when_an_owner_is_given_a_token),
    **dict.fromkeys(("delete_owner", "erase_owner"), when_an_owner_is_deleted),
    **dict.fromkeys(("submit", "take_up", "step", "approve", "decide"), when_a_bot_is_pushed),
    **dict.fromkeys(
        (
            *("add_webhook", "remove_webhook", "plan_deliveries", "start_delivery"),
            *("end_delivery", "note_test"),
        ),
        when_a_webhook_is_used,
    ),
    **dict.fromkeys(
        (
            *("grant_model", "revoke_model", "reserve_call", "settle_call"),
            *("reserve_match", "release_match", "stop_calls", "resume_calls"),
        ),
        when_models_are_called,
    ),
    **dict.fromkeys(("sign_in", "sign_out", "audit"), when_an_organiser_signs_in),
    **dict.fromkeys(
        (
            *("begin_object", "discard_object", "abandon_objects", "forget_objects"),
            *("keep_object", "move_to_object", "move_to_database"),
            *("archive_records", "restore_records"),
        ),
        when_files_are_moved,
    ),
    **dict.fromkeys(
        ("claim_idle_result", "store_idle_result", "delete_idle_results"),
        when_an_idle_worker_computes,
    ),
    **dict.fromkeys(
        ("reassign", "void_closed", "replay", "disqualify", "ban"), when_an_organiser_corrects
    ),
}
"""The same for transactions in an arena whose tournament is over."""


def test_every_fault_point_is_used() -> None:
    assert {subject(name) for name in NAMES} == {*PROVOKED, *DONE, *DONE_AFTERWARDS}


@pytest.fixture(scope="module")
def operators() -> Iterator[Operators]:
    with Operators() as operators:
        yield operators


def edges(action: str) -> tuple[str, ...]:
    return tuple(name for name in NAMES if subject(name) == action)


@pytest.mark.parametrize("action", DONE)
def test_killed_operator_commands_lose_and_double_nothing(
    action: str, operators: Operators, conclude: Conclude
) -> None:
    with processes.orphanage():
        arena = Arena()
        arena.operators = operators
        strike(arena, edges(action), DONE[action], conclude)
    arena.remove()


@pytest.fixture(scope="module")
def finished_arena() -> Iterator[Arena]:
    """An arena whose tournament is over, to be copied."""
    arena = Arena()
    with Witness(arena) as witness:
        play(arena, witness)
    yield arena
    arena.remove()


# One test for each point of `step`, because a submission has only three attempts.
@pytest.mark.parametrize(
    "points",
    [edges(action) for action in DONE_AFTERWARDS if action != "step"]
    + [(point,) for point in edges("step")],
    ids=lambda points: points[0],
)
def test_commands_killed_after_the_matches_lose_and_double_nothing(
    points: tuple[str, ...], finished_arena: Arena, operators: Operators, conclude: Conclude
) -> None:
    with processes.orphanage():
        arena = finished_arena.copy()
        arena.operators = operators
        strike(arena, points, DONE_AFTERWARDS[subject(points[0])], conclude)
    arena.remove()


def strike(arena: Arena, points: tuple[str, ...], deed: Deed, conclude: Conclude) -> None:
    """Kill an operator's process at each fault point of a transaction.

    A process that is killed before its commit leaves no changes, so the operation can be repeated.
    """
    action = subject(points[0])

    def kill(*expected: str, then: Callable[[], object] = lambda: None) -> None:
        for name in points:
            token = arena.token()
            assert arena.operate(*expected, failpoint=f"{name}@{token}") == -signal.SIGKILL
            assert_reached(token, name)
            then()

    with Witness(arena) as witness:
        deed(arena, witness, kill, action)
    conclude(arena, witness, f"SIGKILL at {action}")
