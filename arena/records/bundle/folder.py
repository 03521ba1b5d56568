"""Read and write a bundle as files in a folder."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, Final, Literal, TypeAlias

import msgspec
from msgspec import Meta

from arena.formats.contract import FormatEntrant, PairingStrengths
from arena.records.bundle.bundle import (
    FORMAT,
    Bundle,
    BundledVersion,
    BundleError,
    Count,
    Scheduled,
)
from arena.store.match_settings import Clock, TournamentPlan
from arena.store.schema import TournamentState
from arena.store.tournaments.tournaments import Tournament
from arena.system.structured_file import FileError, FileProblem, read_json
from arena.system.temporary_folder import temporary_folder
from arena.tournaments import json_values
from referee.sanitizing import escaped_json

NAME: Final = "tournament.json"
STANDINGS: Final = "standings.json"
README: Final = "README.md"
MATCHES: Final = "matches"
_RECORD: Final = re.compile(r"(m-[0-9a-z]+)\.jsonl")
_PAGE: Final = """\
# {name}: a tournament that anyone can check

This folder contains the whole tournament {id} of pokearena:

- `tournament.json`: its settings, its entrants and every match of its schedule
- `matches/`: the record of every match that is over, with every action
- `standings.json`: the final table

It can be checked without a network or a server:

    pokearena tournament verify FOLDER

This command deals every game again from its seed, replays every action by the rules, computes every
score and the standings again, and derives the schedule from the format. To show a single match:

    pokearena replay FOLDER/matches/MATCH.jsonl --game 0

