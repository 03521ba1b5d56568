"""Text that a database cannot store, and databases that cannot store all text."""

import json
from collections.abc import Callable
from dataclasses import replace

import pytest
from sqlalchemy import Engine, select

from arena import config
from arena.cli.develop.machine_checks import FAIL, _database
from arena.cli.workspace import Workspace
from arena.config import Folder
from arena.errors import NotFound, Unreachable
from arena.ratings.closed_match import PlayedFault
from arena.store import backup_file, database, schema
from arena.store.access import audit_log
from arena.store.access.audit_log import COMMAND_LINE, AuditEntry
from arena.store.bots import versions
from arena.store.matches import match_leases
from arena.store.schema import MatchState
from arena.store.stored_text import storable
from arena.store.tournaments.tournaments import Tournament
from tests.arena.store.store_contender import played_game
from tests.cluster import Cluster
from tests.errors import has_code

NASTY = "\0 \ud800 \udfff \U0010ffff 日本 \u202e"
ESCAPED = "\\x00 \\ud800 \\udfff \U0010ffff 日本 \u202e"


def test_only_what_cannot_be_stored_is_escaped() -> None:
    assert storable(NASTY) == ESCAPED
    assert storable("é\n\t") == "é\n\t"


def test_no_text_of_a_bot_fails_the_commit_of_a_game(
    store: Engine, schedule: Callable[..., Tournament]
) -> None:
    schedule(2)
    match = match_leases.due(store)[0]
    lease = match_leases.lease(store, match, NASTY)
    assert lease is not None
    game = 0
    while True:
        fault = PlayedFault(game, 0, 0, lease.spec.versions[0], "illegal", NASTY, NASTY, NASTY)
        wrong = replace(
            played_game(lease.spec, game),
            record=json.dumps({"note": NASTY}, ensure_ascii=False),
            faulted=(fault,),
        )
        if match_leases.commit_game(store, lease, wrong):
            break
        game += 1
    with database.reading(store) as connection:
        state = connection.execute(select(schema.matches.c.state)).scalar_one()
        records = connection.execute(select(schema.games.c.record)).scalars().all()
    assert state == MatchState.CLOSED
    assert all("日本" in record for record in records)


def test_names_in_requests_and_logs_are_stored_and_sought(store: Engine) -> None:
    with audit_log.audited(store, AuditEntry(COMMAND_LINE, "bot.ban", NASTY, NASTY)):
        pass
    (entry,) = audit_log.list_entries(store, subject=NASTY)
    assert entry.reason == ESCAPED
    assert versions.owner_of(store, NASTY) is None
    with pytest.raises(NotFound):
        match_leases.void(store, NASTY, "")


@pytest.mark.long
@pytest.mark.parametrize("encoding", ["LATIN1", "SQL_ASCII"])
def test_a_database_that_cannot_store_all_text_is_refused(
    server: Cluster, encoding: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = f"ENCODING '{encoding}' LOCALE 'C' LOCALE_PROVIDER libc"
    with server.database("template0", options) as url:
        engine = database.open(url)
        with pytest.raises(Unreachable, check=has_code("encoding")):
            database.prepare(engine)
        monkeypatch.setenv(config.DATABASE[0], url)
        assert _database(Workspace())[0] == FAIL
        engine.dispose()


@pytest.mark.long
def test_settings_of_the_client_and_the_role_do_not_change_what_is_stored(
    server: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PGCLIENTENCODING", "LATIN1")
    monkeypatch.setenv(
        "PGOPTIONS",
        "-c default_transaction_isolation=serializable -c extra_float_digits=-10"
        " -c synchronous_commit=off",
    )
    with server.database(server.migrated_template()) as url:
        engine = database.open(f"{url}&client_encoding=latin1")
        with audit_log.audited(engine, AuditEntry(COMMAND_LINE, "bot.ban", "日本", "日本")):
            pass
        assert audit_log.list_entries(engine)[0].reason == "日本"
        with database.writing(engine) as connection:
            for setting, value in (
                ("transaction_isolation", "read committed"),
                ("extra_float_digits", "1"),
                ("synchronous_commit", "on"),
            ):
                shown = connection.exec_driver_sql(f"SHOW {setting}").scalar_one()
                assert shown == value
        engine.dispose()


@pytest.mark.long
def test_an_older_file_with_nul_is_restored_into_postgresql(
    server: Cluster, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = Folder(tmp_path_factory.mktemp("old"))
    old = database.open(folder.database_url({}))
    database.prepare(old)
    with database.writing(old) as connection:
        connection.exec_driver_sql(
            "INSERT INTO bots (name, created, owner) VALUES (?, 0, ?)", ("bot", "a\0b")
        )
    backup_file.backup(old, folder.root / "backup.db", lambda *_: None)
    with server.database() as url:
        engine = database.open(url)
        backup_file.restore(engine, folder.root / "backup.db", lambda *_: None)
        with database.reading(engine) as connection:
            owner = connection.execute(select(schema.bots.c.owner)).scalar_one()
        assert owner == "a\\x00b"
        engine.dispose()
    old.dispose()
