"""Run the commands of the tutorial in order in an empty folder; the README shows some of them.

`scripts/bare`, which `.ci/run` starts, runs the demo and the test command in a fresh clone.
"""

import json
import os
import re
import shlex
import signal
import subprocess
from pathlib import Path
from typing import Self

import pytest

from tests.arena.cli.terminal import POKEARENA, in_a_terminal

ROOT = Path(__file__).parent.parent
TEST_COMMAND = "uv run pytest"
FIRST_COMMAND = "uv run pokearena demo"
PAGE = "http://127.0.0.1:8000/"
CURL_TIMED_OUT = 28
TUTORIAL = "docs/tutorials/tutorial.md"


def commands(page: str) -> list[str]:
    """Return the command lines of a page's plain code blocks, without comments."""
    text = (ROOT / page).read_text(encoding="utf-8")
    blocks = re.findall(r"^```(\w*)\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    shown = [row for language, block in blocks if not language for row in block.splitlines()]
    lines = [row.split("  #")[0].strip() for row in shown]
    return [line for line in lines if line]


def files(page: str) -> dict[str, str]:
    """Return the files on a page: TOML blocks that begin with a comment with the file's name."""
    text = (ROOT / page).read_text(encoding="utf-8")
    return dict(re.findall(r"^```toml\n# (\S+\.toml)\n(.*?)^```$", text, re.DOTALL | re.MULTILINE))


def a_match(data: Path) -> str:
    completed = subprocess.run(
        [POKEARENA, "tournament", "show", a_tournament(data), "--json", "--data", data],
        capture_output=True,
        check=True,
        text=True,
    )
    return str(re.findall(r'"(m-[0-9a-z]{10})"', completed.stdout)[0])


def a_tournament(data: Path) -> str:
    """Return the id of the newest tournament that is over: `serve` opens ladders."""
    completed = subprocess.run(
        [POKEARENA, "tournament", "list", "--json", "--data", data],
        capture_output=True,
        check=True,
        text=True,
    )
    listed = [json.loads(line) for line in completed.stdout.splitlines()]
    closed = [tournament["tournament"] for tournament in listed if tournament["state"] == "closed"]
    return str(closed[-1])


def test_the_two_commands_are_the_first_block_of_the_readme() -> None:
    assert commands("README.md")[:2] == [FIRST_COMMAND, TEST_COMMAND]


def test_ci_runs_exactly_the_test_command_of_the_readme() -> None:
    lines = (ROOT / "scripts" / "bare").read_text(encoding="utf-8").splitlines()
    for command in (FIRST_COMMAND, TEST_COMMAND):
        assert any(line.startswith(f"time bare {command}") for line in lines), command


class PageRunner:
    """Runs the commands of a page in order, in one folder.

    Servers such as `serve` run until all commands have been run.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._data = folder / ".pokearena"
        # `replay --open` starts the program in BROWSER.
        self._environment = {**os.environ, "NO_COLOR": "1", "BROWSER": "true"}
        for name in ("POKEARENA_DATA", "COLUMNS", "LINES"):
            self._environment.pop(name, None)
        self._staying: list[subprocess.Popen[str]] = []
        self._page = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for process in self._staying:
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=60)
            assert process.returncode in (0, 130)

    def type(self, line: str) -> None:
        """Run a command line, which must succeed."""
        # Two boards take the same steps as twenty.
        words = ["2" if word == "20" else word for word in shlex.split(line)]
        if words[0] == "curl":
            self._ask(words)
            return
        assert words[:3] == ["uv", "run", "pokearena"], f"the page shows {line!r}"
        for word, value in (("MATCH", a_match), ("ID", a_tournament)):
            if word in words:
                words[words.index(word)] = value(self._data)
        if words[3] == "serve":
            self._stay(words[3:])
        elif words[3] == "watch":
            self._look(words[3:])
        else:
            self._run(line, words[3:])

    def _run(self, line: str, words: list[str]) -> None:
        done = subprocess.run(
            [POKEARENA, *words],
            cwd=self._folder,
            env=self._environment,
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
        )
        assert done.returncode == 0, f"{line}\n{done.stdout}\n{done.stderr}"
        assert "Traceback" not in done.stderr
        if "--json" in words:
            json.loads(done.stdout)

    def _stay(self, words: list[str]) -> None:
        """Start a server at a free port.

        Without ladders, because their matches would take all cores until the last command.
        tests/arena/cli/services/test_serve.py covers ladders.
        """
        process = subprocess.Popen(
            [POKEARENA, *words, "--port", "0", "--no-ladders", "--json"],
            cwd=self._folder,
            env=self._environment,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._staying.append(process)
        assert process.stdout is not None
        self._page = json.loads(process.stdout.readline())["page"]

    def _ask(self, words: list[str]) -> None:
        """Fetch a page; read an endless stream for 3 s."""
        address = words[-1].replace(PAGE, self._page)
        goes_on = "-N" in words
        done = subprocess.run(
            [*words[:-1], "--fail", "--silent", "--max-time", "3" if goes_on else "30", address],
            capture_output=True,
            text=True,
        )
        assert done.returncode == (CURL_TIMED_OUT if goes_on else 0), f"{words}\n{done.stderr}"
        if not goes_on:
            assert "greedy@1" in done.stdout

    def _look(self, words: list[str]) -> None:
        """Run a command in a terminal and quit it with `q`."""
        with in_a_terminal(self._folder, *words, environment=self._environment) as terminal:
            terminal.sees("greedy@1")
            terminal.press("q")
            assert terminal.ends() == 0


def test_the_tutorial_shows_the_commands_of_the_readme_in_the_same_order() -> None:
    readme = commands("README.md")[2:]
    assert readme
    assert readme == [line for line in commands(TUTORIAL) if line in readme]


@pytest.mark.timeout(600)
@pytest.mark.long
def test_every_command_of_the_tutorial_runs(tmp_path: Path) -> None:
    for name, text in files(TUTORIAL).items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    with PageRunner(tmp_path) as newcomer:
        for line in commands(TUTORIAL):
            newcomer.type(line)


def test_the_tutorial_shows_a_tournament_file() -> None:
    assert files(TUTORIAL)


def test_every_page_linked_by_the_readme_exists() -> None:
    for page in ("README.md", "CONTRIBUTING.md"):
        text = (ROOT / page).read_text(encoding="utf-8")
        links = re.findall(r"\]\(([^)#]+)\)", text)
        for link in links:
            if not link.startswith("https://"):
                assert (ROOT / link).exists(), f"{page} links to {link}"
