"""Test the data folder and the settings."""

import os
import shutil
import stat
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest

from arena import config
from arena.config import Folder, Running
from arena.system import process_info, socket_paths, temporary_folder
from tests.errors import has_code
from tests.guarded_process import GuardedProcess


def test_options_override_the_environment_and_that_the_defaults(tmp_path: Path) -> None:
    environment = {"POKEARENA_DATA": str(tmp_path / "named")}
    assert config.locate(tmp_path / "asked", environment).root == tmp_path / "asked"
    assert config.locate(None, environment).root == tmp_path / "named"
    assert config.locate(None, {}).root == Path.cwd() / ".pokearena"


def test_a_new_folder_is_private_and_ignored_by_git(tmp_path: Path) -> None:
    made = Folder(tmp_path / "deep" / "data").create()
    assert stat.S_IMODE(made.root.stat().st_mode) == 0o700
    assert (made.root / ".gitignore").read_text() == "*\n"
    assert made.logs.is_dir()
    assert made.versions.is_dir()


def test_creating_twice_changes_nothing(tmp_path: Path) -> None:
    made = Folder(tmp_path / "data").create()
    (made.root / ".gitignore").write_text("mine\n")
    made.create()
    assert (made.root / ".gitignore").read_text() == "mine\n"


def test_a_directory_with_other_files_is_not_hidden_from_git(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("")
    tmp_path.chmod(0o755)
    Folder(tmp_path).create()
    assert not (tmp_path / ".gitignore").exists()
    assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o755


def test_the_database_is_the_configured_one_or_a_file_in_the_folder(tmp_path: Path) -> None:
    where = Folder(tmp_path)
    assert where.database_url({}) == f"sqlite:///{tmp_path}/arena.db"
    assert where.database_url({"DATABASE_URL": "postgresql://two"}) == "postgresql://two"
    both = {"POKEARENA_DATABASE_URL": "postgresql://one", "DATABASE_URL": "postgresql://two"}
    assert where.database_url(both) == "postgresql://one"
    assert where.database_url({**both, "POKEARENA_DATABASE_URL": ""}) == "postgresql://two"


def test_running_services_are_recorded_and_removed_by_their_supervisor(tmp_path: Path) -> None:
    where = Folder(tmp_path).create()
    assert where.running() is None
    running = Running(7, "unix:///r.sock", "unix:/referee.sock", "/tmp/x")
    where.note_running(running)
    assert where.running() == running
    where.forget_running(8)
    assert where.running() == running
    where.forget_running(7)
    assert where.running() is None


@pytest.mark.parametrize("text", ["", "{}", "[1]", '{"pid": "x"}', "\x00"])
def test_a_damaged_services_file_is_ignored(tmp_path: Path, text: str) -> None:
    (tmp_path / "running.json").write_text(text)
    assert Folder(tmp_path).running() is None


def test_a_directory_for_sockets_is_private_and_short_under_a_long_path(tmp_path: Path) -> None:
    long = tmp_path / ("x" * 100)
    long.mkdir()
    made = config.private_directory({"XDG_RUNTIME_DIR": str(long)})
    try:
        assert len(os.fsencode(made)) <= 80
        assert stat.S_IMODE(made.stat().st_mode) == 0o700
    finally:
        temporary_folder.remove(made)
    assert not made.exists()


@pytest.mark.parametrize("name", ["a b", "a%2Fb", "a?b", "a#b", "ü", "a[b"])
def test_a_directory_for_sockets_means_the_same_in_every_address(tmp_path: Path, name: str) -> None:
    odd = Path(tempfile.mkdtemp(dir="/tmp")) / name
    odd.mkdir()
    made = config.private_directory({"XDG_RUNTIME_DIR": str(odd)})
    assert odd not in made.parents
    assert socket_paths.is_plain(str(made))
    temporary_folder.remove(made)
    shutil.rmtree(odd.parent)


def test_a_data_folder_that_is_not_utf_8_is_refused() -> None:
    with pytest.raises(config.SettingError, check=has_code("not-utf-8")):
        config.locate("/data/\udcff", {})


def test_services_are_identified_by_process_and_not_by_pid_only() -> None:
    with GuardedProcess([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as other:
        there = Running(
            other.pid, "unix:///r.sock", "unix:/none", "/x", process_info.start_time(other.pid)
        )
        assert there.alive
        assert not replace(there, began="another time").alive
        other.kill()
        # Wait for the exit without reaping the process.
        os.waitid(os.P_PID, other.pid, os.WEXITED | os.WNOWAIT)
        assert not there.alive
    assert not there.alive


def test_a_setting_can_be_read_from_a_file_named_by_a_variable(tmp_path: Path) -> None:
    file = tmp_path / "redis"
    file.write_text("redis://:word@10.0.0.5\n")
    named = {"REDIS_URL": "redis://other", "POKEARENA_REDIS_URL_FILE": str(file)}
    assert config.setting(config.REDIS, named) == (
        "POKEARENA_REDIS_URL_FILE",
        "redis://:word@10.0.0.5",
    )


@pytest.mark.parametrize(
    ("content", "code"),
    [(None, "unreadable"), (b"", "empty"), (b"\xff", "unreadable")],
)
def test_an_empty_settings_file_is_reported(
    tmp_path: Path, content: bytes | None, code: str
) -> None:
    file = tmp_path / "redis"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(config.SettingError, check=has_code(code)):
        config.setting(config.REDIS, {"POKEARENA_REDIS_URL_FILE": str(file)})


@pytest.mark.parametrize("names", [config.DATABASE, config.REDIS, ("POKEARENA_TOKEN",)])
def test_a_setting_given_twice_is_refused(tmp_path: Path, names: tuple[str, ...]) -> None:
    (tmp_path / "file").write_text("secret")
    for name in names:
        twice = {name: "secret", f"{name}_FILE": str(tmp_path / "file")}
        with pytest.raises(config.SettingError, check=has_code("set-twice")) as caught:
            config.setting(names, twice)
        assert "secret" not in str(caught.value)
        assert config.setting(names, {**twice, name: ""}) == (f"{name}_FILE", "secret")


def test_secrets_are_removed_from_the_environment() -> None:
    storage = {"POKEARENA_OBJECT_STORAGE_URL": "s3://b", "AWS_SECRET_ACCESS_KEY": "x"}
    secrets = {"DATABASE_URL": "x", "POKEARENA_REDIS_URL_FILE": "x", **storage}
    plain = {"PATH": "/bin", "AWS_REGION": "us-east-1"}
    assert config.without_secrets({**secrets, **plain}) == plain
    assert config.object_storage_variables({**secrets, **plain}) == storage


def test_a_store_outside_the_data_folder_is_shared(tmp_path: Path) -> None:
    data = Folder(tmp_path)
    assert not data.shares_store({})
    assert not data.shares_store({"POKEARENA_DATABASE_URL": data.database_url({})})
    assert data.shares_store({"POKEARENA_DATABASE_URL": "postgresql://10.0.0.5/arena"})


def test_builds_are_stored_for_other_machines_or_in_object_storage(tmp_path: Path) -> None:
    data = Folder(tmp_path)
    assert not data.stores_builds({})
    assert data.stores_builds({"POKEARENA_DATABASE_URL": "postgresql://10.0.0.5/arena"})
    assert data.stores_builds({"POKEARENA_OBJECT_STORAGE_URL": "s3://bucket"})


def test_the_version_cache_has_ten_gibibytes_by_default() -> None:
    assert config.most_versions({}) == 10 << 30
    assert config.most_versions({"POKEARENA_VERSIONS_MIB": "3"}) == 3 << 20
    for value in ("-1", "1.5", "many", "\u0663", "9" * 5000):
        with pytest.raises(config.SettingError, check=has_code("not-a-size")):
            config.most_versions({"POKEARENA_VERSIONS_MIB": value})


def test_a_bot_may_request_a_minute_to_start_by_default() -> None:
    assert config.most_start_ms({}) == 60_000
    assert config.most_start_ms({"POKEARENA_START_LIMIT_MS": "0"}) == 0
    for value in ("-1", "1.5", "many", "\u0663", "3600001", "9" * 5000):
        with pytest.raises(config.SettingError, check=has_code("not-a-time")):
            config.most_start_ms({"POKEARENA_START_LIMIT_MS": value})
