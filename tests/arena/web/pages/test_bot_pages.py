"""The list of bots, and the page of a bot: history, matchups, matches and faults."""

import csv
import html
import io
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from arena.cli.workspace import Workspace
from arena.records.published_faults import public_fault
from arena.store.bots import owners, versions
from arena.web.app import create
from arena.web.data.web_state import ServerSettings, WebState
from tests.arena.cli.stored_tournament import store_tournament
from tests.arena.web.closed_matches import play, table
from tests.arena.web.crashed_records import crashed

EVIL = "<script>alert(1)</script>"
FOLDER = "/home/somebody/arena/versions/luck1"


def crash(text: str) -> str:
    """Change the record of a game so that seat 1 crashes at decision 3."""
    return crashed(
        text,
        sentence=f"game 0, decision 3: its process ended in {FOLDER}/bot.py {EVIL}",
        ended=f"could not be started: {FOLDER}/run.sh",
        output=f'File "{FOLDER}/bot.py", line 7\n{EVIL} secret plan',
        question={"decision": 3, "view": {"poke": {"hand": ["QS"]}}},
        exit_status=127,
        peak_memory=40 << 20,
    )


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """Return an arena in which eve's bot luck1 has crashed, and ada, bob and cy have no faults."""
    workspace = Workspace(tmp_path_factory.mktemp("arena") / "data")
    store = workspace.store
    manifest_fields = {"run": ["x"], "authors": [EVIL], "language": "c<b>"}
    versions.add_version(store, "luck1", "1", f"{1:064x}", FOLDER, manifest_fields, "eve")
    play(workspace, table("poke-2-must_beat=true"), boards=1, change=crash)
    store_tournament(workspace, ["ada", "bob", "cy"], {}, boards=2, cycles=3)
    versions.add_version(
        store, "ada", "2", "b" * 64, "/bots/ada2", {"run": ["x"], "address": "h:1"}
    )
    versions.retire(store, "ada@1")
    versions.add_version(store, "idle", "1", "c" * 64, "/bots/idle", {"run": ["x"]}, "eve")
    return workspace


@pytest.fixture(scope="module")
def client(workspace: Workspace) -> Iterator[TestClient]:
    web = WebState(workspace.store, ServerSettings(rate=0))
    with TestClient(create(web)) as client:
        client.portal.call(web.read_store)  # type: ignore[union-attr]
        yield client


@pytest.fixture(scope="module")
def token(workspace: Workspace) -> str:
    """Return the token of eve."""
    return owners.add_owner(workspace.store, "eve")


def test_all_bots_are_listed_with_their_standings(client: TestClient) -> None:
    bots = client.get("/bots.json").json()["bots"]
    assert {bot["bot"] for bot in bots} == {"ada", "bob", "cy", "idle", "luck0", "luck1"}
    ada = bots[0]
    assert ada["versions"] == ["1", "2"]
    assert ada["state"] == "active"
    assert ada["ladders"]["poke"]["version"] == "ada@1"
    assert (bots[-1]["bot"], bots[-1]["ladders"]) == ("idle", {})
    shares = [[at["place"] / at["of"] for at in bot["ladders"].values()] for bot in bots[:-1]]
    means = [sum(each) / len(each) for each in shares]
    assert means == sorted(means)
    assert "idle" in client.get("/bots").text
    ranked = client.get("/bots.json?form=poke").json()["bots"]
    places = [bot["ladders"]["poke"]["place"] for bot in ranked]
    assert places == sorted(places)


def test_the_page_of_an_unknown_name_links_to_the_nearest_one(client: TestClient) -> None:
    for path, near in (("/bots/idlle", "/bots/idle"), ("/ladders/pokke", "/ladders/poke")):
        page = client.get(path, headers={"Accept": "text/html"})
        assert page.status_code == 404
        assert f'href="{near}"' in page.text, path


def test_bots_can_be_searched_by_owner_and_are_paged(client: TestClient) -> None:
    def names(query: str) -> list[str]:
        return [bot["bot"] for bot in client.get(f"/bots.json?{query}").json()["bots"]]

    assert names("find=EVE") == ["luck1", "idle"]
    assert names("find=eve+idle") == ["idle"]
    assert names("find=nobody") == []
    assert names("limit=4&page=2") == names("")[4:]


def test_a_bot_page_lists_versions_with_their_state(client: TestClient) -> None:
    document = client.get("/bots/ada.json").json()
    assert [version["version"] for version in document["versions"]] == ["ada@1", "ada@2"]
    assert document["versions"][0]["retired"]
    assert document["versions"][1]["retired"] is None
    page = client.get("/bots/ada").text
    assert ">retired</span>" in page
    assert ">active</span>" in page


