"""What actions that cannot be undone will change, for their pages of confirmation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from typing import Final

from sqlalchemy import Engine
from starlette.exceptions import HTTPException

from arena.errors import NotFound, nearest
from arena.presentation import wording
from arena.store.bots import owners, submissions, versions
from arena.store.bots.owner_data import ReasoningState
from arena.store.bots.versions import Version
from arena.store.matches import listing
from arena.store.matches.listing import Match
from arena.store.schema import OPEN, MatchState
from arena.store.tournaments import tournaments
from arena.store.tournaments.tournaments import Tournament
from arena.web.management.action import ActionRequest, Changes
from arena.web.page import InvalidQuery

BOTS: Final = "/organiser/bots"
_REASONING: Final[Mapping[str, str]] = {
    ReasoningState.PRIVATE: "Only you and the organiser can read it, also in later matches.",
    ReasoningState.PUBLISHED: "Everybody can read it, also in later matches.",
    ReasoningState.DELETED: "It is deleted and cannot be restored; the records keep the hashes.",
}
"""The consequence of each state."""


def of_withdrawal(request: ActionRequest) -> Changes:
    tournament, version, matches = _entrant(request)
    pending = _in_state(matches, MatchState.PENDING)
    return Changes(
        f"Withdraw {version} from {tournament.plan.name}?",
        (
            f"{_counted(pending)} not played: the opponents get no result from them.",
            *_finished(matches),
            "Its results and its place in the standings are kept.",
            "It is not paired again, and cannot enter this tournament again.",
        ),
        pending,
        _controls(tournament),
    )


def of_disqualification(request: ActionRequest) -> Changes:
    tournament, version, matches = _entrant(request)
    lost = _in_state(matches, *OPEN, MatchState.CLOSED)
    closed = _in_state(matches, MatchState.CLOSED)
    return Changes(
        f"Disqualify {version} from {tournament.plan.name}?",
        (
            f"{_counted(lost)} void, of them {len(closed)} with a result, also for the opponents.",
            "It is withdrawn, and cannot enter this tournament again.",
            *_ratings(tournament),
            "The reason is public.",
        ),
        lost,
        _controls(tournament),
    )


def of_cancellation(request: ActionRequest) -> Changes:
    tournament = tournaments.find_tournament(request.web.engine, request.path["id"])
    matches = listing.matches(request.web.engine, tournament=tournament.id, states=OPEN)
    pending = _in_state(matches, MatchState.PENDING)
    progress = tournaments.progress(request.web.engine, tournament.id)
    return Changes(
        f"Cancel {tournament.plan.name}?",
        (
            f"{_counted(pending)} not played.",
            *_finished(matches),
            f"{progress.closed} closed matches and the standings stay, without a winner.",
            "A cancelled tournament cannot be continued.",
        ),
        pending,
        _controls(tournament),
    )


def of_voiding(request: ActionRequest) -> Changes:
    match, tournament = _match(request)
    return _of_match(match, "Void the match {}?", *_voided(match), *_ratings(tournament))


def of_forfeit(request: ActionRequest) -> Changes:
    match, tournament = _match(request)
    return _of_match(
        match,
        "Decide the match {} against one of them?",
        f"{tournament.plan.name} counts it as lost by that bot and won by the others.",
        f"Its {match.committed} finished games stay readable; the ratings do not count them.",
    )


def of_replay(request: ActionRequest) -> Changes:
    match, tournament = _match(request)
    return _of_match(
        match,
        "Play the match {} again?",
        *_voided(match),
        f"A new match of the same bots is scheduled at its place: {match.boards} boards, "
        f"{match.games} games, with a new seed.",
        *_ratings(tournament),
    )


def _of_match(match: Match, title: str, *sentences: str) -> Changes:
    return Changes(
        title.format(" v ".join(match.entrants)),
        (*sentences, "The reason is public."),
        (match,),
        f"/organiser/matches/{match.id}",
    )


def of_retirement(request: ActionRequest) -> Changes:
    version = versions.find_version(request.web.engine, _version(request))
    if version.owner != request.actor.name:
        raise HTTPException(403, f"{version.id} does not belong to {request.actor.name}.")
    matches = listing.matches(request.web.engine, version=version.id, states=OPEN)
    ladders = [
        tournament
        for tournament in tournaments.list_tournaments(request.web.engine, over=False)
        if tournament.plan.settings.get("open") is True and version.id in tournament.entrants
    ]
    names = {ladder.id for ladder in ladders}
    pending = tuple(match for match in matches if match.tournament in names)
    pending = _in_state(pending, MatchState.PENDING)
    shown = ", ".join(wording.form_name(ladder.plan.form) for ladder in ladders) or "none"
    return Changes(
        f"Retire {version.id}?",
        (
            f"It leaves these open ladders: {shown}. {_counted(pending)} not played.",
            "It enters no tournament again. Its results, its ratings and its page stay.",
            "A retired version cannot return; push a new version instead.",
        ),
        pending,
        "/account",
    )


def of_ban(request: ActionRequest) -> Changes:
    engine = request.web.engine
    version = find_version(engine, _version(request))
    matches = listing.matches(engine, version=version.id, states=OPEN)
    pending = _in_state(matches, MatchState.PENDING)
    entered = _entered(engine, {version.id})
    return Changes(
        f"Ban {version.id}?",
        (
            f"It is withdrawn from these tournaments: {entered}. {_counted(pending)} not played.",
            *_finished(matches),
            "It enters no tournament until it is released, and does not return to these.",
            "Its results and ratings stay. The reason is public.",
        ),
        pending,
        BOTS,
    )


def of_release(request: ActionRequest) -> Changes:
    version = versions.find_version(request.web.engine, _version(request))
    if version.quarantined is None:
        raise HTTPException(409, f"{version.id} is neither banned nor in quarantine.")
    return Changes(
        f"Release {version.id}?",
        (
            f"This exclusion ends: {version.quarantine_reason}",
            "It may enter tournaments again, but does not return to those that it left.",
            "Its recorded failures are deleted; only new ones lead to a quarantine.",
        ),
        back=BOTS,
    )


def of_reassignment(request: ActionRequest) -> Changes:
    engine, name = request.web.engine, _named(request, "name", "bot")
    named = versions.list_versions(engine, name=name, retired=True)
    if not named:
        hint = nearest(name, {version.name for version in versions.list_versions(engine)})
        raise NotFound(f"unknown bot {name[:60]}{hint or '.'}", code="unknown-bot")
    before, after = named[-1].owner or "nobody", request.text("owner") or "nobody"
    entered = _entered(engine, {version.id for version in named})
    return Changes(
        f"Correct the owner of {name}?",
        (
            f"All its versions belong to {after}, no longer to {before}.",
            f"{after} may push, retire and challenge with it; {before} may not.",
            f"Bots of {after} may no longer share a larger table with it in these tournaments: "
            f"{entered}.",
            "Results, ratings and tournaments that are over stay as they are.",
        ),
        back=BOTS,
    )


def of_refusal(request: ActionRequest) -> Changes:
    submission = submissions.find_submission(request.web.engine, request.path["id"])
    if submission.id not in {each.id for each in submissions.awaiting_approval(request.web.engine)}:
        raise HTTPException(409, f"{submission.id} does not wait for approval.")
    return Changes(
        f"Refuse {submission.name} of {submission.owner}?",
        (
            "It becomes no version and enters no ladder.",
            "A refused submission cannot be approved later; its owner can push the bot again.",
            "The owner reads the reason.",
        ),
        back="/organiser/submissions",
    )


def of_reasoning(request: ActionRequest) -> Changes:
    state = request.text("state")
    if state not in _REASONING:
        raise InvalidQuery("the address does not name a state; choose it on the page before.")
    whose = request.text("bot") or "all your bots"
    return Changes(
        f"Reasoning of {whose}: {state}?",
        (_REASONING[state], "Results, ratings and records stay as they are."),
        back="/account",
    )


def of_renewal(request: ActionRequest) -> Changes:
    return _of_token(
        request,
        "Renew",
        "The present token and the sessions that it began end at once.",
        "The next page shows the new token, once; pass it to the owner.",
    )


def of_revocation(request: ActionRequest) -> Changes:
    return _of_token(
        request,
        "Revoke",
        "The token and the sessions that it began end at once.",
        "The owner cannot push, challenge, retire or sign in until you issue a new token.",
    )


def _of_token(request: ActionRequest, verb: str, *sentences: str) -> Changes:
    title = f"{verb} the token of {_owner(request)}?"
    return Changes(title, (*sentences, _bots(request)), back="/organiser/owners")


def _owner(request: ActionRequest) -> str:
    """Return the named owner, who has a token."""
    name = _named(request, "name", "owner")
    if name not in {owner.name for owner in owners.list_owners(request.web.engine)}:
        raise HTTPException(404, f'no owner with a token is called "{name}".')
    return name


def _bots(request: ActionRequest) -> str:
    listed = versions.list_versions(request.web.engine)
    owned = {version.name for version in listed if version.owner == request.text("name")}
    number = "1 bot of this owner stays" if len(owned) == 1 else f"{len(owned)} bots stay"
    return f"{number} as before, in the same tournaments."


def find_version(engine: Engine, label: str) -> Version:
    """Return a version; raises NotFound, which names the nearest one."""
    try:
        return versions.find_version(engine, label)
    except NotFound as error:
        names = {version.id for version in versions.list_versions(engine)}
        if not (hint := nearest(label, names)):
            raise
        raise NotFound(f"unknown version {label[:60]}{hint}", code=error.code) from None


def _entered(engine: Engine, ids: Set[str]) -> str:
    """Return the names of the tournaments that are not over and have one of these versions."""
    listed = tournaments.list_tournaments(engine, over=False)
    return ", ".join(each.plan.name for each in listed if ids & {*each.entrants}) or "none"


def _version(request: ActionRequest) -> str:
    return _named(request, "version", "version")


def _named(request: ActionRequest, name: str, what: str) -> str:
    """Return a value that the page before sends."""
    if value := request.text(name):
        return value
    raise InvalidQuery(f"the address does not name a {what}; choose it on the page before.")


def _entrant(request: ActionRequest) -> tuple[Tournament, str, tuple[Match, ...]]:
    """Return the tournament, the named entrant and its matches."""
    engine = request.web.engine
    tournament = tournaments.find_tournament(engine, request.path["id"])
    version = _version(request)
    if version not in tournament.entrants:
        raise HTTPException(404, f"{version} has not entered {tournament.id}.")
    return tournament, version, listing.matches(engine, tournament=tournament.id, version=version)


def _match(request: ActionRequest) -> tuple[Match, Tournament]:
    match = listing.find_match(request.web.engine, request.path["id"])
    return match, tournaments.find_tournament(request.web.engine, match.tournament)


def _voided(match: Match) -> tuple[str, str]:
    is_closed = match.state is MatchState.CLOSED
    result = "Its result no longer counts" if is_closed else "It gets no result"
    return (
        f"{result}, for any of its {len(match.entrants)} bots.",
        f"Its {match.committed} finished games and its record stay readable, marked as void.",
    )


def _ratings(tournament: Tournament) -> tuple[str, ...]:
    """Return what is computed again after a correction."""
    form = wording.form_name(tournament.plan.form)
    again = f"The standings of {tournament.plan.name} and the ladder {form} are computed again."
    if tournament.plan.format == "swiss":
        return again, "Later rounds stay as they were paired."
    if tournament.plan.format == "knockout":
        return again, "It is refused if a later round follows from the result."
    return (again,)


def _in_state(matches: Sequence[Match], *states: MatchState) -> tuple[Match, ...]:
    return tuple(match for match in matches if match.state in states)


def _finished(matches: Sequence[Match]) -> tuple[str, ...]:
    running = _in_state(matches, MatchState.RUNNING)
    return (f"{_counted(running)} finished, and count.",) if running else ()


def _counted(matches: Sequence[Match]) -> str:
    return "1 match is" if len(matches) == 1 else f"{len(matches)} matches are"


def _controls(tournament: Tournament) -> str:
    return f"/organiser/tournaments/{tournament.id}"
