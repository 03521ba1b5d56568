"""Authors with a starter bot outside of the repository: one of every language in a session."""

import fcntl
import json
import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from arena.cli.bots.new import copy_kit
from tests.arena.cli.terminal import in_own_process
from tests.sample_bots.languages import Language


@dataclass(frozen=True)
class Author:
    """An author with a copy of a kit, a submitted random bot, and an arena to try it in."""

    language: Language
    home: Path

    def types(self, *words: object) -> Any:
        """Run a command, check that it succeeds, and return its JSON output."""
        done = in_own_process(self.home, [*words, "--json"])
        assert done.status == 0, f"{words}\n{done.out}\n{done.err}"
        return json.loads(done.out)

    @property
    def kit(self) -> Path:
        """The copied kit, where nothing has been built."""
        return self.home / "kit"

    @property
    def random(self) -> str:
        """The random bot as it was submitted."""
        return f"random-{self.language.name}@1"

    @property
    def built(self) -> Path:
        """The folder of what was submitted, in which the bots have been built."""
        (folder,) = (self.home / ".pokearena" / "versions").iterdir()
        return folder


def author_of(language: Language, folders: pytest.TempPathFactory) -> Author:
    """The author of this session: who comes first builds, the other processes of pytest wait."""
    for tool in language.tools:
        if shutil.which(tool) is None:
            if os.environ.get("CI"):
                pytest.fail(f"{tool} is not installed, and in CI nothing is skipped")
            pytest.skip(f"{tool} is not installed, which the kit for {language.name} needs")
    base = folders.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    author = Author(language, shared / language.name)
    with (shared / f"{language.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not author.home.exists():
            author.home.mkdir()
            copy_kit(language.name, author.kit)
            for path, text in language.own.items():
                (author.kit / path).parent.mkdir(exist_ok=True)
                (author.kit / path).write_text(text)
            author.types("bot", "add", "kit")
    return author
