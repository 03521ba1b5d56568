"""Page of all bots."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from arena.ladders import ladder_values
from arena.store.bots.versions import Version
from arena.web import paging, wording
from arena.web.data.snapshot import Sight
from arena.web.data.state import Web
from arena.web.page import Ask, Page, Table


@dataclass(frozen=True, slots=True)
class Best:
    """A bot's strongest version on a ladder, with its place."""

    form: str
    version: str
    place: int
    ranks: str
    of: int


@dataclass(frozen=True, slots=True)
class Line:
    """A bot with all its versions, the oldest first."""

    name: str
    versions: tuple[Version, ...]
    bests: tuple[Best, ...]

    @property
    def newest(self) -> Version:
        """The newest active version, or the newest of all."""
        return next((v for v in reversed(self.versions) if not state(v)), self.versions[-1])

    @property
    def owner(self) -> str:
        """Owner of the newest version."""
        return self.newest.owner

    @property
    def authors(self) -> str:
        """Authors of the newest version, separated by commas."""
        return ", ".join(self.newest.authors)

    @property
    def language(self) -> str:
        """Programming language of the newest version."""
        return self.newest.language

    @property
    def state(self) -> str:
        """ "active", "retired" or "in quarantine"."""
        return state(self.newest) or "active"

    def to_json(self) -> dict[str, Any]:
        """Return the line as JSON values."""
        return {
            "bot": self.name,
            "owner": self.owner,
            "authors": self.authors,
            "language": self.language,
            "state": self.state,
            "versions": [version.number for version in self.versions],
            "ladders": {
                best.form: {"version": best.version, "place": best.place, "of": best.of}
                for best in self.bests
            },
        }


def state(version: Version) -> str:
    """Return why a version cannot enter tournaments; empty if it can."""
    if version.retired is not None:
        return "retired"
    return "in quarantine" if version.quarantined is not None else ""


def page(web: Web, ask: Ask) -> Page:
    """Return the page of all bots; raises BadAsk."""
    every = lines(web.sight)
    find = ask.query.get("find", "")
    piece = paging.wanted(ask).cut(sought(every, find))
    table = _table(piece.items)
    return Page(
        title="Bots",
        template="bots.html",
        model={"piece": piece, "every": len(every), "find": find},
        data={"list": piece.to_json(), "bots": [line.to_json() for line in piece.items]},
        csv=table,
        text=table,
        parts=("bots-rows",),
        headers=piece.headers,
    )


def lines(sight: Sight) -> list[Line]:
    """Return all bots, sorted by name."""
    versions: dict[str, list[Version]] = {}
    for version in sight.versions.values():
        versions.setdefault(version.name, []).append(version)
    bests = _bests(sight)
    return [
        Line(name, tuple(sorted(owned, key=lambda v: v.created)), tuple(bests.get(name, ())))
        for name, owned in sorted(versions.items())
    ]


def sought(every: Sequence[Line], find: str) -> list[Line]:
    """Return the bots whose name, owner, authors or language contain every search word."""
    return [
        line
        for line in every
        if wording.holds(f"{line.name} {line.owner} {line.authors} {line.language}", find)
    ]


def _bests(sight: Sight) -> dict[str, list[Best]]:
    bests: dict[str, list[Best]] = {}
    for form, ladder in sight.ladders.items():
        seen: set[str] = set()
        for place, line in enumerate(ladder.table.lines, 1):
            name = line.entrant.partition("@")[0]
            if name not in seen:
                seen.add(name)
                ranks = ladder_values.ranks(line, "–")
                best = Best(form, line.entrant, place, ranks, len(ladder.table.lines))
                bests.setdefault(name, []).append(best)
    return bests


def _table(listed: Sequence[Line]) -> Table:
    heads = ("<bot", "<owner", "<authors", "<language", "<state", "versions", "<best ranks")
    return Table(
        heads,
        [
            (
                *(line.name, line.owner, line.authors, line.language, line.state),
                len(line.versions),
                "; ".join(f"{wording.form_name(b.form)} {b.ranks}" for b in line.bests),
            )
            for line in listed
        ],
    )
