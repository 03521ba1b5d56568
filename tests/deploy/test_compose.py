"""The compose file keeps its guarantees, and its Valkey server applies its configuration."""

import os
import stat
import subprocess
from pathlib import Path
from typing import Any

import pytest
import redis
import yaml

from arena import config
from arena.matches.lease_renewal import GRACE_SECONDS
from arena.services.queue import redis_server
from tests.deploy.command_lines import parsed_command, variables
from tests.deploy.manifests import DEPLOY, ROOT, Tree
from tests.waiting import wait_until

OURS = {"services", "worker", "metrics", "migrate", "backup"}
OTHERS = {"prometheus", "grafana"}
INSIDE = {"valkey", "database", "worker", "migrate", "backup"}
SECRETS = DEPLOY / "secrets.sh"


@pytest.fixture(scope="module")
def compose() -> Tree:
    """Return the compose file with its YAML merges resolved."""
    with (DEPLOY / "compose.yaml").open(encoding="utf-8") as file:
        tree: Tree = yaml.safe_load(file)
    return tree


def named(value: Any) -> list[str]:
    """Return the names in a list, or the keys of a mapping."""
    return list(value or ())


def test_referenced_networks_secrets_and_volumes_exist(compose: Tree) -> None:
    for name, service in compose["services"].items():
        assert set(named(service.get("networks"))) <= set(compose["networks"]), name
        assert set(named(service.get("secrets"))) <= set(compose["secrets"]), name
        assert set(named(service.get("depends_on"))) <= set(compose["services"]), name
        for volume in service.get("volumes", []):
            source = volume.partition(":")[0]
            assert source in compose["volumes"] or (DEPLOY / source).is_dir(), name
        sources = {config["source"] for config in service.get("configs", [])}
        assert sources <= set(compose["configs"]), name


def test_workers_and_stores_are_on_internal_networks(compose: Tree) -> None:
    for name in INSIDE:
        service = compose["services"][name]
        assert service.get("network_mode") == "none" or service["networks"] == ["inside"]
        assert "ports" not in service
    assert compose["networks"]["inside"] == {"internal": True}


def test_the_web_port_is_bound_to_localhost(compose: Tree) -> None:
    ports = [port for service in compose["services"].values() for port in service.get("ports", [])]
    assert len(ports) == 3
    assert all(port.startswith("127.0.0.1:") for port in ports)


def test_every_service_has_a_memory_limit(compose: Tree) -> None:
    for name, service in compose["services"].items():
        limit = service["deploy"]["resources"]["limits"]["memory"]
        assert memory_of(limit) >= memory_of("512m"), name
    # Valkey refuses writes before the kernel kills it.
    words = compose["services"]["valkey"]["command"]
    most = words[words.index("--maxmemory") + 1].removesuffix("b")
    assert memory_of(most) < memory_of("512m")


def memory_of(quantity: str) -> int:
    return int(quantity[:-1]) << {"m": 20, "g": 30}[quantity[-1]]


def test_backups_are_written_to_a_volume_of_their_own(compose: Tree) -> None:
    service = compose["services"]["backup"]
    assert service["profiles"] == ["backup"]
    assert service["restart"] == "no"
    folder = service["command"][2]
    assert f"backups:{folder}" in service["volumes"]
    # A new volume has the owner of the folder in the image.
    dockerfile = (DEPLOY / "Dockerfile").read_text(encoding="utf-8")
    assert f" {folder} " in dockerfile.partition("install -d -o pokearena")[2].partition("\n")[0]


def test_metrics_services_are_in_an_optional_profile(compose: Tree) -> None:
    for name in OTHERS | {"metrics"}:
        assert compose["services"][name]["profiles"] == ["metrics"]
    for name in OTHERS:
        assert compose["services"][name]["network_mode"] == "service:metrics"


def test_embedded_configuration_is_valid_yaml(compose: Tree) -> None:
    for file in compose["configs"].values():
        assert yaml.safe_load(file["content"])["apiVersion"] == 1


def test_no_container_runs_as_root(compose: Tree) -> None:
    for name in OURS | OTHERS | {"valkey"}:
        service = compose["services"][name]
        assert service["user"].partition(":")[0] not in ("", "0", "root"), name
        assert service["read_only"] is True
        assert service["cap_drop"] == ["ALL"]
        assert service["security_opt"] == ["no-new-privileges:true"]
        assert not {"privileged", "cap_add", "pid", "ipc", "devices"} & service.keys()


