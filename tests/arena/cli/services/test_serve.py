"""Test which ladders `pokearena serve` opens."""

import json
import subprocess
from http import HTTPStatus
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import urlopen

import pytest

from arena.cli.services import serve
from arena.cli.workspace import Workspace
from arena.store.tournaments import lifecycle
from arena.submissions import open_ladders
from arena.system.process_info import cores
from tests.arena.cli.terminal import POKEARENA, Cli
from tests.guarded_process import GuardedProcess


def ladders(*options: str, root: str = "/") -> dict[str, str]:
    """Start `serve`, request its home page if it has one, stop it, and return the open ladders.

    The links of the home page begin with `root`.
    """
    line = [str(POKEARENA), "serve", "--workers", "0", "--json", *options]
    with GuardedProcess(line, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        announced = json.loads(process.stdout.readline())
        assert (announced["page"] is None) == ("--no-web" in options)
        if announced["page"]:
            assert urlsplit(announced["page"]).path == root
            with urlopen(announced["page"], timeout=60) as home:
                assert home.status == HTTPStatus.OK
                assert f'href="{root}static/' in home.read().decode()
        process.terminate()
    assert process.returncode == 0
    by_form: dict[str, str] = announced["ladders"]
    return by_form


@pytest.mark.long
def test_serve_opens_ladders_and_doctor_lists_them(cli: Cli, cwd: Path) -> None:
    assert cli("bot", "add", "sample:meek").status == 0
    named = ladders("--no-web", "--no-ladders", "--ladder", "saint_poker-3")
    assert list(named) == ["saint_poker-3"]
    all_ladders = ladders("--root-path", "/arena/", root="/arena/")
    assert {form.partition("-")[0] for form in all_ladders} == {
        *("poke", "saint_poker", "pokex", "pouku", "pokino")
    }
    assert named.items() <= all_ladders.items()
    checks = cli("doctor", "--json").json["checks"]
    (check,) = [check for check in checks if check["name"] == "ladders"]
    assert all(name in check["found"] for name in all_ladders.values())


@pytest.mark.parametrize("form", ["pokex-9", "whist", "poke-must_beat=7", "poke-nonsense"])
def test_an_unknown_form_is_refused_before_anything_starts(cli: Cli, cwd: Path, form: str) -> None:
    assert cli("serve", "--ladder", form).status == 2
    assert not (cwd / ".pokearena").exists()


def test_workers_for_models_are_started_if_the_arena_has_models_or_their_ladders(
    cwd: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serve, "_MODEL_WORKER_BYTES", 1)
    workspace, plans = Workspace(cwd / "data"), [serve.ladder_of("poke~slow", "--ladder")]
    assert serve.usual_model_workers(workspace, plans) == 0
    models = [*plans, serve.ladder_of("poke~model", "--ladder")]
    assert serve.usual_model_workers(workspace, models) > cores()
    open_ladders.create_missing(workspace.store, models)
    assert serve.usual_model_workers(workspace, plans) > cores()
    (ladder,) = [
        each
        for each in open_ladders.list_open_ladders(workspace.store)
        if each.plan.ladder == "poke~model"
    ]
    lifecycle.cancel(workspace.store, ladder.id)
    assert serve.usual_model_workers(workspace, plans) == 0
    (workspace.folder.root / "models.toml").touch()
    assert serve.usual_model_workers(workspace, plans) > cores()
    with monkeypatch.context() as little_memory:
        little_memory.setattr(serve, "_MODEL_WORKER_BYTES", 2**60)
        assert serve.usual_model_workers(workspace, plans) == 1
    monkeypatch.setenv("POKEARENA_REFEREE", "unix:/referee.sock")
    assert serve.usual_model_workers(workspace, plans) == 0


@pytest.mark.parametrize("command", ["serve", "web"])
@pytest.mark.parametrize(
    "options",
    [
        ("--root-path", "arena"),
        ("--root-path", "//evil.example"),
        ("--root-path", "/a/../b"),
        ("--site", "https://arena.example.org/a%20b"),
        ("--site", "https://arena.example.org", "--root-path", "/arena"),
        ("--site", "https://arena.example.org/one", "--root-path", "/other"),
    ],
)
def test_an_invalid_root_path_is_refused_before_anything_starts(
    cli: Cli, cwd: Path, command: str, options: tuple[str, ...]
) -> None:
    assert cli(command, *options).status == 2
    assert not (cwd / ".pokearena").exists()
