"""How long a remote bot counts as present after a report of its relay."""

import pytest
from sqlalchemy import Engine, select, update

from arena.store import database, schema
from arena.store.bots import remote_bots

RELAY = "unix:/run/relay.sock"


def left(store: Engine) -> float:
    """Return for how many seconds the bot still counts as present."""
    query = select(schema.remotes.c.until - database.now())
    with database.reading(store) as connection:
        return float(connection.execute(query).scalar_one())


def test_a_bot_is_present_for_fifteen_seconds_after_a_report_of_its_relay(store: Engine) -> None:
    version, _ = remote_bots.add_relayed(store, "far", "1", "ada")
    remote_bots.record_connected(store, version.id, RELAY, 4)
    assert left(store) == pytest.approx(15, abs=5)
    with database.writing(store) as connection:
        connection.execute(update(schema.remotes).values(until=0))
    remote_bots.extend_presence(store, [version.id], "unix:/run/another.sock")
    assert left(store) < 0
    remote_bots.extend_presence(store, [version.id], RELAY)
    assert left(store) == pytest.approx(15, abs=5)
