"""The Python client has a method for each documented operation, and real arenas answer it."""

import inspect
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from arena.api_client import ApiAnswer, ArenaClient, ArenaUnreachable
from arena.cli.workspace import Workspace
from arena.store.access import organisers
from arena.store.bots import versions
from arena.store.tournaments import tournaments
from arena.web.app import create
from arena.web.data.web_state import ServerSettings, WebState
from arena.web.serving.page_kinds import KINDS
from tests.arena.web.page_server import served


@pytest.fixture
def web(tmp_path: Path) -> Iterator[WebState]:
    workspace = Workspace(tmp_path / "data")
    yield WebState(workspace.store, ServerSettings(rate=0))
    workspace.store.dispose()


def parameters(operation: dict[str, Any]) -> set[str]:
    """Return the names of all values that an operation accepts, as arguments of a method."""
    bodies = operation.get("requestBody", {}).get("content", {})
    fields = {name for body in bodies.values() for name in body["schema"].get("properties", ())}
    upload = {"upload"} if "application/gzip" in bodies else set()
    of_game = [
        each for each in operation["parameters"] if "option of the game" in each["description"]
    ]
    names = {each["name"] for each in operation["parameters"] if each not in of_game}
    return names | ({"game_options"} if of_game else set()) | fields | upload


def test_every_json_operation_has_a_method(web: WebState) -> None:
    with TestClient(create(web)) as client:
        document = client.get("/openapi.json").json()
    expected = {}
    for path, methods in document["paths"].items():
        for verb, operation in methods.items():
            if KINDS["json"] not in next(iter(operation["responses"].values()))["content"]:
                continue
            name = operation["operationId"]
            is_page = verb == "get" and not name.startswith("show_")
            expected[f"get_{name}" if is_page else name] = parameters(operation), path
    methods = {
        name: method
        for name, method in inspect.getmembers(ArenaClient, inspect.isfunction)
        if not name.startswith("_") and name != "send"
    }
    assert methods.keys() == expected.keys()
    for name, (arguments, path) in expected.items():
        signature = inspect.signature(methods[name])
        assert {each.rstrip("_") for each in signature.parameters} - {"self"} == arguments, path
        assert path in (methods[name].__doc__ or "")


def test_values_go_into_the_path_the_query_or_the_body(web: WebState) -> None:
    with served(web) as url:
        arena = ArenaClient(url)
        assert arena.get_games_game("poke", seats=2, must_beat="true").is_success
        assert arena.get_search(q="ada bob&x=y").is_success
        assert arena.get_ladders_form("poke/..?x").status == 404
        assert arena.owner_add(name="ada").status == 401


def test_parameters_of_a_query_stay_in_the_query_of_a_post(web: WebState) -> None:
    sent = []

    class Recorder(ArenaClient):
        def send(self, method: str, path: str, **parts: Any) -> ApiAnswer:
            sent.append((method, path, parts))
            return ApiAnswer(200, {}, None)

    Recorder("http://127.0.0.1").push(name="ada", content="0" * 64, upload=b"x")
    ((method, path, parts),) = sent
    assert (method, path, parts["upload"]) == ("POST", "/submissions", b"x")
    assert (parts["query"]["name"], parts.get("values")) == ("ada", None)


def test_an_organiser_manages_a_tournament_with_the_client(web: WebState) -> None:
    token = organisers.add_organiser(web.engine, "grace")
    for number, bot in enumerate(("ada", "bob")):
        versions.add_version(web.engine, bot, "1", f"{number:064x}", f"/bots/{bot}", {"run": ["x"]})
    with served(web) as url:
        arena = ArenaClient(url, token)
        assert token not in repr(arena)
        made = arena.tournament_create(game="poke", bots=["ada@1", "bob@1"], paused=True)
        name = made.content["tournament"]
        assert (made.status, tournaments.find_tournament(web.engine, name).state) == (201, "paused")
        assert arena.tournament_start(name).content["state"] == "running"
        assert [each["subject"] for each in arena.show_organiser_audit(limit=1).content["audit"]]
        refused = arena.tournament_cancel(name, reason="")
        assert (refused.status, refused.is_success) == (422, False)
        assert refused.sentence
        assert arena.tournament_cancel("../bots", reason="x").status == 404
        assert ArenaClient(url).get_rules_game("poke").is_success
        organisers.revoke(web.engine, "grace")
        assert arena.show_organiser().status == 401


def test_an_arena_that_does_not_answer_is_unreachable() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}"
        with pytest.raises(ArenaUnreachable):
            ArenaClient(url).get_home()


def test_importing_the_client_imports_no_http_library() -> None:
    code = "import arena.api_client, sys; print({'http.client', 'ssl'} & sys.modules.keys())"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "set()"
