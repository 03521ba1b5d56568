"""Provide a referee, and bots to examine without the command line."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from arena.bots.bot import Bot
from arena.bots.resolver import local
from arena.matches.private_referee import own_referee
from arena.submissions.conformance.check import Check
from arena.submissions.conformance.examination import examine

Examine = Callable[..., dict[str, Check]]
"""Return the checks of a bot by name."""
Program = Callable[[str], Bot]
"""Return a bot that consists of one Python file."""


@pytest.fixture(scope="session")
def referee() -> Iterator[str]:
    with own_referee() as address:
        yield address


@pytest.fixture
def examined(referee: str) -> Examine:
    """Return a function that examines a bot at Poke, or other games, with few questions."""

    def tried(bot: Bot, *games: str, seconds: float = float("inf")) -> dict[str, Check]:
        checks = examine(
            bot, referee, games or ("poke",), bot_argument="mybot", thorough=False, seconds=seconds
        )
        return {check.name: check for check in checks}

    return tried


@pytest.fixture
def program(tmp_path: Path) -> Program:
    def written(text: str) -> Bot:
        path = tmp_path / "bot.py"
        path.write_text(text)
        return local(path)

    return written
