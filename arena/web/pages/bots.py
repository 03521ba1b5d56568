"""Page of all bots."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from arena.ladders.ladder_columns import ranks
from arena.presentation import wording
from arena.store.bots.versions import Version
from arena.store.match_settings import plain_ladder
from arena.web import paging
from arena.web.data.snapshot import ArenaSnapshot
from arena.web.data.web_state import WebState
from arena.web.page import InvalidQuery, Page, PageRequest, TextTable, ladder_in_query

STATES = ("active", "retired", "in quarantine")
"""States of a bot."""
QUERY = (
    ("find", "only bots whose name, owner, author or language contains this text"),
    ("owner", "only bots of this owner"),
    ("form", "only bots with a rank on the ladder of this form, by their places"),
    ("state", f"only bots in this state: {', '.join(STATES)}"),
    *paging.QUERY,
)
"""Query parameters of the page."""


@dataclass(frozen=True, slots=True)
class BestRank:
    """A bot's strongest version on a ladder, with its place."""

    form: str
    version: str
    place: int
    ranks: str
    of: int


@dataclass(frozen=True, slots=True)
class BotLine:
    """A bot with all its versions, the oldest first."""

    name: str
    versions: tuple[Version, ...]
    bests: tuple[BestRank, ...]

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

    def best_on(self, form: str) -> BestRank | None:
        """Return its strongest version on a ladder; None if it has no place there."""
        return next((best for best in self.bests if best.form == form), None)

    def relative_place(self, form: str) -> float:
        """Return its place divided by the number of places: on one ladder, or the mean of all."""
        shares = [best.place / best.of for best in self.bests if form in ("", best.form)]
        return sum(shares) / len(shares) if shares else 2.0

    def to_json(self) -> dict[str, Any]:
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


def bots_page(web: WebState, page_request: PageRequest) -> Page:
    """Return the page of all bots; raises InvalidQuery."""
    every = lines(web.snapshot)
    find = page_request.query.get("find", "")
    chosen = {name: page_request.query.get(name, "") for name in ("owner", "form", "state")}
    chosen["form"] = plain_ladder(ladder_in_query(chosen["form"]))
    if chosen["state"] not in ("", *STATES):
        raise InvalidQuery(f"state must be one of: {', '.join(STATES)}.")
    filtered = [line for line in matching(every, find) if _has(line, **chosen)]
    filtered.sort(key=lambda line: line.relative_place(chosen["form"]))
    piece = paging.selection_of(page_request).cut(filtered)
    table = _table(piece.items)
    return Page(
        title="Bots",
        template="bots.html",
        model={
            "piece": piece,
            "every": len(every),
            "find": find,
            "chosen": chosen,
            "forms": sorted(web.snapshot.ladders),
            "states": STATES,
        },
        data={"list": piece.to_json(), "bots": [line.to_json() for line in piece.items]},
        csv=table,
        text=table,
        parts=("bots-rows",),
        headers=piece.headers,
    )


def _has(line: BotLine, owner: str, form: str, state: str) -> bool:
    return (
        owner in ("", line.owner)
        and (not form or form in {best.form for best in line.bests})
        and state in ("", line.state)
    )


def lines(snapshot: ArenaSnapshot) -> list[BotLine]:
    """Return all bots, sorted by name."""
    versions: dict[str, list[Version]] = {}
    for version in snapshot.versions.values():
        versions.setdefault(version.name, []).append(version)
    bests = _bests(snapshot)
    return [
        BotLine(name, tuple(sorted(owned, key=lambda v: v.created)), tuple(bests.get(name, ())))
        for name, owned in sorted(versions.items())
    ]


def matching(every: Sequence[BotLine], find: str) -> list[BotLine]:
    """Return the bots whose name, owner, authors or language contain every search word."""
    return [
        line
        for line in every
        if wording.contains_words(f"{line.name} {line.owner} {line.authors} {line.language}", find)
    ]


def _bests(snapshot: ArenaSnapshot) -> dict[str, list[BestRank]]:
    bests: dict[str, list[BestRank]] = {}
    for form, ladder in snapshot.ladders.items():
        seen: set[str] = set()
        for place, line in ladder.table.ranked:
            name = line.entrant.partition("@")[0]
            if name not in seen:
                seen.add(name)
                best = BestRank(form, line.entrant, place, ranks(line), len(ladder.table.lines))
                bests.setdefault(name, []).append(best)
    return bests


def _table(listed: Sequence[BotLine]) -> TextTable:
    heads = ("<bot", "<owner", "<authors", "<language", "<state", "versions", "<best ranks")
    return TextTable(
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
