"""Schemathesis sends all documented requests, with and without a token."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from starlette.testclient import TestClient

from arena.cli.workspace import Workspace
from arena.store.access.organisers import add_organiser
from arena.store.bots.owners import add_owner
from arena.submissions.pending_uploads import PendingUploads
from arena.web.app import create
from arena.web.data.web_state import ServerSettings, WebState
from tests.arena.cli.stored_tournament import store_tournament
from tests.arena.stored_analysis import store_analysis
from tests.arena.web.closed_matches import play, table
from tests.arena.web.stored_submissions import add_submission
from tests.examples import examples

pytestmark = pytest.mark.long


@pytest.fixture(params=[None, add_owner, add_organiser], ids=["stranger", "owner", "organiser"])
def client(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[TestClient]:
    workspace = Workspace(tmp_path / "data")
    store_tournament(workspace, ["ada", "bob", "cy"], {}, boards=1)
    analysed = play(workspace, table("poke-2-must_beat=true")).match
    store_analysis(workspace.store, analysed)
    add_submission(workspace)
    pending_uploads = PendingUploads(workspace.folder.submissions)
    settings = ServerSettings(rate=0, pushes=100_000, pending_uploads=pending_uploads)
    # Wait until the submissions are processed.
    with (
        pending_uploads.attended(),
        TestClient(create(WebState(workspace.store, settings))) as client,
    ):
        if request.param is not None:
            client.headers["Authorization"] = f"Bearer {request.param(workspace.store, 'bob')}"
        yield client


def test_every_response_is_as_documented(client: TestClient) -> None:
    # Importing these takes a second.
    import schemathesis
    from schemathesis.core.result import Ok
    from schemathesis.specs.openapi import checks

    @schemathesis.serializer("application/gzip")
    def as_it_is(context: Any, value: bytes) -> bytes:
        return value

    schema = schemathesis.openapi.from_dict(client.get("/openapi.json").json())
    # A text parameter may have to name an existing object, which a schema cannot express.
    excluded: list[Any] = [checks.positive_data_acceptance]
    token = client.headers.get("Authorization")
    if token is not None:
        # The requests have a valid token, whatever headers are generated.
        excluded.append(checks.ignored_auth)
    cases = 0

    def check(case: Any) -> None:
        nonlocal cases
        arguments = case.as_transport_kwargs(base_url="http://testserver")
        headers = dict(arguments.get("headers") or {})
        body = arguments.get("data")
        if "json" in arguments:
            body = json.dumps(arguments["json"])
        if token is not None:
            headers["Authorization"] = token
        answer = client.request(
            arguments["method"],
            arguments["url"],
            content=body,
            params=arguments.get("params"),
            headers=headers,
        )
        case.validate_response(answer, excluded_checks=excluded)
        cases += 1

    for operation in schema.get_all_operations():
        assert isinstance(operation, Ok)
        settings(max_examples=examples(40, 5))(given(operation.ok().as_strategy())(check))()
    print(f"{cases} requests")
    assert cases > 40
