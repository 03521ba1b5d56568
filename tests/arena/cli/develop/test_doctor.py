"""Test `pokearena doctor`, which checks that the machine has everything the arena needs."""

import json
import os
import sys
from pathlib import Path

import pytest
from sqlalchemy import update

from arena.cli.workspace import Workspace
from arena.config import Folder, Running
from arena.ratings.strength import fit
from arena.ratings.strength.kept_strengths import SCIPY_MISSING
from arena.services.queue import redis_server, worker_registrations
from arena.services.queue.worker_registrations import MODELS_QUEUE, QUEUE, WorkerInfo
from arena.store import database, schema
from arena.store.bots import versions
from arena.store.match_settings import Clock
from arena.store.matches import match_leases
from arena.store.matches.match_leases import ArenaFault
from arena.system import process_info, redis_connection
from arena.tournaments import scheduler
from referee.games.registry import GAMES
from tests.arena.cli.stored_tournament import store_tournament
from tests.arena.cli.terminal import Cli
from tests.arena.poke_plan import poke_plan


def checks(out: str) -> dict[str, dict[str, str]]:
    return {check["name"]: check for check in json.loads(out)["checks"]}


def test_a_complete_machine_passes_and_no_file_is_left_behind(cli: Cli) -> None:
    result = cli("doctor", "--json")
    assert result.status == 0, result.out
    checks_by_name = checks(result.out)
    assert not [check for check in checks_by_name.values() if check["state"] == "fail"]
    assert "the bundled Valkey" in checks_by_name["Redis"]["found"]
    assert f"plays {', '.join(sorted(GAMES))}" in checks_by_name["referee"]["found"]
    assert not Path(".pokearena").exists()


