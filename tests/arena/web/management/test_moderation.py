"""An organiser voids matches, disqualifies and bans versions, and corrects owners."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.exceptions import HTTPException
from starlette.testclient import TestClient

from arena.cli.ladders import rebuilt_ladder
from arena.cli.workspace import Workspace
from arena.errors import Conflict, NotFound
from arena.formats.contract import FormatOver
from arena.ladders import ladder_key, rater
from arena.store import consistency
from arena.store.access import audit_log, organisers
from arena.store.access.audit_log import Actor
from arena.store.bots import owners, quarantine, submissions, versions
from arena.store.matches import listing
from arena.store.schema import MatchState, SubmissionStage, TournamentState
from arena.store.tournaments import tournaments
from arena.tournaments import tournament_outcome
from arena.tournaments.scheduler import Scheduler
from arena.web.app import create
from arena.web.data.web_state import ServerSettings, WebState
from arena.web.management import organiser_actions
from arena.web.management.action import Action, ActionRequest
from arena.web.management.actions import ACTIONS
from tests.arena.cli.stored_tournament import play_match, store_tournament
from tests.arena.web.stored_submissions import add_submission


@pytest.fixture
def web(tmp_path: Path) -> Iterator[WebState]:
    workspace = Workspace(tmp_path / "data")
    store_tournament(workspace, ["ada", "bob", "cy"], {})
    yield WebState(workspace.store, ServerSettings(rate=0))
    workspace.store.dispose()


@pytest.fixture
def client(web: WebState) -> Iterator[TestClient]:
    token = organisers.add_organiser(web.engine, "grace")
    with TestClient(create(web), follow_redirects=False) as client:
        client.headers["Authorization"] = f"Bearer {token}"
        yield client


def check_ratings(web: WebState, matches: int) -> None:
    """Check that updated ratings are equal to ratings computed from the records."""
    (scope,) = ladder_key.of_forms(web.engine)
    assert rater.current_ladder(web.engine, scope).table.matches == matches
    rebuilt = rebuilt_ladder.verify(web.engine, scope)
    assert (rebuilt.differences, rebuilt.matches) == ((), matches)
    assert list(consistency.problems(web.engine, lambda *_: None)) == []


def test_ratings_are_computed_again_without_a_void_match(client: TestClient, web: WebState) -> None:
    check_ratings(web, 3)
    first, *_ = listing.matches(web.engine, states=(MatchState.CLOSED,))
    assert client.post(f"/organiser/matches/{first.id}/void", json={}).status_code == 422
    voided = client.post(f"/organiser/matches/{first.id}/void", json={"reason": "a power cut"})
    assert voided.status_code == 200
    check_ratings(web, 2)
    (entry,) = audit_log.list_entries(web.engine, subject=first.id)
    assert (entry.action, entry.reason, entry.actor) == ("match.void", "a power cut", "grace")
    again = client.post(f"/organiser/matches/{first.id}/void", json={"reason": "twice"})
    assert again.status_code == 409
    page = client.get(f"/organiser/matches/{first.id}.json").json()
    assert page["state"] == "void"
    assert client.get("/ladders/poke.json").status_code == 200
    assert client.post("/organiser/matches/m-0/void", json={"reason": "x"}).status_code == 404


@pytest.mark.long
def test_a_replayed_match_is_played_again_with_another_seed(
    client: TestClient, web: WebState
) -> None:
    settings = {"game": "poke", "bots": ["ada@1", "bob@1", "cy@1"], "boards": 1}
    tournament = client.post("/organiser/tournaments", json=settings).json()["tournament"]
    first, second, third = listing.matches(web.engine, tournament=tournament)
    path, reason = f"/organiser/matches/{first.id}/replay", {"reason": "a power cut"}
    assert client.post(path, json=reason).status_code == 409
    play_match(web.engine, first.id)
    check_ratings(web, 4)
    assert client.post(path, json={}).status_code == 422
    answer = client.post(path, json=reason)
    assert answer.status_code == 201
    check_ratings(web, 3)
    again = listing.find_match(web.engine, answer.json()["replay"])
    assert listing.find_match(web.engine, first.id).state is MatchState.VOID
    assert (again.state, again.entrants, again.games) == ("PENDING", first.entrants, first.games)
    assert (again.place, again.replay) == (first.place, 1)
    assert again.commitment != first.commitment
    (entry,) = audit_log.list_entries(web.engine, subject=first.id)
    assert (entry.action, entry.reason) == ("match.replay", "a power cut")
    assert entry.details["replay"] == again.id
    assert client.post(path, json=reason).status_code == 409
    for shown in (first, again):
        assert client.get(f"/matches/{shown.id}", headers={"Accept": "text/html"}).is_success
    for match in (again, second, third):
        play_match(web.engine, match.id)
    Scheduler(web.engine).advance()
    assert tournaments.find_tournament(web.engine, tournament).state is TournamentState.CLOSED
    check_ratings(web, 6)
    over = client.post(f"/organiser/matches/{second.id}/replay", json=reason)
    assert over.status_code == 409


def test_a_forfeited_match_is_lost_in_its_tournament_and_not_rated(
    client: TestClient, web: WebState
) -> None:
    settings = {"game": "poke", "bots": ["ada@1", "bob@1"], "boards": 1}
    tournament = client.post("/organiser/tournaments", json=settings).json()["tournament"]
    (match,) = listing.matches(web.engine, tournament=tournament)
    path, reason = f"/organiser/matches/{match.id}/forfeit", {"reason": "it is offline"}
    assert client.post(path, json=reason).status_code == 422
    assert client.post(path, json={**reason, "version": "cy@1"}).status_code == 409
    answer = client.post(path, json={**reason, "version": "ada@1"})
    assert answer.json()["forfeited_by"] == "ada@1"
    assert client.get(f"/matches/{match.id}.json").json()["forfeited_by"] == "ada@1"
    check_ratings(web, 3)
    (entry,) = audit_log.list_entries(web.engine, subject=match.id)
    assert (entry.action, entry.details["version"]) == ("match.forfeit", "ada@1")
    Scheduler(web.engine).advance()
    step = tournament_outcome.next_step(
        web.engine, tournaments.find_tournament(web.engine, tournament)
    )
    assert isinstance(step, FormatOver)
    assert step.ranking == (("bob@1",), ("ada@1",))


def test_a_disqualified_version_loses_its_matches_in_the_tournament(
    client: TestClient, web: WebState
) -> None:
    check_ratings(web, 3)
    (tournament,) = tournaments.list_tournaments(web.engine)
    values = {"version": "bob@1", "reason": "it copied another bot"}
    path = f"/organiser/tournaments/{tournament.id}/disqualify"
    answer = client.post(path, json=values)
    assert len(answer.json()["voided"]) == 2
    check_ratings(web, 1)
    entries = {
        entry.name: entry
        for entry in tournaments.find_tournament(web.engine, tournament.id).entries
    }
    assert entries["bob@1"].withdrawn is not None
    assert client.post(path, json={**values, "version": "eve@1"}).status_code == 409


def test_a_banned_version_enters_no_tournament_until_it_is_released(
    client: TestClient, web: WebState
) -> None:
    values = {"version": "bob@1", "reason": "it attacks the sandbox"}
    assert client.post("/organiser/bots/ban", json=values).status_code == 200
    assert client.post("/organiser/bots/ban", json=values).status_code == 409
    settings = {"game": "poke", "bots": ["ada@1", "bob@1"]}
    assert client.post("/organiser/tournaments", json=settings).status_code == 409
    assert client.get("/organiser/bots.json").json()["excluded"][0]["version"] == "bob@1"
    assert client.post("/organiser/bots/release", json=values).status_code == 200
    assert client.post("/organiser/tournaments", json=settings).status_code == 201


def test_submissions_are_approved_and_refused_with_a_reason(
    client: TestClient, web: WebState, tmp_path: Path
) -> None:
    workspace = Workspace(tmp_path / "data")
    sent = [add_submission(workspace, name=name, content=name[-1]) for name in ("bot1", "bot2")]
    path = f"/organiser/submissions/{sent[0].id}/approve"
    reason = {"reason": "it plays well"}
    assert client.post(path, json=reason).status_code == 409
    for each in sent:
        submissions.step(web.engine, each.id, SubmissionStage.APPROVING, awaits_approval=True)
    waiting = client.get("/organiser/submissions.json").json()["submissions"]
    assert [each["submission"] for each in waiting] == [each.id for each in sent]
    assert client.post(path).status_code == 422
    assert organiser_actions.REFUSE.changes is not None
    request = ActionRequest(web, Actor("grace"), {"id": sent[1].id}, {})
    assert organiser_actions.REFUSE.changes(request).sentences
    assert client.post(path, json=reason).json()["approval"] == "approved"
    refusal = f"/organiser/submissions/{sent[1].id}/refuse"
    assert client.post(refusal, json={}).status_code == 422
    refused = client.post(refusal, json={"reason": "it is a copy"})
    assert refused.json()["approval"] == "refused"
    assert client.get("/organiser/submissions.json").json()["submissions"] == []
    (entry,) = audit_log.list_entries(web.engine, subject=sent[1].id)
    assert (entry.action, entry.reason) == ("submission.refuse", "it is a copy")
    assert client.post("/organiser/submissions/s-0/approve", json=reason).status_code == 404
    workspace.store.dispose()


def test_the_owner_of_a_bot_is_corrected(client: TestClient, web: WebState) -> None:
    versions.set_owner(web.engine, versions.find_version(web.engine, "ada@1"), "mallory")
    with pytest.raises(Conflict):
        versions.set_owner(web.engine, versions.find_version(web.engine, "ada@1"), "ada")
    values = {"name": "ada", "owner": "ada", "reason": "registered under a wrong name"}
    assert client.post("/organiser/bots/owner", json=values).status_code == 200
    assert versions.find_version(web.engine, "ada@1").owner == "ada"
    assert client.post("/organiser/bots/owner", json={**values, "name": "x"}).status_code == 404


@pytest.mark.parametrize(
    ("action", "known", "unknown"),
    [
        (organiser_actions.BAN, {"version": "bob@1"}, {"version": "eve@1"}),
        (organiser_actions.RENEW, {"name": "ada"}, {"name": "eve"}),
        (organiser_actions.REVOKE, {"name": "ada"}, {"name": "eve"}),
        (organiser_actions.RELEASE, {"version": "cy@1"}, {"version": "bob@1"}),
        (organiser_actions.REASSIGN, {"name": "bob", "owner": "ada"}, {"name": "bo"}),
    ],
    ids=lambda value: value.name if isinstance(value, Action) else "",
)
def test_corrections_show_what_they_change_first(
    web: WebState, action: Action, known: dict[str, str], unknown: dict[str, str]
) -> None:
    owners.add_owner(web.engine, "ada")
    quarantine.ban(web.engine, "cy@1", "it attacks the sandbox")
    assert action.changes is not None
    assert action.form_path == action.path
    changes = action.changes(ActionRequest(web, Actor("grace"), {}, known))
    assert changes.sentences
    with pytest.raises((NotFound, HTTPException)):
        action.changes(ActionRequest(web, Actor("grace"), {}, unknown))


def test_only_reversible_actions_have_no_page_of_confirmation() -> None:
    unconfirmed = {action.name for action in ACTIONS if action.changes is None}
    assert unconfirmed == {
        *("tournament.create", "tournament.preview", "tournament.start", "tournament.pause"),
        *("tournament.add", "owner.add", "submission.approve", "account.challenge"),
    }


def test_an_unknown_name_is_refused_beside_its_field(web: WebState, client: TestClient) -> None:
    del client.headers["Authorization"]
    token = organisers.add_organiser(web.engine, "hopper")
    client.post("/sign-in", data={"token": token}, headers={"Origin": "http://testserver"})
    for path, field in (
        ("ban?version=bbo@1", "version-ban-version"),
        ("owner?name=bo", "bot-owner-name"),
    ):
        page = client.get(f"/organiser/bots/{path}", headers={"Accept": "text/html"})
        assert page.status_code == 404
        (sentence,) = re.findall(rf'id="{field}-wrong">([^<]*)', page.text)
        assert "bob" in sentence
