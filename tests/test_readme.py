"""Everything the README shows is run, as a newcomer would: in this order, in one empty folder.

Only the demo is left to tests/test_installation.py, which runs it in a fresh clone, and the test
command to `.ci/run`.
"""

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
TEST_COMMAND = "uv run pytest"
FIRST_COMMAND = "uv run pokearena demo"
POKEARENA = Path(sys.executable).with_name("pokearena")


def commands(page: str) -> list[str]:
    """The command lines of a page's plain code blocks, comments aside."""
    text = (ROOT / page).read_text(encoding="utf-8")
    blocks = re.findall(r"^```(\w*)\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    shown = [row for language, block in blocks if not language for row in block.splitlines()]
    lines = [row.split("  #")[0].strip() for row in shown]
    return [line for line in lines if line]


def files(page: str) -> dict[str, str]:
    """The files a page shows: blocks of TOML that begin with a comment that names them."""
    text = (ROOT / page).read_text(encoding="utf-8")
    return dict(re.findall(r"^```toml\n# (\S+\.toml)\n(.*?)^```$", text, re.DOTALL | re.MULTILINE))


def a_match(data: Path) -> str:
    """The id of a match that has been played."""
    told = subprocess.run(
        [POKEARENA, "tournament", "show", a_tournament(data), "--json", "--data", data],
        capture_output=True,
        check=True,
        text=True,
    )
    return str(re.findall(r'"(m-[0-9a-z]{10})"', told.stdout)[0])


def a_tournament(data: Path) -> str:
    """The id of a tournament that has been played."""
    told = subprocess.run(
        [POKEARENA, "tournament", "list", "--json", "--data", data],
        capture_output=True,
        check=True,
        text=True,
    )
    return str(re.findall(r'"(t-[0-9a-z]+)"', told.stdout)[0])


def test_the_two_commands_are_the_first_block_of_the_readme() -> None:
    assert commands("README.md")[:2] == [FIRST_COMMAND, TEST_COMMAND]


def test_ci_runs_exactly_the_test_command_of_the_readme() -> None:
    lines = (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()
    assert TEST_COMMAND in lines


@pytest.mark.timeout(900)
def test_everything_the_readme_shows_runs(tmp_path: Path) -> None:
    data = tmp_path / ".pokearena"
    environment = {**os.environ, "NO_COLOR": "1"}
    environment.pop("POKEARENA_DATA", None)
    for name, text in files("README.md").items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    ran = 0
    for line in commands("README.md"):
        if line in (FIRST_COMMAND, TEST_COMMAND):
            continue
        words = shlex.split(line)
        assert words[:3] == ["uv", "run", "pokearena"], f"the README shows {line!r}"
        for word, meant in (("MATCH", a_match), ("ID", a_tournament)):
            if word in words:
                words[words.index(word)] = meant(data)
        done = subprocess.run(
            [POKEARENA, *words[3:]],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
        )
        assert done.returncode == 0, f"{line}\n{done.stdout}\n{done.stderr}"
        assert "Traceback" not in done.stderr
        if "--json" in words:
            json.loads(done.stdout)
        ran += 1
    assert ran > 10
    assert files("README.md")


def test_every_page_that_the_readme_links_to_is_there() -> None:
    for page in ("README.md", "CONTRIBUTING.md"):
        text = (ROOT / page).read_text(encoding="utf-8")
        links = re.findall(r"\]\(([^)#]+)\)", text)
        for link in links:
            if not link.startswith("https://"):
                assert (ROOT / link).exists(), f"{page} links to {link}"
