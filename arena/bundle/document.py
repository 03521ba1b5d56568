"""`tournament.json`: a tournament and its schedule as plain values, and back (docs/bundle.md)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, Final, TypeVar

from arena.bundle.bundle import FORMAT, Bundle, BundleError, Scheduled, Version
from arena.pairings.contract import Entrant
from arena.store.schema import MatchState, TournamentState
from arena.store.spec import Clock, Plan
from arena.store.tournaments import Tournament

NAME: Final = "tournament.json"

T = TypeVar("T")
States = TypeVar("States", bound=StrEnum)


def write(bundle: Bundle) -> dict[str, Any]:
    """The document of a bundle."""
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


def _entrant(one: Entrant, version: Version) -> dict[str, Any]:
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


def read(value: object, records: Mapping[str, str], standings: Mapping[str, Any] | None) -> Bundle:
    """The bundle that has this document, these records and these standings.

    Raises BundleError if the document does not say what it should.
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


def _tournament(paper: _Paper, entries: list[Entrant]) -> Tournament:
    clock = paper.within(paper.a("clock", dict), "clock")
    seed = paper.maybe("seed", str)
    return Tournament(
        id=paper.a("tournament", str),
        plan=Plan(
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


def _entry(paper: _Paper) -> Entrant:
    return Entrant(
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
    """An object of a document, whose members are asked for by name and type."""

    def __init__(self, value: object, where: str) -> None:
        if not isinstance(value, dict):
            raise BundleError(f"{where} is no object")
        self.where = where
        self._value = value

    def within(self, value: object, name: str) -> _Paper:
        """An object in it."""
        return _Paper(value, f"{self.where}, {name}")

    def a(self, name: str, kind: type[T]) -> T:
        """A member of a type."""
        if name not in self._value:
            raise BundleError(f"{self.where} does not say {name}")
        value = self._value[name]
        if type(value) is not kind:
            raise BundleError(f"{self.where}: {name} is {value!r}, which is no {kind.__name__}")
        return value

    def maybe(self, name: str, kind: type[T]) -> T | None:
        """A member that may be null."""
        return None if self._value.get(name, ...) is None else self.a(name, kind)

    def whole(self, name: str) -> int:
        """A whole number from 0."""
        value = self.a(name, int)
        if value < 0:
            raise BundleError(f"{self.where}: {name} is {value}, which is below 0")
        return value

    def one_of(self, name: str, states: type[States]) -> States:
        """A state."""
        value = self.a(name, str)
        try:
            return states(value)
        except ValueError:
            raise BundleError(f"{self.where}: {name} is {value!r}, which is no state") from None

    def time(self, name: str) -> float:
        """A time, in seconds since 1970."""
        value = self.a(name, str)
        try:
            return datetime.fromisoformat(value).timestamp()
        except ValueError:
            raise BundleError(f"{self.where}: {name} is {value!r}, which is no time") from None

    def digits(self, name: str, value: str) -> bytes:
        """Bytes in hexadecimal."""
        try:
            return bytes.fromhex(value)
        except ValueError:
            raise BundleError(f"{self.where}: {name} is not hexadecimal") from None


def _iso(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds")
