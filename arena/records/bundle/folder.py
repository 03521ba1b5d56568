"""Read and write a bundle as files in a folder."""

from __future__ import annotations

import json
import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Any, Final, TypeVar

from arena.formats.contract import FormatEntrant
from arena.records.bundle.bundle import FORMAT, Bundle, BundleError, Scheduled, Version
from arena.store.matches.spec import Clock, TournamentPlan
from arena.store.schema import MatchState, TournamentState
from arena.store.tournaments.tournaments import Tournament
from referee.sanitizing import escaped_json

# `tournament.json`: a tournament with its schedule as JSON (docs/reference/bundle.md).


NAME: Final = "tournament.json"

T = TypeVar("T")
States = TypeVar("States", bound=StrEnum)


def write_document(bundle: Bundle) -> dict[str, Any]:
    """Return the `tournament.json` document of a bundle."""
    found, plan = bundle.tournament, bundle.tournament.plan
    return {
        "format": FORMAT,
        "tournament": found.id,
        "name": plan.name,
        "game": plan.game,
        "options": dict(plan.options),
        "seats": plan.seats,
        "boards": plan.boards,
        "pairing": plan.format,
        "settings": dict(plan.settings),
        "clock": asdict(plan.clock),
        "policy": plan.policy,
        "state": str(found.state),
        "created": _iso(found.created),
        "ended": None if found.ended is None else _iso(found.ended),
        "seed": None if found.seed is None else found.seed.hex(),
        "entrants": [_entrant(one, bundle.versions[one.name]) for one in found.entries],
        "matches": [_match(match) for match in bundle.matches],
    }


def _entrant(one: FormatEntrant, version: Version) -> dict[str, Any]:
    return {
        "entrant": one.name,
        "content_hash": version.content_hash,
        "remote": version.remote,
        "owner": one.owner,
        "joined": one.joined,
        "withdrawn": one.withdrawn,
    }


def _match(match: Scheduled) -> dict[str, Any]:
    return {
        "match": match.id,
        "key": match.key,
        "round": match.round,
        "number": match.number,
        "why": match.why,
        "entrants": list(match.entrants),
        "commitment": match.commitment,
        "state": str(match.state),
        "reason": match.reason,
        "attempts": match.attempts,
    }


def read_document(
    value: object, records: Mapping[str, str], standings: Mapping[str, Any] | None
) -> Bundle:
    """Return the bundle with this document, these records and these standings.

    Raises:
        BundleError: the document is not valid.
    """
    paper = _Paper(value, NAME)
    if (told := paper.whole("format")) != FORMAT:
        raise BundleError(f"{NAME} is of format {told}; this program reads {FORMAT}")
    entrants = [paper.within(one, "entrants") for one in paper.a("entrants", list)]
    names = [one.a("entrant", str) for one in entrants]
    return Bundle(
        tournament=_tournament(paper, [_entry(one) for one in entrants]),
        versions={
            name: Version(one.a("content_hash", str), one.a("remote", bool))
            for name, one in zip(names, entrants, strict=True)
        },
        matches=tuple(_scheduled(paper.within(one, "matches")) for one in paper.a("matches", list)),
        records=records,
        standings=standings,
    )


def _tournament(paper: _Paper, entries: list[FormatEntrant]) -> Tournament:
    clock = paper.within(paper.a("clock", dict), "clock")
    seed = paper.maybe("seed", str)
    return Tournament(
        id=paper.a("tournament", str),
        plan=TournamentPlan(
            name=paper.a("name", str),
            game=paper.a("game", str),
            options=paper.a("options", dict),
            seats=paper.whole("seats"),
            boards=paper.whole("boards"),
            format=paper.a("pairing", str),
            settings=paper.a("settings", dict),
            clock=Clock(
                clock.whole("start_ms"), clock.whole("allowance_ms"), clock.whole("bank_ms")
            ),
            policy=paper.a("policy", str),
        ),
        entries=tuple(entries),
        state=paper.one_of("state", TournamentState),
        created=paper.time("created"),
        ended=None if paper.maybe("ended", str) is None else paper.time("ended"),
        seed=None if seed is None else paper.digits("seed", seed),
    )


def _entry(paper: _Paper) -> FormatEntrant:
    return FormatEntrant(
        name=paper.a("entrant", str),
        owner=paper.a("owner", str),
        joined=paper.whole("joined"),
        withdrawn=None if paper.maybe("withdrawn", int) is None else paper.whole("withdrawn"),
    )


def _scheduled(paper: _Paper) -> Scheduled:
    entrants = paper.a("entrants", list)
    if not all(isinstance(name, str) for name in entrants):
        raise BundleError(f"{paper.where}: entrants are not all text")
    return Scheduled(
        id=paper.a("match", str),
        key=paper.a("key", str),
        round=paper.whole("round"),
        number=paper.whole("number"),
        why=paper.a("why", str),
        entrants=tuple(entrants),
        commitment=paper.a("commitment", str),
        state=paper.one_of("state", MatchState),
        reason=paper.maybe("reason", str),
        attempts=paper.whole("attempts"),
    )


