"""Page of a bot's faults. Its owner also sees the bot's output and the questions."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from arena.errors import NotFound
from arena.ratings.closed_match import FAULTS, PlayedFault
from arena.records.fault_causes import FaultCause, cause_key, fault_causes
from arena.records.fault_explanation import Explanation
from arena.records.published_faults import pathless
from arena.store.bots import owners
from arena.store.bots.versions import Version
from arena.store.matches import history, results
from arena.web import paging
from arena.web.data.web_state import WebState
from arena.web.page import Forbidden, InvalidQuery, Page, PageRequest, TextTable
from arena.web.pages.bot import find_bot
from referee.record import GameRecord, MatchRecord, RecordError, read_games

_GROUPED: Final = 1_000
"""Number of the newest faults that are grouped by cause."""
_CAUSES: Final = 30
"""Number of causes on the page, the most frequent first."""
_OWNER_FIELDS: Final = ("answer", "clock", "exit_status", "signal", "peak_memory")
MEANINGS = {
    "init": "the bot did not start",
    "timeout": "the bot exceeded its clock",
    "illegal": "the answer is not legal",
    "protocol": "the answer is not a valid message",
    "crash": "the process of the bot ended",
    "resources": "the bot exceeded a limit of memory, files or output",
    "forfeit": "games lost because of a fault in an earlier game, which counts the fault",
}
"""Meaning of each kind of fault."""


@dataclass(frozen=True, slots=True)
class ExplainedFault:
    """A fault as it is shown to a reader.

    Args:
        explanation: all details, only for the owner; None for other readers.
        folder: the folder of the version, which is removed from its output.
    """

    fault: PlayedFault
    explanation: Explanation | None = None
    folder: str = ""

    @property
    def output(self) -> str | None:
        """Output of the bot, only for the owner; otherwise None."""
        if self.explanation is None:
            return None
        written = self.explanation.output or self.fault.output
        return pathless(written.replace(self.folder, "") if self.folder else written)

    @property
    def process(self) -> str:
        """Exit status and memory of the bot's process, only for the owner; otherwise empty."""
        return "" if self.explanation is None else pathless(self.explanation.process)

    @property
    def sentence(self) -> str:
        """Description of the fault without local paths."""
        return pathless(self.fault.sentence)

    @property
    def ended(self) -> str:
        """How the bot's process ended, as a clause; empty if it did not end."""
        return pathless(self.fault.ended)

    @property
    def question_text(self) -> str:
        """The question in the protocol's JSON, only for the owner; otherwise empty."""
        question = self.explanation and self.explanation.question
        return json.dumps(question, ensure_ascii=False, indent=2) if question else ""

    def to_json(self) -> dict[str, Any]:
        fault = self.fault
        values: dict[str, Any] = {
            "match": fault.match,
            "game": fault.game,
            "decision": fault.decision,
            "seat": fault.seat,
            "version": fault.version,
            "kind": fault.verdict,
            "sentence": self.sentence,
            "ended": self.ended or None,
        }
        if self.explanation is not None:
            line = self.explanation.line
            values |= {
                "output": self.output,
                "question": self.explanation.question,
                **{name: line.get(name) for name in _OWNER_FIELDS},
            }
        return values


def faults_page(web: WebState, page_request: PageRequest) -> Page:
    """Return the faults of a bot; raises PageNotFound, InvalidQuery, or Forbidden for a token."""
    name, versions = find_bot(web, page_request)
    owned = _is_owner(web, page_request, versions)
    ids = [version.id for version in versions]
    kinds, kind = history.kinds(web.engine, ids), _kind(page_request)
    selection = paging.selection_of(page_request, 20 if owned else 100, 100)
    listed = history.faults(web.engine, ids, kind, selection.offset, selection.limit)
    shown_faults = [
        _explained(web, fault, versions) if owned else ExplainedFault(fault) for fault in listed
    ]
    piece = selection.of(shown_faults, kinds.get(kind, 0) if kind else sum(kinds.values()))
    causes = causes_of(web, history.faults(web.engine, ids, kind, 0, _GROUPED))
    table = _table(piece.items)
    return Page(
        title=f"Faults of {name}",
        template="faults.html",
        model={
            "name": name,
            "owner": versions[-1].owner,
            "owned": owned,
            "kinds": kinds,
            "kind": kind,
            "meanings": MEANINGS,
            "causes": causes[:_CAUSES],
            "groups": _groups(causes_of(web, listed), shown_faults),
            "matches": {
                match.match: match
                for match in history.of_ids(web.engine, list({each.match for each in listed}))
            },
            "grouped": min(piece.total, _GROUPED),
            "piece": piece,
        },
        data={
            "bot": name,
            "kinds": kinds,
            "causes": [
                {
                    "version": cause.first.version,
                    "kind": cause.first.verdict,
                    "sentence": pathless(cause.clause),
                    "times": cause.times,
                    "new": cause.is_new,
                }
                for cause in causes
            ],
            "list": piece.to_json(),
            "faults": [each.to_json() for each in piece.items],
        },
        csv=table,
        text=table,
        # A stream of events cannot send the token of a program.
        parts=() if page_request.token else ("faults-list",),
        fresh=0 if owned else 20.0,
        headers=piece.headers,
    )


