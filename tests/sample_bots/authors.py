"""Provide one author per language and session, with a starter kit outside of the repository."""

import fcntl
import json
import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from arena.bots.version_store import is_content_of
from arena.cli.bots.new import copy_kit
from tests.arena.cli.terminal import in_own_process
from tests.sample_bots.languages import Language

UNOPTIMIZED = {
    "rust": ("Cargo.toml", "[profile.release]", "[profile.release]\nopt-level = 0"),
    "cpp": ("Makefile", "CXXFLAGS ?= -O1", "CXXFLAGS ?= -O0"),
}
"""The file and the text of a kit that are changed so that its build takes half as long."""

BUILDS = Path(__file__).parents[2] / "build" / "kits"
"""Builds of the kits by language and content hash, which later runs in this checkout use again."""


@dataclass(frozen=True)
class KitAuthor:
    """Hold an author's copy of a kit, the submitted random bot, and an arena for test games."""

    language: Language
    home: Path

    def types(self, *words: object) -> Any:
        """Run a command, check that it succeeds, and return its JSON output."""
        return types(self.home, *words)

    @property
    def kit(self) -> Path:
        """Return the folder of the copied kit, which contains no builds."""
        return self.home / "kit"

    @property
    def random(self) -> str:
        return f"random-{self.language.name}@1"

    @property
    def built(self) -> Path:
        """Return the folder of the submitted version, which contains the built bots."""
        (folder,) = (self.home / ".pokearena" / "versions").iterdir()
        return folder


def types(home: Path, *words: object) -> Any:
    """Run a command in a folder, check that it succeeds, and return its JSON output."""
    done = in_own_process(home, [*words, "--json"])
    assert done.status == 0, f"{words}\n{done.out}\n{done.err}"
    return json.loads(done.out)


def author_of(language: Language, folders: pytest.TempPathFactory) -> KitAuthor:
    """Return the author of a language. The first pytest worker builds the kit; the others wait."""
    for tool in language.tools:
        if shutil.which(tool) is None:
            if os.environ.get("CI"):
                pytest.fail(f"{tool} is not installed, and in CI nothing is skipped")
            pytest.skip(f"{tool} is not installed, which the kit for {language.name} needs")
    base = folders.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    author = KitAuthor(language, shared / language.name)
    with (shared / f"{language.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not author.home.exists():
            author.home.mkdir()
            copy_kit(language.name, author.kit)
            if language.name in UNOPTIMIZED:
                path, optimized, changed = UNOPTIMIZED[language.name]
                text = (author.kit / path).read_text()
                assert optimized in text
                (author.kit / path).write_text(text.replace(optimized, changed))
            for path, text in language.third_bot.items():
                (author.kit / path).parent.mkdir(exist_ok=True)
                (author.kit / path).write_text(text)
            versions = author.home / ".pokearena" / "versions"
            _restore_build(author.kit, BUILDS / language.name, versions)
            author.types("bot", "add", "kit")
            _keep_build(author.built, BUILDS / language.name)
    return author


def _restore_build(kit: Path, builds: Path, versions: Path) -> None:
    """Copy the build of exactly these files, if an earlier run has kept it."""
    for build in builds.glob("[!.]*"):
        if is_content_of(kit, build.name):
            shutil.copytree(build, versions / build.name, symlinks=True)


def _keep_build(built: Path, builds: Path) -> None:
    """Keep a build for later runs, instead of those of other files."""
    if (builds / built.name).exists():
        return
    shutil.rmtree(builds, ignore_errors=True)
    shutil.copytree(built, builds / ".new", symlinks=True)
    (builds / ".new").rename(builds / built.name)
