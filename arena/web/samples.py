"""Addresses that can be tried: those of pages, filled with what there is in this arena."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from arena.store import listing, submissions, tournaments
from arena.store.schema import MatchState
from arena.web.routes import Address
from arena.web.state import Web

_PLACE = re.compile(r"\{(\w+)(?::\w+)?\}")


def names(path: str) -> tuple[str, ...]:
    """The names of the values in an address of a page."""
    return tuple(_PLACE.findall(path))


def plain(path: str) -> str:
    """An address of a page with nothing but names in its braces, as OpenAPI writes it."""
    return _PLACE.sub(r"{\1}", path)


class Samples:
    """What there is in an arena, to fill addresses with."""

    def __init__(self, web: Web) -> None:
        self._known = _known(web)

    def values(self, address: Address) -> Mapping[str, str] | None:
        """The values of a page that there is; None if there is none of its kind yet."""
        found: dict[str, str] = {}
        for name in names(address.path):
            value = self._known.get(_kind(address.path, name))
            if value is None:
                return None
            found[name] = value
        return found

    def query(self, address: Address) -> Mapping[str, str]:
        """What has to stand behind the question mark."""
        needed = {"one", "other"} & {name for name, _ in address.query}
        return {name: self._known[name] for name in sorted(needed) if name in self._known}


def _kind(path: str, name: str) -> str:
    """What an id is of: it is called the same wherever it stands."""
    if name != "id":
        return name
    return next((kind for kind in ("match", "submission") if f"/{kind}" in path), "tournament")


def _known(web: Web) -> dict[str, str]:
    known: dict[str, Any] = {"game": "poke", "page": "ratings", "n": "0"}
    for form, ladder in web.sight.ladders.items():
        ranked = [line.entrant for line in ladder.table.lines]
        if len(ranked) >= 2:
            known |= {"form": form, "one": ranked[0], "other": ranked[1]}
            known["name"] = ranked[0].partition("@")[0]
            break
    for pushed in submissions.listing(web.engine, limit=1):
        known["submission"] = pushed.id
    held = tournaments.listing(web.engine)
    for one in reversed(held):
        closed = listing.matches(
            web.engine, tournament=one.id, states=(MatchState.CLOSED,), limit=1
        )
        if closed:
            known |= {"tournament": one.id, "match": closed[0].id}
            break
    return known
