"""Check the commands on all pages, and run those of docs/how-to/training.md."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from tests.arena.cli.terminal import in_own_process
from tests.deploy.command_lines import parsed_command
from tests.test_readme import commands

ROOT = Path(__file__).parent.parent
PARTS = ("tutorials", "how-to", "reference", "explanation")
DOCS = sorted(
    str(path.relative_to(ROOT)) for part in PARTS for path in (ROOT / "docs" / part).rglob("*.md")
)
PAGES = (
    "README.md",
    "CONTRIBUTING.md",
    "tests/README.md",
    "bench/README.md",
    "bench/measurements.md",
    *DOCS,
)
COMMAND = re.compile(r"(?:uv run (?:--\w+ \w+ )*)?pokearena (?P<words>.+)")
BLOCK = re.compile(r"^```\w*\n(.*?)^```$", re.DOTALL | re.MULTILINE)
TRAINING = "uv run --extra rl python sample_bots/trained/train.py --games 2800 --seed 1"


def page_commands(page: str) -> Iterator[str]:
    """Yield the arguments of each `pokearena` command in the page's blocks and sentences."""
    text = (ROOT / page).read_text(encoding="utf-8")
    in_blocks = [
        row.partition("  #")[0] for block in BLOCK.findall(text) for row in block.split("\n")
    ]
    in_sentences = re.findall(r"`([^`\n]+)`", BLOCK.sub("", text))
    for row in (*in_blocks, *in_sentences):
        if command := COMMAND.match(row.strip()):
            yield command["words"]


MODULE = re.compile(r"`((?:arena|referee)/[a-z0-9_/]+\.(?:py|html))`(?: \((`\w+`(?:, `\w+`)*)\))?")


@pytest.mark.parametrize("page", PAGES)
def test_every_module_and_function_that_a_page_names_exists(page: str) -> None:
    for path, names in MODULE.findall((ROOT / page).read_text(encoding="utf-8")):
        text = (ROOT / path).read_text(encoding="utf-8")
        for name in re.findall(r"\w+", names):
            assert re.search(rf"^\s*(?:def|class) {name}\b", text, re.MULTILINE), (path, name)


@pytest.mark.parametrize("page", PAGES)
def test_every_command_of_a_page_exists(page: str) -> None:
    for words in page_commands(page):
        try:
            parsed_command(shlex.split(words), ROOT / "README.md")
        except (click.BadParameter, click.BadOptionUsage):
            # A command without its arguments, or with N for a number.
            continue
        except click.UsageError as error:
            pytest.fail(f"{page} shows `pokearena {words}`: {error.format_message()}")


def test_the_pages_show_commands() -> None:
    assert sum(len(list(page_commands(page))) for page in PAGES) > 100


@pytest.mark.long
@pytest.mark.timeout(600)
def test_commands_of_the_training_page_lead_to_a_push(tmp_path: Path) -> None:
    """Train with few games only; another test checks that the stored weights beat `greedy`."""
    bot = tmp_path / "sample_bots" / "trained"
    shutil.copytree(ROOT / "sample_bots" / "trained", bot)
    (bot / "weights.json").unlink()
    first, *others = commands("docs/how-to/training.md")
    assert first == TRAINING
    words = [sys.executable, *shlex.split(first.replace("2800", "40"))[5:]]
    trained = subprocess.run(
        words,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    assert trained.returncode == 0, trained.stderr
    assert (bot / "weights.json").is_file()
    assert len(others) == 3
    for line in others:
        _, _, _, *words = shlex.split(line.replace("-n 100", "-n 2"))
        result = in_own_process(tmp_path, words)
        assert result.status == 0, f"{line}\n{result.out}\n{result.err}"
