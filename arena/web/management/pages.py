"""The pages of organisers, rendered for one person and never cached."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from arena.bots.version_store import MIB, MOST_BYTES, MOST_FILES
from arena.formats import contract
from arena.formats.registry import CLOSED
from arena.store.access import audit_log
from arena.store.access.audit_log import LoggedEntry
from arena.store.access.sessions import Role
from arena.store.bots import owners, submissions, versions
from arena.store.matches import history, listing
from arena.store.schema import MatchState
from arena.store.tournaments import tournaments
from arena.store.tournaments.challenges import FORMAT
from arena.store.tournaments.tournaments import Tournament
from arena.tournaments import json_values
from arena.web import paging
from arena.web.data import tournament_standings
from arena.web.data.web_state import WebState
from arena.web.management import (
    account_actions,
    account_page,
    organiser_actions,
    tournament_actions,
)
from arena.web.management.access import Access
from arena.web.management.action import Action, ActionRequest
from arena.web.management.actions import ACTIONS
from arena.web.management.tournament_form import bot_choices, ladder_of, tournament_form
from arena.web.page import Page, PageRequest
from arena.web.pages import tournaments as tournaments_page
from arena.web.pages.faults import causes_of
from arena.web.pages.submission import lines, positions_of, to_json
from arena.web.serving.downloads import MOST_SITE_GAMES

_MAX_ROWS: Final = 20
_PENDING, _WAITING = 50, 6
"""Number of open matches of a tournament that are read, and of waiting ones that are shown."""
_OF_FAULT: Final = "match", "game", "decision", "version", "verdict", "sentence", "output"
_FIXED: Final = {
    **{"version": "the version", "name": "the owner or bot", "owner": "the new owner"},
    **{"bot": "the bot of the owner", "state": "who can read its reasoning"},
}
"""Query parameters of a page of confirmation, which its form sends again."""


def overview(web: WebState, page_request: PageRequest, access: Access) -> Page:
    """Return the organiser's overview: open tournaments, workers and the latest actions."""
    every = tournaments.list_tournaments(web.engine)
    unfinished = [
        tournaments_page.line_of(web, tournament)
        for tournament in every
        if tournament.ended is None
    ]
    workers = web.workers.read()
    entries = audit_log.list_entries(web.engine, limit=_MAX_ROWS, sign_ins=False)
    return Page(
        title="Overview",
        template="management/overview.html",
        model={
            "unfinished": unfinished,
            "waiting": len(submissions.awaiting_approval(web.engine)),
            "workers": workers,
            "alive": sum(worker.alive for worker in workers),
            "problems": web.workers.problems(),
            "entries": entries,
            "names": _names(web, every, entries),
        },
        data={
            "organiser": access.identity.name,
            "tournaments": [
                json_values.tournament(line.tournament, line.progress) for line in unfinished
            ],
            "workers": [
                {
                    "name": worker.name,
                    "host": worker.host,
                    "alive": worker.alive,
                    "match": worker.match or None,
                    "sandbox": worker.sandbox.level,
                    "sandbox_stored": worker.sandbox.stored or None,
                }
                for worker in workers
            ],
            "sandbox_problems": web.workers.problems(),
            "audit": [entry.to_json() for entry in entries],
        },
    )


def new_tournament(web: WebState, page_request: PageRequest, access: Access) -> Page:
    """Return the form of a new tournament for the game and the format in the query."""
    return Page(
        title="New tournament",
        template="management/new_tournament.html",
        model={
            "create": tournament_actions.CREATE,
            "preview_action": tournament_actions.PREVIEW,
            "draft": tournament_form(web, tournament_actions.FIELDS, page_request.query),
        },
    )


def tournament(web: WebState, page_request: PageRequest, access: Access) -> Page:
    """Return the controls of a tournament, with its progress and its standings."""
    stored = tournaments.find_tournament(web.engine, page_request.path["id"])
    overview = tournaments_page.line_of(web, stored)
    progress = overview.progress
    entries = audit_log.list_entries(web.engine, subject=stored.id)
    table = tournament_standings.standings_of(web.engine, stored)
    state = tournament_standings.format_state(web.engine, stored, progress.matches)
    states = (MatchState.PENDING,)
    pending = listing.matches(web.engine, tournament=stored.id, states=states, limit=_PENDING)
    newest = listing.newest(web.engine, stored.id, _MAX_ROWS)
    ladder = ladder_of(web, stored.plan.game)
    joining = page_request.query.get("bots", "")
    bots, omitted, others = bot_choices(web, stored.plan.game, joining, ladder, stored.entrants)
    return Page(
        title=f"{stored.plan.name}: controls",
        template="management/tournament.html",
        model={
            "tournament": stored,
            "overview": overview,
            "progress": progress,
            "entries": entries,
            "lines": tournament_standings.lines_of(stored, table, state),
            "scores": state.scores,
            "groups": {
                "being played": [each for each in newest if each.state is MatchState.RUNNING],
                "interrupted": [each for each in pending if each.attempt],
                "waiting": [each for each in pending if not each.attempt][:_WAITING],
                "ended": [each for each in newest if each.state is not MatchState.RUNNING],
            },
            "now": time.time(),
            "has_worker": any(worker.alive for worker in web.workers.read()),
            "bots": bots,
            "omitted": omitted,
            "others": others,
            "ladder": ladder.scope.name if ladder else "",
            "joins": stored.ended is None and stored.plan.format not in CLOSED,
            "actions": tournament_actions,
            "most_games": MOST_SITE_GAMES,
        },
        data={
            **json_values.tournament(stored, progress),
            "audit": [entry.to_json() for entry in entries],
        },
    )