def test_the_text_has_a_line_per_check_with_its_fix(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("POKEARENA_REDIS_URL", "redis://127.0.0.1:1")
    monkeypatch.setenv("POKEARENA_REFEREE", "127.0.0.1:1")
    result = cli("doctor")
    assert result.status == 1
    lines = result.out.splitlines()
    for name in ("Redis", "referee"):
        at = next(n for n, line in enumerate(lines) if line.split()[:2] == ["fail", name])
        assert "fix: " in lines[at + 1]
    assert any(line.split()[:2] == ["ok", "Python"] for line in lines)


@pytest.mark.long
def test_an_empty_database_passes(cli: Cli, cwd: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POKEARENA_DATABASE_URL", f"sqlite:///{cwd}/named.db")
    checks_by_name = checks(cli("doctor", "--json").out)
    assert "empty" in checks_by_name["database"]["found"]
    assert checks_by_name["remote"]["found"] == "no remote bots"


@pytest.mark.long
def test_a_database_of_another_release_fails(cli: Cli) -> None:
    import sqlite3

    cli("bot", "add", "sample:meek")
    with sqlite3.connect(".pokearena/arena.db") as database:
        assert checks(cli("doctor", "--json").out)["database"]["state"] == "ok"
        database.execute("UPDATE alembic_version SET version_num = '9999'")
        database.commit()
    result = cli("doctor", "--json")
    assert result.status == 1
    assert checks(result.out)["database"]["state"] == "fail"


@pytest.mark.long
def test_a_ladder_that_is_too_large_without_scipy_is_a_warning_with_the_extra(
    cli: Cli, cwd: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fit, "MAX_DENSE_ENTRANTS", 2)
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "scipy", None)
        tournament = store_tournament(Workspace(), ("ace", "bee", "cat"), {})
        assert cli("ladder", "verify").code == SCIPY_MISSING
        shown = cli("standings", "poke", "--json").json
        assert shown["details"]["poke"]["unfitted"] == SCIPY_MISSING
        assert cli("matrix", "poke", "--json").status == 0
        strengths = checks(cli("doctor", "--json").out)["strengths"]
        assert strengths["state"] == "warn"
        assert "poke/1" in strengths["found"]
        assert "large-ladders" in strengths["fix"]
    assert checks(cli("doctor", "--json").out)["strengths"]["state"] == "ok"
    assert cli("ladder", "verify", "--tournament", tournament).status == 0


@pytest.mark.long
def test_a_disabled_webhook_is_a_warning_with_its_reason(cli: Cli) -> None:
    import sqlite3

    hook = cli("webhook", "add", "https://example.org/", "--json").json["webhook"]
    assert checks(cli("doctor", "--json").out)["webhooks"]["state"] == "ok"
    with sqlite3.connect(".pokearena/arena.db") as database:
        database.execute("UPDATE webhooks SET disabled = 1, reason = 'status 410'")
        database.commit()
    webhooks = checks(cli("doctor", "--json").out)["webhooks"]
    assert webhooks["state"] == "warn"
    assert hook in webhooks["found"]
    assert "status 410" in webhooks["found"]


@pytest.mark.long
def test_the_object_storage_is_probed(cli: Cli, cwd: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POKEARENA_OBJECT_STORAGE_URL", f"file://{cwd}/objects")
    storage = checks(cli("doctor", "--json").out)["storage"]
    assert storage["state"] == "ok"
    assert f"file://{cwd}/objects answers after" in storage["found"]
    cli("bot", "add", "sample:meek")
    monkeypatch.delenv("POKEARENA_OBJECT_STORAGE_URL")
    storage = checks(cli("doctor", "--json").out)["storage"]
    assert (storage["state"], storage["fix"]) == (
        "fail",
        "set POKEARENA_OBJECT_STORAGE_URL to its address",
    )
    monkeypatch.setenv("POKEARENA_OBJECT_STORAGE_URL", "bucket")
    result = cli("doctor", "--json")
    assert result.status == 1
    storage = checks(result.out)["storage"]
    assert storage["state"] == "fail"
    assert storage["fix"] == "correct or unset POKEARENA_OBJECT_STORAGE_URL"


def test_every_check_is_finished_while_redis_and_referee_of_the_services_are_away(
    cli: Cli, cwd: Path
) -> None:
    cli("bot", "add", "sample:meek")
    _note_services(f"unix://{cwd}/redis.sock", f"unix:{cwd}/referee.sock")
    result = cli("doctor", "--json")
    found = checks(result.out)
    assert result.status == 1
    assert {name: check["state"] for name, check in found.items()} | {
        "services": "fail",
        "Redis": "fail",
        "referee": "fail",
        "matches": "ok",
        "limits": "ok",
    } == {name: check["state"] for name, check in found.items()}
    assert "does not answer" in found["services"]["found"]
    assert found["services"]["fix"]


@pytest.mark.long
def test_the_redis_of_the_services_is_asked_and_another_one_is_named(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cli("bot", "add", "sample:meek")
    with redis_server.resolve(Folder(tmp_path / "other"), {}) as other:
        _note_services(other.url, "")
        assert checks(cli("doctor", "--json").out)["Redis"]["state"] == "ok"
        monkeypatch.setenv("POKEARENA_REDIS_URL", "redis://127.0.0.1:1")
        redis = checks(cli("doctor", "--json").out)["Redis"]
        assert redis["state"] == "warn"
        assert "POKEARENA_REDIS_URL" in redis["fix"]
    # The configured Redis answers or not: the services use the other one, which is away.
    with redis_server.resolve(Folder(tmp_path / "third"), {}) as third:
        monkeypatch.setenv("POKEARENA_REDIS_URL", third.url)
        assert checks(cli("doctor", "--json").out)["Redis"]["state"] == "fail"


def _note_services(redis: str, referee: str) -> None:
    began = process_info.start_time(os.getpid())
    Folder(Path(".pokearena")).note_running(Running(os.getpid(), redis, referee, "", began))


@pytest.mark.long
def test_a_ladder_of_models_without_workers_of_its_own_is_named(cli: Cli, tmp_path: Path) -> None:
    engine = Workspace(Path(".pokearena")).store
    for name in ("meek", "random"):
        versions.add_version(engine, name, "1", name, f"/{name}", {})
    with redis_server.resolve(Folder(tmp_path / "other"), {}) as server:
        _note_services(server.url, "")
        client = redis_connection.connect(server.url)

        def state(queue: str) -> str:
            worker = WorkerInfo(name=queue, host="here", pid=1, queue=queue)
            worker_registrations.register_worker(client, worker)
            return str(checks(cli("doctor", "--json").out)["services"]["state"])

        assert state(QUEUE) == "ok"
        scheduler.begin(engine, poke_plan(clock=Clock(60_000, 60_000)), ["meek@1", "random@1"])
        assert state(QUEUE) == "warn"
        assert state(MODELS_QUEUE) == "ok"
        client.close()
    engine.dispose()


@pytest.mark.long
def test_delayed_and_void_matches_are_named(cli: Cli) -> None:
    engine = Workspace(Path(".pokearena")).store
    for name in ("meek", "random"):
        versions.add_version(engine, name, "1", name, f"/{name}", {})
    plan = poke_plan(options={}, settings={"cycles": 2})
    cup = scheduler.begin(engine, plan, ["meek@1", "random@1"])
    delayed, void = match_leases.due(engine)
    for match, machines in ((delayed, "a"), (void, "aab")):
        for machine in machines:
            with database.writing(engine) as connection:
                connection.execute(update(schema.matches).values(retry_at=None))
            lease = match_leases.lease(engine, match, "worker")
            assert lease is not None
            match_leases.release(engine, lease, ArenaFault(f"It broke on {machine}.", machine))
    with database.writing(engine) as connection:
        connection.execute(update(schema.matches).values(retry_at=database.now() + 60))
    engine.dispose()
    found = checks(cli("doctor", "--json").out)["matches"]
    assert found["state"] == "warn"
    assert found["found"].startswith(
        f"1 delayed and 1 void after failures of the arena; {delayed}: waits after 1 failure"
    )
    assert cup.id in found["fix"]