def test_a_bot_page_has_history_matchups_and_decision_times(client: TestClient) -> None:
    on_ladder = client.get("/bots/ada.json").json()["ladders"]["poke"]
    assert [each["opponent"] for each in on_ladder["best"] + on_ladder["worst"]] == [
        "cy@1",
        "bob@1",
    ]
    # Ten rounds of two tournaments are over; the chart has a point for each round since its first
    # match.
    rounds = [point["round"] for point in on_ladder["history"]["ada@1"]]
    assert rounds == list(range(rounds[0], 11))
    assert len(rounds) >= 6
    for point in on_ladder["history"]["ada@1"]:
        low, high = point["interval"]
        assert low < point["strength"] < high
    assert on_ladder["thinking"]["decisions"] == 2 * 3 * 4
    page = client.get("/bots/ada").text
    assert page.count('<polyline class="course"') == 1
    assert f"ada@1: {len(rounds)} points, from " in page
    assert 'class="chart times"' in page


def test_matches_of_a_bot_have_opponent_score_cause_and_time(client: TestClient) -> None:
    rows = list(csv.DictReader(io.StringIO(client.get("/bots/ada.csv").text)))
    assert len(rows) == 6
    assert {row["opponents"] for row in rows} == {"bob@1", "cy@1"}
    assert {row["score"] for row in rows} == {"1.0"}
    assert all(float(row["p95_ms"]) > 0 for row in rows)
    page = client.get("/bots/luck1").text
    assert "luck1: crash in 1 game<" in page
    assert client.get("/bots/ada.json?limit=4&page=2").json()["list"]["total"] == 6
    assert client.get("/bots/ada?form=whist").status_code == 400


def test_a_bot_that_has_not_played_has_a_page(client: TestClient) -> None:
    assert "This bot has not played yet." in client.get("/bots/idle").text
    assert client.get("/bots/idle.txt").status_code == 200


@pytest.mark.parametrize(
    "address", ["/bots/lukc1.json", "/bots/ada.json?opponent=lukc1", "/bots/lukc1/faults.json"]
)
def test_an_unknown_bot_is_answered_with_the_nearest_name(client: TestClient, address: str) -> None:
    answer = client.get(address)
    assert answer.status_code in (400, 404)
    assert re.findall(r'"(.*)"', answer.json()["error"]) == ["luck1"]


def test_user_text_is_escaped(client: TestClient) -> None:
    for address in ("/bots", "/bots/luck1", "/bots/luck1/faults"):
        page = client.get(address).text
        assert EVIL not in page
        assert "&lt;script&gt;" in page


def test_public_faults_have_a_reason_and_no_output(
    client: TestClient,
) -> None:
    document = client.get("/bots/luck1/faults.json").json()
    assert document["kinds"] == {"crash": 1}
    assert [fault["sentence"] for fault in document["faults"]] == [
        f"game 0, decision 3: its process ended in …/bot.py {EVIL}"
    ]
    for private_field in ("output", "question", "clock", "exit_status", "signal", "peak_memory"):
        assert private_field not in document["faults"][0]
    page = client.get("/bots/luck1/faults").text
    fault = document["faults"][0]
    assert f'href="/matches/{fault["match"]}/games/{fault["game"]}?decision=3"' in page
    assert "at decision 4" in page
    assert f"its process ended in …/bot.py {html.escape(EVIL)}" in page
    match = client.get(f"/matches/{fault['match']}").text
    assert f'/games/{fault["game"]}?decision=3">game 1, decision 4</a>' in match
    assert f"its process ended in …/bot.py {html.escape(EVIL)}" in match
    for text in (page, client.get("/bots/luck1/faults.txt").text, json.dumps(document)):
        assert "secret plan" not in text
        assert "peak" not in text
        assert "question" not in text.replace("Output and questions are shown", "").replace(
            "sends a question to a bot", ""
        )


def test_the_page_of_an_unknown_bot_links_to_the_nearest_name(client: TestClient) -> None:
    unknown = client.get("/bots/luc1", headers={"Accept": "text/html"})
    assert unknown.status_code == 404
    assert '<a href="/bots/luck1">' in unknown.text
    assert '<a href="/bots/luck1' not in client.get("/bots/zzzzzz").text


def test_faults_are_grouped_by_cause_and_version(client: TestClient) -> None:
    document = client.get("/bots/luck1/faults.json").json()
    assert sum(cause["times"] for cause in document["causes"]) == len(document["faults"])
    assert {cause["version"] for cause in document["causes"]} == {"luck1@1"}


def test_titles_name_a_bot_with_one_version_without_its_number(client: TestClient) -> None:
    match = client.get("/matches.json").json()["matches"][0]["match"]
    title = client.get(f"/matches/{match}").text.partition("<title>")[2].partition("</title>")[0]
    # Only one of them has a second version.
    assert title.startswith("ada@1 v bob:")