The members are described in the documentation of pokearena: docs/reference/bundle.md and
docs/reference/record.md.
"""


class BundleFileError(FileError, BundleError):
    """A file of a bundle cannot be read or is not valid."""


_Time: TypeAlias = Annotated[datetime, Meta(tz=True)]


@dataclass(frozen=True, slots=True)
class _Header:
    format: Annotated[
        int,
        Meta(ge=FORMAT, le=FORMAT, description=f"{FORMAT}, the format that this program reads"),
    ]


@dataclass(frozen=True, slots=True)
class _ClockMember:
    """A clock whose members are all required."""

    start_ms: Count
    allowance_ms: Count
    bank_ms: Count


@dataclass(frozen=True, slots=True)
class _EntrantMember:
    entrant: str
    content_hash: str
    remote: bool
    owner: str
    joined: Count
    withdrawn: Count | None = None


@dataclass(frozen=True, slots=True)
class _StrengthsMember:
    round: Count
    seq: Count
    strengths: dict[str, int]


@dataclass(frozen=True, slots=True)
class _TournamentDocument(_Header):
    """The members of `tournament.json`."""

    tournament: str
    name: str
    game: str
    options: dict[str, Any]
    seats: Count
    boards: Count
    pairing: str
    settings: dict[str, Any]
    clock: _ClockMember
    policy: Literal["lenient", "unforgiving"]
    state: TournamentState
    created: _Time
    entrants: tuple[_EntrantMember, ...]
    matches: tuple[Scheduled, ...]
    corrections: Count = 0
    ended: _Time | None = None
    seed: (
        Annotated[
            str, Meta(pattern=r"\A([0-9a-fA-F]{2})*\Z", description="bytes in hexadecimal digits")
        ]
        | None
    ) = None
    strengths: tuple[_StrengthsMember, ...] = ()


def write_document(bundle: Bundle) -> dict[str, Any]:
    """Return the `tournament.json` document of a bundle."""
    tournament = bundle.tournament
    settings = tournament.plan.to_json()
    return {
        "format": FORMAT,
        "tournament": tournament.id,
        **{name: settings[name] for name in ("name", "game", "options", "seats", "boards")},
        # "format" is the format of the document.
        "pairing": settings["format"],
        **{name: settings[name] for name in ("settings", "clock", "policy")},
        **({"corrections": settings["corrections"]} if "corrections" in settings else {}),
        "state": str(tournament.state),
        "created": json_values.iso(tournament.created),
        "ended": json_values.iso(tournament.ended),
        "seed": None if tournament.seed is None else tournament.seed.hex(),
        "entrants": [_entrant(entry, bundle.versions[entry.name]) for entry in tournament.entries],
        "matches": [_match(match) for match in bundle.matches],
        **({"strengths": _strengths(bundle.strengths)} if bundle.strengths else {}),
    }


def _entrant(entry: FormatEntrant, version: BundledVersion) -> dict[str, Any]:
    return {
        "entrant": entry.name,
        "content_hash": version.content_hash,
        "remote": version.remote,
        "owner": entry.owner,
        "joined": entry.joined,
        "withdrawn": entry.withdrawn,
    }


def _match(match: Scheduled) -> dict[str, Any]:
    members: dict[str, Any] = msgspec.to_builtins(match)
    absent = [name for name in ("closed", "voided", "forfeited_by") if members[name] is None]
    return {name: value for name, value in members.items() if name not in absent}


def _strengths(strengths: Mapping[int, PairingStrengths]) -> list[dict[str, Any]]:
    return [
        {"round": number, "seq": used.seq, "strengths": dict(used.values)}
        for number, used in sorted(strengths.items())
    ]


def _tournament(document: _TournamentDocument) -> Tournament:
    return Tournament(
        id=document.tournament,
        plan=TournamentPlan(
            name=document.name,
            game=document.game,
            options=document.options,
            seats=document.seats,
            boards=document.boards,
            format=document.pairing,
            settings=document.settings,
            clock=Clock(**asdict(document.clock)),
            faults=document.policy,
            corrections=document.corrections,
        ),
        entries=tuple(
            FormatEntrant(
                name=member.entrant,
                owner=member.owner,
                joined=member.joined,
                withdrawn=member.withdrawn,
            )
            for member in document.entrants
        ),
        state=document.state,
        created=document.created.timestamp(),
        ended=None if document.ended is None else document.ended.timestamp(),
        seed=None if document.seed is None else bytes.fromhex(document.seed),
    )


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
    folder.parent.mkdir(parents=True, exist_ok=True)
    with temporary_folder(folder.parent) as new_folder:
        _write(bundle, new_folder)
        folder.mkdir(exist_ok=True)
        _clear(folder)
        (folder / MATCHES).mkdir(exist_ok=True)
        for path in sorted(new_folder.rglob("*")):
            if path.is_file():
                shutil.move(path, folder / path.relative_to(new_folder))


def check(folder: Path, tournament: str) -> None:
    """Check that the bundle of a tournament may be written to a folder.

    Raises:
        BundleError: the folder is a file, or contains other files or another tournament.
    """
    if folder.exists() and not folder.is_dir():
        raise BundleError(f"{folder} is a file; a bundle is a folder.")
    if not folder.exists() or not any(folder.iterdir()):
        return
    if not is_bundle(folder):
        raise BundleError(
            f"{folder} is not empty and does not contain a bundle; choose another folder.",
            code="not-empty",
        )
    other = read_json(folder / NAME, dict[str, Any], BundleFileError).get("tournament")
    if other != tournament:
        raise BundleError(
            f"{folder} contains the bundle of tournament {other}; choose another folder.",
            code="other-tournament",
        )


def _write(bundle: Bundle, folder: Path) -> None:
    tournament = bundle.tournament
    _dump(write_document(bundle), folder / NAME)
    if bundle.standings is not None:
        _dump(bundle.standings, folder / STANDINGS)
    page = _PAGE.format(name=tournament.plan.name, id=tournament.id)
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
    path = folder / NAME
    if not is_bundle(folder):
        raise BundleFileError(path, FileProblem.ABSENT, "this file is missing in the bundle.")
    # The format first: other members of another format may have other meanings.
    read_json(path, _Header, BundleFileError)
    document = read_json(path, _TournamentDocument, BundleFileError)
    standings = folder / STANDINGS
    return Bundle(
        tournament=_tournament(document),
        versions={
            member.entrant: BundledVersion(member.content_hash, member.remote)
            for member in document.entrants
        },
        matches=document.matches,
        records=_Records(_records(folder)),
        standings=read_json(standings, dict[str, Any], BundleFileError)
        if standings.is_file()
        else None,
        strengths={
            member.round: PairingStrengths(member.seq, member.strengths)
            for member in document.strengths
        },
    )


def _records(folder: Path) -> dict[str, Path]:
    paths: dict[str, Path] = {}
    for path in sorted((folder / MATCHES).glob("*")):
        if match := _RECORD.fullmatch(path.name):
            paths[match[1]] = path
    return paths


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
