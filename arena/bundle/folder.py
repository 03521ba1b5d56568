"""A bundle as files in a folder."""

from __future__ import annotations

import json
import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from arena.bundle import document
from arena.bundle.bundle import Bundle, BundleError
from referee.sanitizing import escaped_json

STANDINGS: Final = "standings.json"
README: Final = "README.md"
MATCHES: Final = "matches"
_RECORD: Final = re.compile(r"(m-[0-9a-z]+)\.jsonl")
_PAGE: Final = """\
# {name}: a tournament that can be checked

This folder holds everything that tournament {id} of pokearena consists of: `tournament.json`, how
it was set up, who played, every match of its schedule; `matches/`, the record of every match that
is over, with every action; `standings.json`, the final table. Nothing else is needed to check it,
no network and no server:

    pokearena tournament verify FOLDER

This deals every game again from its seed, replays every action by the rules, computes every score
and the standings anew, and follows the schedule from its format. A single match is told by

    pokearena replay FOLDER/matches/MATCH.jsonl --game 0

What the members mean is written in docs/bundle.md and docs/record.md of pokearena.
"""


def is_bundle(folder: Path) -> bool:
    """Whether a folder looks like a bundle."""
    return (folder / document.NAME).is_file()


def write(bundle: Bundle, folder: Path) -> None:
    """Writes a bundle into a folder, in place of an older one of the same tournament.

    Everything is written beside the folder first, so what fails half way changes nothing in it.

    Raises:
        BundleError: the folder holds something else.
        OSError: it cannot be written.
    """
    check(folder, bundle.tournament.id)
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{folder.name}-", dir=folder.parent) as beside:
        made = Path(beside)
        _write(bundle, made)
        _clear(folder)
        (folder / MATCHES).mkdir(exist_ok=True)
        for path in sorted(made.rglob("*")):
            if path.is_file():
                shutil.move(path, folder / path.relative_to(made))


def check(folder: Path, tournament: str) -> None:
    """Sees that a bundle of a tournament may be written there; raises BundleError if not."""
    if folder.exists() and not folder.is_dir():
        raise BundleError(f"{folder} is a file; a bundle is a folder")
    if not folder.exists() or not any(folder.iterdir()):
        return
    if not is_bundle(folder):
        raise BundleError(f"{folder} is not empty, and no bundle; name another folder")
    there = _json(folder / document.NAME)
    other = there.get("tournament") if isinstance(there, dict) else None
    if other != tournament:
        raise BundleError(f"{folder} holds the bundle of tournament {other}; name another folder")


def _write(bundle: Bundle, folder: Path) -> None:
    found = bundle.tournament
    _dump(document.write(bundle), folder / document.NAME)
    _dump(bundle.standings, folder / STANDINGS)
    page = _PAGE.format(name=found.plan.name, id=found.id)
    (folder / README).write_text(page, encoding="utf-8")
    (folder / MATCHES).mkdir()
    for match, record in bundle.records.items():
        path = folder / MATCHES / f"{match}.jsonl"
        path.write_text(record, encoding="utf-8", newline="\n")


def _clear(folder: Path) -> None:
    """Takes an older bundle away, and nothing that is none of it."""
    for path in (folder / document.NAME, folder / STANDINGS, folder / README):
        path.unlink(missing_ok=True)
    for path in _records(folder).values():
        path.unlink()


def read(folder: Path) -> Bundle:
    """The bundle in a folder. Records are read when they are asked for.

    Raises BundleError if there is none, or one that cannot be read.
    """
    if not is_bundle(folder):
        raise BundleError(f"{folder} is no bundle: there is no {document.NAME} in it")
    concluded = folder / STANDINGS
    standings = _json(concluded) if concluded.is_file() else None
    if standings is not None and not isinstance(standings, dict):
        raise BundleError(f"{STANDINGS} is no object")
    return document.read(_json(folder / document.NAME), _Records(_records(folder)), standings)


def _records(folder: Path) -> dict[str, Path]:
    found: dict[str, Path] = {}
    for path in sorted((folder / MATCHES).glob("*")):
        if match := _RECORD.fullmatch(path.name):
            found[match[1]] = path
    return found


class _Records(Mapping[str, str]):
    """Records by match, from files."""

    def __init__(self, paths: Mapping[str, Path]) -> None:
        self._paths = paths

    def __getitem__(self, match: str) -> str:
        # What is no UTF-8 is no true record, and is found to be none.
        return self._paths[match].read_bytes().decode("utf-8", errors="replace")

    def __iter__(self) -> Iterator[str]:
        return iter(self._paths)

    def __len__(self) -> int:
        return len(self._paths)


def _dump(value: object, path: Path) -> None:
    text = escaped_json(json.dumps(value, ensure_ascii=False, indent=1))
    path.write_text(text + "\n", encoding="utf-8", newline="\n")


def _json(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise BundleError(f"{path} is no JSON: {error}") from None