def confirmation(action: Action) -> Callable[[WebState, PageRequest, Access], Page]:
    """Return the function of the page that shows what an action will change."""

    def draw(web: WebState, page_request: PageRequest, access: Access) -> Page:
        request = ActionRequest(web, access.actor, page_request.path, page_request.query)
        assert action.changes is not None
        changes = action.changes(request)
        path = action.path.format(**page_request.path)
        return Page(
            title=changes.title,
            template="management/confirmation.html",
            model={
                "action": action,
                "changes": changes,
                "target": path,
                "fixed": {name: value for name in _FIXED if (value := request.text(name))},
            },
        )

    return draw


def owner_tokens(web: WebState, page_request: PageRequest, access: Access) -> Page:
    """Return the owners with a token."""
    listed = owners.list_owners(web.engine)
    return Page(
        title="Owners",
        template="management/owners.html",
        model={"owners": listed, "actions": organiser_actions},
        data={
            "owners": [
                {"owner": each.name, "created": json_values.iso(each.created)} for each in listed
            ]
        },
    )


def match(web: WebState, page_request: PageRequest, access: Access) -> Page:
    """Return the controls of a match."""
    stored = listing.find_match(web.engine, page_request.path["id"])
    entries = audit_log.list_entries(web.engine, subject=stored.id)
    failures = listing.failures_of(web.engine, stored.id)
    last = listing.replays(web.engine, stored)[-1]
    tournament = tournaments.find_tournament(web.engine, stored.tournament)
    is_open = tournament.ended is None
    return Page(
        title=f"{' v '.join(stored.entrants)}: controls",
        template="management/match.html",
        model={
            "match": stored,
            "tournament": tournament,
            "forfeitable": is_open and tournament.plan.format in contract.FORFEITABLE,
            "replayed": last.id != stored.id,
            "entries": entries,
            "failures": failures,
            "actions": organiser_actions,
        },
        data={
            **json_values.match(stored),
            "failures": [
                {**failure.to_json(), "at": json_values.iso(failure.at)} for failure in failures
            ],
            "audit": [entry.to_json() for entry in entries],
        },
    )


def bots(web: WebState, page_request: PageRequest, access: Access) -> Page:
    """Return the versions that are banned or in quarantine, and the forms to change them."""
    every = versions.list_versions(web.engine, retired=True)
    excluded = [version for version in every if version.quarantined is not None]
    return Page(
        title="Bots",
        template="management/bots.html",
        model={"excluded": excluded, "actions": organiser_actions},
        data={
            "excluded": [
                {"version": each.id, "reason": each.quarantine_reason} for each in excluded
            ]
        },
    )


def pending_submissions(web: WebState, page_request: PageRequest, access: Access) -> Page:
    """Return the submissions that wait for approval."""
    waiting = submissions.awaiting_approval(web.engine)
    return Page(
        title="Submissions",
        template="management/submissions.html",
        model={"waiting": waiting, "actions": organiser_actions},
        data={"submissions": [to_json(each, owned=True) for each in waiting]},
    )


def audit(web: WebState, page_request: PageRequest, access: Access) -> Page:
    """Return the audit log, the newest entries first."""
    selection = paging.selection_of(page_request)
    sign_ins = page_request.query.get("sign_ins") != "hide"
    piece = selection.cut(audit_log.list_entries(web.engine, limit=5000, sign_ins=sign_ins))
    every = tournaments.list_tournaments(web.engine)
    return Page(
        title="Audit log",
        template="management/audit.html",
        model={
            "entries": piece.items,
            "sign_ins": sign_ins,
            "names": _names(web, every, piece.items),
            "piece": piece,
        },
        data={"audit": [entry.to_json() for entry in piece.items], "list": piece.to_json()},
        headers=piece.headers,
    )


