"""Provide one author per language and session, with a starter kit outside of the repository."""

import fcntl
import json
import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from arena.bots import manifest
from arena.bots.version_store import is_content_of
from arena.cli.bots.new import copy_kit
from tests.arena.cli.terminal import in_own_process
from tests.sample_bots.languages import Language

UNOPTIMIZED = {
    "rust": ("Cargo.toml", "[profile.release]", "[profile.release]\nopt-level = 0"),
    "cpp": ("Makefile", "CXXFLAGS ?= -O1", "CXXFLAGS ?= -O0"),
}
"""The file and the text of a kit that are changed so that its build takes half as long."""

MAVEN = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:-UsePerfData"
"""Options of Maven's JVM, so that its short run takes less processor time."""

JSON_BOTS = Path(__file__).parents[1] / "sample_games" / "json_bots"
"""Bots that read and write the JSON of generic messages, for kits without types of games."""

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
    def greedy(self) -> Path:
        """Return the manifest of the built greedy bot."""
        return self.built / "built-greedy.toml"

    @property
    def goofspiel(self) -> Path:
        """Return the manifest of a built bot for the game of the package."""
        return self.built / "built-goofspiel.toml"

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
            _add_bots(author.kit, language)
            versions = author.home / ".pokearena" / "versions"
            _restore_build(author.kit, BUILDS / language.name, versions)
            maven = {"MAVEN_OPTS": f"{os.environ.get('MAVEN_OPTS', '')} {MAVEN}"}
            added = in_own_process(author.home, ["bot", "add", "kit"], maven)
            assert added.status == 0, added.out + added.err
            _keep_build(author.built, BUILDS / language.name)
    return author


def _add_bots(kit: Path, language: Language) -> None:
    """Add the third bot, a bot that reads JSON if there is one, and manifests of built bots.

    `play` runs the build commands of a manifest again, which takes as long as the first build.
    """
    run = manifest.read(kit).run
    for path, text in language.third_bot.items():
        (kit / path).parent.mkdir(exist_ok=True)
        (kit / path).write_text(text)
        source = JSON_BOTS / Path(_of_json_bot(path)).name
        if source.exists():
            shutil.copy(source, kit / _of_json_bot(path))
            run = tuple(map(_of_json_bot, language.run))
    greedy = manifest.read(kit, "greedy.toml")
    for name, games, words in (
        ("greedy", greedy.games, greedy.run),
        ("goofspiel", ["goofspiel"], run),
    ):
        lines = (
            f'name = "{name}-{language.name}"',
            f"games = {list(games)}",
            'build = ["true"]',  # Otherwise folders such as node_modules would not be accepted.
            f"run = {list(words)}",
        )
        (kit / f"built-{name}.toml").write_text("\n".join(lines))


def _of_json_bot(text: str) -> str:
    """Replace the name of the third bot in a path or word by that of the bot that reads JSON."""
    return text.replace("Own", "JsonBot").replace("own", "json_bot")


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
