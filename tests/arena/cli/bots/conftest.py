"""Fixtures of the tests of commands for bots."""

from pathlib import Path

import pytest


@pytest.fixture
def bot_folder(cwd: Path) -> Path:
    """Write a bot in a folder, without a version."""
    folder = cwd / "mine"
    folder.mkdir()
    (folder / "bot.toml").write_text('name = "mine"\nrun = ["python", "bot.py"]\n')
    (folder / "bot.py").write_text("pass\n")
    return folder