def test_secrets_are_only_in_files(compose: Tree) -> None:
    for name, service in compose["services"].items():
        mounted = {f"/run/secrets/{secret}" for secret in named(service.get("secrets"))}
        for variable, value in service.get("environment", {}).items():
            if "URL" in variable or "PASSWORD" in variable:
                assert variable.endswith("_FILE"), name
                assert value in mounted


def test_the_arena_understands_every_command_and_variable(compose: Tree, tmp_path: Path) -> None:
    a_file = tmp_path / "file"
    a_file.touch()
    known = variables()
    for name in OURS:
        service = compose["services"][name]
        parsed_command(service["command"], a_file)
        for variable in service.get("environment", {}):
            plain = variable.removesuffix("_FILE")
            assert plain in known or plain == "TMPDIR"
            if plain != variable:
                a_file.write_text("a secret\n", encoding="utf-8")
                assert config.setting((plain,), {variable: str(a_file)}) == (variable, "a secret")


def test_both_images_are_built_with_the_same_packages_with_games(compose: Tree) -> None:
    for name in ("services", "worker"):
        assert compose["services"][name]["build"]["args"] == {"GAMES": "${GAMES:-}"}


def test_workers_have_time_to_release_their_match(compose: Tree) -> None:
    for name in ("services", "worker"):
        grace = compose["services"][name]["stop_grace_period"]
        assert int(grace.removesuffix("s")) >= 5 * GRACE_SECONDS


def make_secrets(place: Path) -> dict[str, str]:
    """Run the script that creates the secrets; return their contents by file name."""
    subprocess.run([SECRETS, place], check=True)
    return {path.name: path.read_text(encoding="utf-8") for path in place.iterdir()}


def test_the_script_creates_every_secret_once(compose: Tree, tmp_path: Path) -> None:
    place = tmp_path / "secrets"
    made = make_secrets(place)
    assert {f"secrets/{name}" for name in made} == {
        secret["file"] for secret in compose["secrets"].values()
    }
    assert stat.S_IMODE(place.stat().st_mode) == 0o700
    assert all(stat.S_IMODE(path.stat().st_mode) == 0o444 for path in place.iterdir())
    assert make_secrets(place) == made
    assert make_secrets(tmp_path / "others")["redis_url"] != made["redis_url"]


def test_servers_and_clients_have_equal_passwords(tmp_path: Path) -> None:
    made = make_secrets(tmp_path / "secrets")
    assert f":{made['database_password']}@database/" in made["database_url"]
    password = made["valkey.conf"].split()[1]
    assert made["redis_url"] == f"redis://:{password}@valkey:6379/0"
    assert len(password) == 48


def test_secrets_are_not_committed(tmp_path: Path) -> None:
    ignored = subprocess.run(
        ["git", "check-ignore", "--quiet", DEPLOY / "secrets" / "redis_url"], cwd=ROOT
    )
    assert ignored.returncode == 0


@pytest.mark.long
def test_valkey_requires_the_password_and_persists_data(compose: Tree, tmp_path: Path) -> None:
    binary = redis_server.bundled()
    assert binary is not None
    secrets = tmp_path / "secrets"
    made = make_secrets(secrets)
    words = [
        word.replace("/run/secrets/valkey", str(secrets / "valkey.conf")).replace(
            "/data", str(tmp_path)
        )
        for word in compose["services"]["valkey"]["command"]
    ]
    assert words[0] == "valkey-server"
    address = tmp_path / "v.sock"
    server = subprocess.Popen(
        [binary, *words[1:], "--port", "0", "--unixsocket", address],
        stdout=subprocess.DEVNULL,
        env={"PATH": os.defpath},
    )
    try:
        wait_until(lambda: address.exists() or server.poll() is not None)
        assert server.poll() is None
        stranger = redis.Redis(unix_socket_path=str(address))
        with stranger, pytest.raises(redis.exceptions.AuthenticationError):
            stranger.ping()
        password = made["valkey.conf"].split()[1]
        with redis.Redis(unix_socket_path=str(address), password=password) as ours:
            assert ours.config_get("appendonly") == {"appendonly": "yes"}
            assert ours.config_get("maxmemory-policy") == {"maxmemory-policy": "noeviction"}
        text = Path(f"/proc/{server.pid}/cmdline").read_text(encoding="utf-8")
        assert password not in text
    finally:
        server.kill()
        server.wait()
    assert list(tmp_path.glob("appendonlydir/*.aof"))
