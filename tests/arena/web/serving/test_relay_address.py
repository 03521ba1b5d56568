"""The address of the relay that the pages publish."""

import os
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from arena.config import Folder, Running
from arena.remote import relay_url
from arena.remote.relay_url import RelayNotFound, RelayTarget
from arena.store import database
from arena.system import process_info
from arena.web.app import create
from arena.web.data.web_state import ServerSettings, WebState
from tests.arena.web.page_server import served


def web_of(root: Path, relay: str) -> WebState:
    where = Folder(root).create()
    engine = database.open(where.database_url({}))
    database.upgrade(engine)
    pid = os.getpid()
    where.note_running(Running(pid, "", "", "", process_info.start_time(pid), "", relay))
    return WebState(engine, ServerSettings(data=where.root))


@pytest.mark.parametrize(
    ("relay", "expected"),
    [
        ("", {"host": None, "port": None, "tls": False}),
        ("grpc://0.0.0.0:7000", {"host": None, "port": 7000, "tls": False}),
        ("grpcs://[::]:7000", {"host": None, "port": 7000, "tls": True}),
        ("grpc://10.0.0.5:7000", {"host": "10.0.0.5", "port": 7000, "tls": False}),
    ],
)
def test_the_pages_publish_the_relay_address(
    tmp_path: Path, relay: str, expected: dict[str, object]
) -> None:
    with TestClient(create(web_of(tmp_path, relay))) as client:
        assert client.get("/relay.json").json() == expected


def test_a_bot_connects_with_the_web_address_only(tmp_path: Path) -> None:
    with served(web_of(tmp_path / "a", "grpcs://0.0.0.0:7000")) as address:
        assert relay_url.find_relay(address) == RelayTarget("127.0.0.1:7000", tls=True)
    with (
        served(web_of(tmp_path / "b", "")) as address,
        pytest.raises(RelayNotFound),
    ):
        relay_url.find_relay(address)