def _names(
    web: WebState, every: Sequence[Tournament], entries: Sequence[LoggedEntry]
) -> dict[str, str]:
    """Return the names of tournaments and of the matches of some entries by their ids."""
    matches = listing.matches(web.engine, ids={entry.subject for entry in entries})
    names = {match.id: " v ".join(match.entrants) for match in matches}
    return names | {tournament.id: tournament.plan.name for tournament in every}


def account(web: WebState, page_request: PageRequest, access: Access) -> Page:
    """Return an owner's bots with their ratings, results, faults, submissions and challenges."""
    owner = access.identity.name
    owned = [
        each for each in versions.list_versions(web.engine, retired=True) if each.owner == owner
    ]
    names = {version.id for version in owned}
    sent = submissions.list_submissions(web.engine, owner=owner, limit=_MAX_ROWS)
    positions = positions_of(web, sent)
    faults = history.faults(web.engine, names, limit=_MAX_ROWS) if names else ()
    challenges = [
        each
        for each in reversed(tournaments.list_tournaments(web.engine))
        if each.plan.format == FORMAT and each.entries[0].name in names
    ][:_MAX_ROWS]
    owned.sort(key=lambda version: (version.name, version.created))
    ratings = account_page.ratings_of(web, owned)
    limits = account_page.limits_of(web, owner)
    return Page(
        title="Your bots",
        template="management/account.html",
        model={
            "versions": owned,
            "ratings": ratings,
            "results": account_page.results_of(web, names),
            "suggestions": account_page.suggestions_of(web, owned),
            "limits": limits,
            "known": {
                "bot": sorted(ratings),
                "opponent": sorted({each.name for each in web.snapshot.versions.values()})[:100],
                "form": sorted(web.snapshot.ladders),
            },
            "most_files": MOST_FILES,
            "most_mib": MOST_BYTES // MIB,
            "push_mib": web.settings.push_mib,
            "submissions": lines(sent, positions),
            "causes": causes_of(web, faults),
            "challenges": challenges,
            "actions": account_actions,
        },
        data={
            "owner": owner,
            "today": {name: limit.to_json() for name, limit in limits.items()},
            "ratings": [row.to_json() for rows in ratings.values() for row in rows],
            "versions": [
                {
                    "version": each.id,
                    "created": json_values.iso(each.created),
                    "retired": json_values.iso(each.retired),
                    "quarantine_reason": each.quarantine_reason,
                }
                for each in owned
            ],
            "submissions": [
                to_json(each, owned=True, position=positions.get(each.id)) for each in sent
            ],
            "faults": [{name: getattr(fault, name) for name in _OF_FAULT} for fault in faults],
            "challenges": [each.id for each in challenges],
        },
    )


@dataclass(frozen=True, slots=True)
class ManagementPage:
    """A page that requires a role.

    Args:
        path: the path, with named values in braces.
        query: the accepted query parameters with a short description.
    """

    path: str
    draw: Callable[[WebState, PageRequest, Access], Page]
    summary: str
    role: Role = Role.ORGANISER
    query: tuple[tuple[str, str], ...] = ()
    has_json: bool = True
    confirms: Action | None = None


PAGES: Final = (
    ManagementPage("/organiser", overview, "Open tournaments, workers and the latest actions."),
    ManagementPage(
        tournament_actions.NEW,
        new_tournament,
        "The form of a new tournament.",
        query=(("game", "the game"), ("format", "the format")),
        has_json=False,
    ),
    ManagementPage(
        "/organiser/tournaments/{id}", tournament, "The state and the audit log of a tournament."
    ),
    ManagementPage("/organiser/matches/{id}", match, "The state and the audit log of a match."),
    ManagementPage("/organiser/bots", bots, "The versions that are banned or in quarantine."),
    ManagementPage(
        "/organiser/submissions", pending_submissions, "The submissions that wait for approval."
    ),
    ManagementPage("/organiser/owners", owner_tokens, "The owners of bots with a token."),
    ManagementPage(
        "/organiser/audit",
        audit,
        "The audit log, newest entries first.",
        query=(("sign_ins", "hide: without the sign-ins, which most entries are"), *paging.QUERY),
    ),
    ManagementPage(
        "/account",
        account,
        "The owner's versions, submissions, latest faults with output, and challenges.",
        Role.OWNER,
    ),
    *(
        ManagementPage(
            action.path,
            confirmation(action),
            f"What this changes: {action.summary}",
            action.role,
            tuple(_FIXED.items()),
            has_json=False,
            confirms=action,
        )
        for action in ACTIONS
        if action.changes is not None
    ),
)
