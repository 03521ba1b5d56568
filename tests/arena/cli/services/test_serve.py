"""Test which ladders `pokearena serve` opens."""

import json
import subprocess
from http import HTTPStatus
from pathlib import Path
from urllib.request import urlopen

import pytest

from tests.arena.cli.terminal import POKEARENA, Cli


def ladders(*options: str) -> dict[str, str]:
    """Start `serve`, request its home page if it has one, stop it, and return the open ladders."""
    line = [str(POKEARENA), "serve", "--workers", "0", "--json", *options]
    with subprocess.Popen(line, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        announced = json.loads(process.stdout.readline())
        assert (announced["page"] is None) == ("--no-web" in options)
        if announced["page"]:
            assert urlopen(announced["page"], timeout=60).status == HTTPStatus.OK
        process.terminate()
    assert process.returncode == 0
    by_form: dict[str, str] = announced["ladders"]
    return by_form


@pytest.mark.long
def test_serve_opens_ladders_and_doctor_lists_them(cli: Cli, cwd: Path) -> None:
    assert cli("bot", "add", "sample:meek").status == 0
    named = ladders("--no-web", "--no-ladders", "--ladder", "saint_poker-3")
    assert list(named) == ["saint_poker-3"]
    all_ladders = ladders()
    assert {form.partition("-")[0] for form in all_ladders} == {
        *("poke", "saint_poker", "pokex", "pouku", "pokino")
    }
    assert named.items() <= all_ladders.items()
    checks = json.loads(cli("doctor", "--json").out)["checks"]
    (check,) = [check for check in checks if check["name"] == "ladders"]
    assert all(name in check["found"] for name in all_ladders.values())


@pytest.mark.parametrize("form", ["pokex-9", "whist", "poke-must_beat=7", "poke-nonsense"])
def test_an_unknown_form_is_refused_before_anything_starts(cli: Cli, cwd: Path, form: str) -> None:
    assert cli("serve", "--ladder", form).status == 2
    assert not (cwd / ".pokearena").exists()
