"""What went wrong with a bot; for its owner, with what it wrote and what it was asked."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from arena.discretion import pathless
from arena.results import FAULTS
from arena.store import blame, owners, results
from arena.store.errors import NotFound
from arena.store.results import LoggedFault
from arena.store.versions import Version
from arena.web import paging
from arena.web.page import Ask, BadAsk, Forbidden, Page, Table
from arena.web.pages.bot import found_bot
from arena.web.state import Web
from referee.record import RecordError, read_games

MEANINGS = {
    "init": "it did not start",
    "timeout": "it thought longer than its clock allows",
    "illegal": "it answered what the rules do not allow",
    "protocol": "its answer could not be understood",
    "crash": "its process ended",
    "resources": "it took more memory, files or output than it may",
    "forfeit": "games lost because of faults in earlier ones; the fault is with the earlier one",
}
"""What each kind of fault is."""


@dataclass(frozen=True, slots=True)
class Told:
    """A fault. output, question: for its owner alone, empty if there is none; None for others."""

    fault: LoggedFault
    output: str | None = None
    question: dict[str, Any] | None = None

    @property
    def sentence(self) -> str:
        """What went wrong."""
        return pathless(self.fault.sentence)

    @property
    def ended(self) -> str:
        """How its process ended, as a clause; empty if it ran on."""
        return pathless(self.fault.ended)

    @property
    def asked(self) -> str:
        """The question as text."""
        return json.dumps(self.question, ensure_ascii=False, indent=2) if self.question else ""

    def to_json(self) -> dict[str, Any]:
        """It as plain values."""
        fault = self.fault
        told: dict[str, Any] = {
            "match": fault.match,
            "game": fault.game,
            "decision": fault.decision,
            "seat": fault.seat,
            "version": fault.version,
            "kind": fault.verdict,
            "sentence": self.sentence,
            "ended": self.ended or None,
        }
        if self.output is not None:
            told |= {"output": self.output, "question": self.question or None}
        return told


def page(web: Web, ask: Ask) -> Page:
    """The page; raises NoSuchPage if there is no such bot, Forbidden for a wrong token, BadAsk."""
    name, versions = found_bot(web, ask)
    owned = _is_owner(web, ask, versions)
    own = [version.id for version in versions]
    kinds, kind = blame.kinds(web.engine, own), _kind(ask)
    wish = paging.wanted(ask, 20, 100)
    found = blame.faults(web.engine, own, kind, wish.offset, wish.limit)
    told = [_told(web, fault, versions) if owned else Told(fault) for fault in found]
    piece = wish.of(told, kinds.get(kind, 0) if kind else sum(kinds.values()))
    table = _table(piece.items)
    return Page(
        title=f"What went wrong with {name}",
        template="faults.html",
        model={
            "name": name,
            "owner": versions[-1].owner,
            "owned": owned,
            "kinds": kinds,
            "kind": kind,
            "meanings": MEANINGS,
            "piece": piece,
        },
        data={
            "bot": name,
            "kinds": kinds,
            "list": piece.to_json(),
            "faults": [each.to_json() for each in piece.items],
        },
        csv=table,
        text=table,
        parts=() if owned else ("faults-list",),
        fresh=0 if owned else 20.0,
        headers={**piece.headers, "Cache-Control": "no-store"} if owned else piece.headers,
    )


def _kind(ask: Ask) -> str:
    kind = ask.query.get("kind", "")
    if kind not in ("", *MEANINGS):
        raise BadAsk(f"kinds of faults are {', '.join(FAULTS)}.")
    return kind


def _is_owner(web: Web, ask: Ask, versions: Sequence[Version]) -> bool:
    if not ask.token:
        return False
    # A bot that is nobody's has no owner whose token could be known.
    if not owners.is_of(web.engine, ask.token, versions[-1].owner):
        raise Forbidden("this is not the token of the owner of this bot.")
    return True


def _told(web: Web, fault: LoggedFault, versions: Sequence[Version]) -> Told:
    output = fault.output
    for version in versions:
        if version.folder:
            output = output.replace(version.folder.rstrip("/") + "/", "")
    return Told(fault, pathless(output), _question(web, fault))


def _question(web: Web, fault: LoggedFault) -> dict[str, Any]:
    """What it was asked when it failed, as the protocol's JSON."""
    try:
        (game,) = read_games(results.game_record(web.engine, fault.match, fault.game))
    except (NotFound, RecordError, ValueError):
        return {}
    for line in game.faults:
        if (line["decision"], line["seat"]) == (fault.decision, fault.seat):
            return dict(line.get("question") or {})
    return {}


def _table(some: Sequence[Told]) -> Table:
    heads = ("<kind", "<version", "<match", "game", "decision", "<sentence")
    rows = [
        (f.verdict, f.version, f.match, f.game, f.decision, each.sentence)
        for each in some
        for f in (each.fault,)
    ]
    return Table(heads, rows)
