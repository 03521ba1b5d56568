"""Starter kits: what `pokearena new` writes."""

from __future__ import annotations

import importlib.util
import re
import shutil
from pathlib import Path
from typing import Final

import arena
from arena.bots import manifest
from arena.bots.resolver import house_folder
from arena.cli.errors import USAGE, CommandError

LANGUAGES: Final = ("python",)
"""The languages there is a starter for."""
_LEFT_OUT: Final = shutil.ignore_patterns("__pycache__", "*.pyc", ".venv", ".*_cache", "house")
_NAMED: Final = (manifest.FILE, "pyproject.toml")
_REFEREES_OWN: Final = "referee"
_KIT: Final = "pokearena_bot"
_GENERATED: Final = "pokearena.v1"


def write(folder: Path, language: str) -> str:
    """Writes a starter into an empty or new folder; returns the name of the bot.

    Raises CommandError if there is no such starter, or the folder holds something.
    """
    kit = _kit(language)
    name = _name_for(folder)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise CommandError(f"{folder} is not empty; name a new folder.")
    shutil.copytree(kit, folder, ignore=_LEFT_OUT, dirs_exist_ok=True)
    _copy_installed(folder)
    _copy_protocol(folder)
    for file in _NAMED:
        path = folder / file
        if path.exists():
            text = path.read_text(encoding="utf-8")
            renamed = re.sub(r'(?m)^name = ".*"$', f'name = "{name}"', text, count=1)
            path.write_text(renamed, encoding="utf-8")
    return name


def _kit(language: str) -> Path:
    if language not in LANGUAGES:
        raise CommandError(
            f'there is no starter for "{language}" yet; there is one for {", ".join(LANGUAGES)}. '
            "A bot in any language that speaks gRPC can play: proto/pokearena/v1/bot.proto.",
            USAGE,
        )
    return house_folder().parent / language


def _name_for(folder: Path) -> str:
    """A name of a bot that is like the folder's."""
    name = re.sub(r"[^a-z0-9_-]+", "-", folder.absolute().name.lower()).strip("-")[:40]
    return name or "mybot"


def _copy_installed(folder: Path) -> None:
    """Copies what an installed arena keeps where Python finds it instead of beside the starter."""
    kit = importlib.util.find_spec(_KIT)
    if not (folder / f"{_KIT}.py").exists() and kit is not None and kit.origin:
        shutil.copyfile(kit.origin, folder / f"{_KIT}.py")
    generated = importlib.util.find_spec(_GENERATED)
    target = folder / Path(*_GENERATED.split("."))
    if not target.exists() and generated is not None and generated.origin:
        target.mkdir(parents=True)
        for file in sorted(Path(generated.origin).parent.glob("*.py*")):
            if file.is_file() and not file.name.startswith(_REFEREES_OWN):
                shutil.copyfile(file, target / file.name)


def _copy_protocol(folder: Path) -> None:
    """Copies the protocol, whose comments are the manual, unless the kit has it."""
    package = Path(arena.__file__).parent
    target = folder / "proto" / "pokearena" / "v1"
    for source in (package.parent / "proto", package / "proto"):
        files = sorted((source / "pokearena" / "v1").glob("*.proto"))
        if files and not target.exists():
            target.mkdir(parents=True)
            for file in files:
                if file.stem != _REFEREES_OWN:
                    shutil.copyfile(file, target / file.name)
