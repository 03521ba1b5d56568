"""Every correction on the pages and in the API requires a reason that is not empty."""

import re
from collections.abc import Iterator

import pytest
from starlette.testclient import TestClient

from arena.cli.workspace import Workspace
from arena.errors import InvalidSettings
from arena.store.access import audit_log, organisers
from arena.store.access.audit_log import COMMAND_LINE, NEED_REASON, AuditEntry
from arena.web.app import create
from arena.web.data.web_state import ServerSettings, WebState
from arena.web.management.action import Action
from arena.web.management.actions import ACTIONS
from tests.examples import quick_cases

COMMANDS_ONLY = {"organiser.renew", "organiser.revoke", "owner.reasoning"}
ROUTINE = {
    *("tournament.create", "tournament.start", "tournament.pause", "tournament.add", "owner.add"),
    *("account.retire", "account.challenge", "account.reasoning"),
}
"""Actions that create something, control the schedule, or concern the sender's own bots."""
CORRECTIONS = [action for action in ACTIONS if action.name in NEED_REASON]
EMPTY = ["", " \t\n", "\u00a0\u200b"]


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WebState]:
    workspace = Workspace(tmp_path_factory.mktemp("arena") / "data")
    yield WebState(workspace.store, ServerSettings(rate=0))
    workspace.store.dispose()


@pytest.fixture(scope="module")
def token(web: WebState) -> str:
    return organisers.add_organiser(web.engine, "grace")


@pytest.fixture
def client(web: WebState) -> Iterator[TestClient]:
    with TestClient(create(web), follow_redirects=False) as client:
        yield client


def values_of(action: Action) -> dict[str, str]:
    """Return a value for each required input but the reason."""
    return {each.name: "x@1" for each in action.fields if each.required and each.name != "reason"}


def test_every_action_is_a_correction_or_routine() -> None:
    named = {action.name for action in ACTIONS} - {"tournament.preview"}
    assert named - NEED_REASON == ROUTINE
    assert NEED_REASON - named == COMMANDS_ONLY
    for action in ACTIONS:
        required = {each.name for each in action.fields if each.required}
        assert ("reason" in required) == (action.name in NEED_REASON), action.name


@pytest.mark.parametrize("action", quick_cases(CORRECTIONS, 4), ids=lambda action: action.name)
def test_a_correction_without_a_reason_is_refused(
    client: TestClient, web: WebState, token: str, action: Action
) -> None:
    path, values = action.path.replace("{id}", "m-1"), values_of(action)
    headers = {"Authorization": f"Bearer {token}"}
    requests = [values, *({**values, "reason": empty} for empty in EMPTY)]
    for sent in requests:
        answer = client.post(path, json=sent, headers=headers)
        assert answer.status_code == 422
        assert "reason" in answer.json()["error"]
    client.post("/sign-in", data={"token": token})
    hidden = re.search(r'name="form_token" value="(\w+)"', client.get("/organiser").text)
    assert hidden is not None
    before = audit_log.count(web.engine)
    for sent in requests:
        form = {**sent, "form_token": hidden.group(1)}
        assert client.post(path, data=form).status_code == 422
    assert audit_log.count(web.engine) == before
    assert {entry.action for entry in audit_log.list_entries(web.engine)} == {"session.sign-in"}


@pytest.mark.parametrize("action", sorted(NEED_REASON))
def test_no_entry_of_a_correction_lacks_its_reason(action: str) -> None:
    for empty in EMPTY:
        with pytest.raises(InvalidSettings):
            AuditEntry(COMMAND_LINE, action, "x", empty)