def _groups(
    causes: Sequence[FaultCause], explained: Sequence[ExplainedFault]
) -> list[tuple[FaultCause, dict[str, list[ExplainedFault]]]]:
    """Return each cause with its faults by match."""
    groups: dict[tuple[str, ...], dict[str, list[ExplainedFault]]] = {}
    for each in explained:
        of_cause = groups.setdefault(cause_key(each.fault), {})
        of_cause.setdefault(each.fault.match, []).append(each)
    return [(cause, groups[cause_key(cause.first)]) for cause in causes]


def _kind(page_request: PageRequest) -> str:
    kind = page_request.query.get("kind", "")
    if kind not in ("", *MEANINGS):
        raise InvalidQuery(f"unknown kind of fault; available: {', '.join(FAULTS)}.")
    return kind


def _is_owner(web: WebState, page_request: PageRequest, versions: Sequence[Version]) -> bool:
    if not page_request.token:
        return page_request.is_session_of(versions[-1].owner)
    # A bot without an owner does not match any token.
    if not owners.is_of(web.engine, page_request.token, versions[-1].owner):
        raise Forbidden("the token does not belong to the owner of this bot.")
    return True


def _explained(web: WebState, fault: PlayedFault, versions: Sequence[Version]) -> ExplainedFault:
    folder = next((version.folder for version in versions if version.id == fault.version), "")
    return ExplainedFault(
        fault, _explanation(web, fault), f"{folder.rstrip('/')}/" if folder else ""
    )


def _explanation(web: WebState, fault: PlayedFault) -> Explanation:
    """Return the details of the fault's record line.

    Adds the bot's output if the record of another game contains it.
    """
    bare = {"seat": fault.seat, "output": fault.output, "ended": fault.ended}
    try:
        games = [_game(web, fault.match, fault.game)]
        for line in games[0].faults:
            if (line["decision"], line["seat"]) == (fault.decision, fault.seat):
                if "output_in" in line:
                    games.append(_game(web, fault.match, line["output_in"]))
                return Explanation(MatchRecord({}, tuple(games)), games[0], line)
    except (NotFound, RecordError, ValueError):
        pass
    return Explanation(MatchRecord({}, ()), GameRecord({}, (), (), {}), bare)


def _game(web: WebState, match: str, number: int) -> GameRecord:
    (game,) = read_games(results.game_record(web.engine, match, number))
    return game


def _table(explained: Sequence[ExplainedFault]) -> TextTable:
    heads = ("<kind", "<version", "<match", "game", "decision", "<sentence")
    rows = [
        (f.verdict, f.version, f.match, f.game, f.decision, each.sentence)
        for each in explained
        for f in (each.fault,)
    ]
    return TextTable(heads, rows)


def causes_of(web: WebState, faults: Sequence[PlayedFault]) -> list[FaultCause]:
    """Group faults by cause, with what is new in a version."""
    earlier = {}
    for name in {fault.version for fault in faults}:
        before = _earlier_versions(web, name)
        if before and history.count(web.engine, [before]):
            earlier[name] = frozenset(history.kinds(web.engine, before))
    return fault_causes(faults, earlier)


def _earlier_versions(web: WebState, name: str) -> list[str]:
    versions = web.snapshot.versions
    version = versions.get(name)
    if version is None:
        return []
    return [
        other.id
        for other in versions.values()
        if other.name == version.name and other.created < version.created
    ]