class _Paper:
    """Checked access to a JSON object: members are read by name and type."""

    def __init__(self, value: object, where: str) -> None:
        if not isinstance(value, dict):
            raise BundleError(f"{where} is no object")
        self.where = where
        self._value = value

    def within(self, value: object, name: str) -> _Paper:
        """Return a reader for an object nested in this one."""
        return _Paper(value, f"{self.where}, {name}")

    def a(self, name: str, kind: type[T]) -> T:
        """Return a required member of the given type."""
        if name not in self._value:
            raise BundleError(f"{self.where} does not say {name}")
        value = self._value[name]
        if type(value) is not kind:
            raise BundleError(f"{self.where}: {name} is {value!r}, which is no {kind.__name__}")
        return value

    def maybe(self, name: str, kind: type[T]) -> T | None:
        """Return a member that may be null or missing."""
        return None if self._value.get(name, ...) is None else self.a(name, kind)

    def whole(self, name: str) -> int:
        """Return an integer of at least 0."""
        value = self.a(name, int)
        if value < 0:
            raise BundleError(f"{self.where}: {name} is {value}, which is below 0")
        return value

    def one_of(self, name: str, states: type[States]) -> States:
        """Return a member of a state enumeration."""
        value = self.a(name, str)
        try:
            return states(value)
        except ValueError:
            raise BundleError(f"{self.where}: {name} is {value!r}, which is no state") from None

    def time(self, name: str) -> float:
        """Return an ISO 8601 time as seconds since 1970."""
        value = self.a(name, str)
        try:
            return datetime.fromisoformat(value).timestamp()
        except ValueError:
            raise BundleError(f"{self.where}: {name} is {value!r}, which is no time") from None

    def digits(self, name: str, value: str) -> bytes:
        """Decode hexadecimal digits."""
        try:
            return bytes.fromhex(value)
        except ValueError:
            raise BundleError(f"{self.where}: {name} is not hexadecimal") from None


def _iso(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds")


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

What the members mean is written in the documentation of pokearena: docs/reference/bundle.md and
docs/reference/record.md.
"""


def is_bundle(folder: Path) -> bool:
    """Return whether a folder contains a `tournament.json`."""
    return (folder / NAME).is_file()


def write(bundle: Bundle, folder: Path) -> None:
    """Write a bundle into a folder; replace an older bundle of the same tournament.

    All files are first written to a temporary folder, so that a failure while writing them leaves
    the target unchanged.

    Raises:
        BundleError: the folder contains other files or another tournament.
        OSError: the folder cannot be written.
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
    """Check that the bundle of a tournament may be written to a folder.

    Raises:
        BundleError: the folder is a file, or contains other files or another tournament.
    """
    if folder.exists() and not folder.is_dir():
        raise BundleError(f"{folder} is a file; a bundle is a folder")
    if not folder.exists() or not any(folder.iterdir()):
        return
    if not is_bundle(folder):
        raise BundleError(f"{folder} is not empty, and no bundle; name another folder")
    there = _json(folder / NAME)
    other = there.get("tournament") if isinstance(there, dict) else None
    if other != tournament:
        raise BundleError(f"{folder} holds the bundle of tournament {other}; name another folder")


def _write(bundle: Bundle, folder: Path) -> None:
    found = bundle.tournament
    _dump(write_document(bundle), folder / NAME)
    _dump(bundle.standings, folder / STANDINGS)
    page = _PAGE.format(name=found.plan.name, id=found.id)
    (folder / README).write_text(page, encoding="utf-8")
    (folder / MATCHES).mkdir()
    for match, record in bundle.records.items():
        path = folder / MATCHES / f"{match}.jsonl"
        path.write_text(record, encoding="utf-8", newline="\n")


def _clear(folder: Path) -> None:
    """Remove the files of an older bundle, and only those."""
    for path in (folder / NAME, folder / STANDINGS, folder / README):
        path.unlink(missing_ok=True)
    for path in _records(folder).values():
        path.unlink()


def read(folder: Path) -> Bundle:
    """Return the bundle in a folder; its records are read on access.

    Raises:
        BundleError: the folder does not contain a valid bundle.
    """
    if not is_bundle(folder):
        raise BundleError(f"{folder} is no bundle: there is no {NAME} in it")
    concluded = folder / STANDINGS
    standings = _json(concluded) if concluded.is_file() else None
    if standings is not None and not isinstance(standings, dict):
        raise BundleError(f"{STANDINGS} is no object")
    return read_document(_json(folder / NAME), _Records(_records(folder)), standings)


def _records(folder: Path) -> dict[str, Path]:
    found: dict[str, Path] = {}
    for path in sorted((folder / MATCHES).glob("*")):
        if match := _RECORD.fullmatch(path.name):
            found[match[1]] = path
    return found


class _Records(Mapping[str, str]):
    """Records by match id, read from files."""

    def __init__(self, paths: Mapping[str, Path]) -> None:
        self._paths = paths

    def __getitem__(self, match: str) -> str:
        # Invalid UTF-8 is replaced; the record then fails its check.
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