def test_faults_can_be_filtered_by_kind(client: TestClient) -> None:
    assert len(client.get("/bots/luck1/faults.json?kind=crash").json()["faults"]) == 1
    assert client.get("/bots/luck1/faults.json?kind=timeout").json()["faults"] == []
    wrong = client.get("/bots/luck1/faults.json?kind=bad")
    assert wrong.status_code == 400
    assert "init, timeout, illegal" in wrong.json()["error"]


def test_the_owner_sees_output_and_question(client: TestClient, token: str) -> None:
    bearer = {"Authorization": f"Bearer {token}"}
    page = client.get("/bots/luck1/faults", headers=bearer)
    assert page.status_code == 200
    assert "secret plan" in page.text
    assert "QS" in page.text
    assert EVIL not in page.text
    assert page.headers["cache-control"] == "private, no-store"
    assert "data-live" not in page.text
    assert "secret plan" not in client.get("/bots/luck1/faults").text
    fault = client.get("/bots/luck1/faults.json", headers=bearer).json()["faults"][0]
    assert fault["output"] == f'File "bot.py", line 7\n{EVIL} secret plan'
    assert fault["question"]["view"] == {"poke": {"hand": ["QS"]}}
    assert fault["clock"]["limit_ms"] == 300
    assert (fault["exit_status"], fault["signal"], fault["peak_memory"]) == (127, None, 40 << 20)
    assert "12.5 ms of 300 ms: 200 ms for a decision and 100 ms" in page.text
    assert "could not be started: …/run.sh; peak memory 40.0 MiB" in page.text


@pytest.mark.parametrize("wrong", ["x", "Bearer", "x" * 20_000])
def test_an_invalid_token_is_refused(client: TestClient, token: str, wrong: str) -> None:
    headers = {"Authorization": f"Bearer {wrong}"}
    answer = client.get("/bots/luck1/faults.json", headers=headers)
    assert answer.status_code == 403
    assert "secret plan" not in answer.text
    assert answer.json()["error"].endswith(".")


def test_the_token_of_another_owner_is_refused(
    client: TestClient, workspace: Workspace, token: str
) -> None:
    other = owners.add_owner(workspace.store, "mallory")
    headers = {"Authorization": f"Bearer {other}"}
    answer = client.get("/bots/luck1/faults.json", headers=headers)
    assert answer.status_code == 403
    assert answer.json() == {"error": "the token does not belong to the owner of this bot."}
    headers = {"Authorization": f"Bearer {token}"}
    assert client.get("/bots/ada/faults.json", headers=headers).status_code == 403


def test_a_token_in_an_address_is_ignored(client: TestClient, token: str) -> None:
    answer = client.get(f"/bots/luck1/faults?token={token}")
    assert "secret plan" not in answer.text
    assert token not in answer.text


def test_no_page_contains_a_local_path(
    client: TestClient, workspace: Workspace, token: str
) -> None:
    answers = [
        client.get(address)
        for page in ("/bots", "/bots/luck1", "/bots/luck1/faults")
        for address in (page, f"{page}.json", f"{page}.csv", f"{page}.txt")
    ]
    bearer = {"Authorization": f"Bearer {token}"}
    answers.append(client.get("/bots/luck1/faults", headers=bearer))
    answers.append(client.get("/bots/luck1/faults.json", headers=bearer))
    for answer in answers:
        assert answer.status_code == 200
        for folder in ("/home/somebody", "/bots/ada2", str(workspace.folder.root), "h:1"):
            assert folder not in answer.text


def test_the_match_page_shows_no_private_fields_of_a_fault(client: TestClient) -> None:
    match = client.get("/bots/luck1.json").json()["matches"][0]["match"]
    for address in (f"/matches/{match}", f"/matches/{match}.json"):
        answer = client.get(address)
        assert answer.status_code == 200
        assert "its process ended in …/bot.py" in answer.text
        assert "secret plan" not in answer.text
        assert "/home/somebody" not in answer.text


def test_the_replay_shows_no_private_fields_of_a_fault() -> None:
    result = {"type": "result", "game": 0, "verdicts": ["finished"] * 2}
    fault = json.loads(crash(json.dumps(result)).splitlines()[0])
    text = json.dumps(public_fault(fault), ensure_ascii=False)
    assert "its process ended in …/bot.py" in text
    assert "secret plan" not in text
    assert "/home/somebody" not in text


@pytest.mark.parametrize("path", ["/bots/luck1", "/ladders/poke", "/bots"])
def test_only_the_owner_form_accepts_post(client: TestClient, path: str) -> None:
    assert client.post(path, data={"token": "x"}).status_code == 405


def test_a_form_body_that_is_too_long_is_refused(client: TestClient, tmp_path: Path) -> None:
    answer = client.post("/bots/luck1/faults", content=b"token=" + b"x" * 100_000)
    assert answer.status_code == 413
