"""The four questions that the page of a bot answers, and its tables."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from arena.cli.workspace import Workspace
from arena.store.bots import versions
from arena.web.app import create
from arena.web.data.web_state import ServerSettings, WebState
from tests.arena.cli.stored_tournament import store_tournament
from tests.arena.records.bundle.simulated_arena import SimulatedArena

GAMES = ("poke", "saint_poker", "pokino")


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """Return an arena in which ada wins all matches in three games, and cy loses all."""
    workspace = Workspace(tmp_path_factory.mktemp("arena") / "data")
    for game in GAMES:
        store_tournament(workspace, ["ada", "bob", "cy"], {}, game=game, boards=2, cycles=3)
    return workspace


@pytest.fixture(scope="module")
def client(workspace: Workspace) -> Iterator[TestClient]:
    web = WebState(workspace.store, ServerSettings(rate=0))
    with TestClient(create(web)) as client:
        client.portal.call(web.read_store)  # type: ignore[union-attr]
        yield client


def text_of(html: str) -> str:
    return re.sub(r"\s+", " ", re.sub("<[^>]*>", " ", html)).strip()


def answers(page: str) -> dict[str, str]:
    """Return the answers of the page by question."""
    answered = re.findall(r"<dt>([^<]*\?)</dt><dd>(.*?)</dd>", page)
    return {question: text_of(answer) for question, answer in answered}


def test_a_bot_on_many_ladders_has_one_summary_and_the_details_of_one_ladder(
    client: TestClient,
) -> None:
    page = client.get("/bots/ada").text
    summary = page.partition('id="bot-summary"')[2].partition("</table>")[0]
    assert summary.count("<tr data-key=") == len(GAMES)
    assert page.count('<polyline class="course"') == 1
    assert page.count('id="opponents"') == 1
    for anchor in re.findall(r'href="#([a-z]+)"', page):
        assert f'id="{anchor}"' in page
    other = client.get("/bots/ada?form=saint_poker-2").text
    assert 'href="/ladders/saint_poker-2">Saint Poker, 2 players</a></h2>' in other
    assert other.partition('id="bot-summary"')[2].partition("</table>")[0].count("<tr data-") == 3


def test_a_bot_page_answers_four_questions(client: TestClient) -> None:
    answered = answers(client.get("/bots/ada?form=poke").text)
    assert list(answered) == [
        "How good?",
        "Against whom?",
        "Better or worse?",
        "Which mistakes?",
    ]
    assert answered["How good?"].startswith("ada has place 1 of 3")
    assert "(100 %)" in answered["Against whom?"]
    assert "no earlier version" in answered["Better or worse?"]
    assert answered["Which mistakes?"].startswith("It lost 0 of ")


def test_the_best_opponents_of_a_losing_bot_are_not_named(client: TestClient) -> None:
    ladders = client.get("/bots/cy.json").json()["ladders"]
    assert [each["best"] for each in ladders.values()] == [[], [], []]
    assert all(len(each["worst"]) == 2 for each in ladders.values())


def test_opponents_have_an_expected_score_and_an_interval(client: TestClient) -> None:
    page = client.get("/bots/bob?form=poke").text
    rows = page.partition('id="opponents"')[2].partition("</table>")[0]
    assert re.findall(r'<tr data-key="(\w+@1)"', rows) == ["ada@1", "cy@1"]
    assert rows.count('class="interval"') == 2
    assert rows.count("than expected") + rows.count("as expected") == 2


def test_matches_are_filtered_by_version_and_opponent(client: TestClient) -> None:
    def total(query: str) -> int:
        return int(client.get(f"/bots/ada.json?{query}").json()["list"]["total"])

    every = total("")
    assert total("version=1") == every
    assert total("opponent=bob") == total("opponent=bob@1") == every // 2
    assert total("opponent=bob&form=poke") == every // 2 // len(GAMES)
    for query in ("version=9", "opponent=nobody"):
        assert client.get(f"/bots/ada.json?{query}").status_code == 400


def test_a_version_is_compared_with_the_one_before_it(tmp_path: Path) -> None:
    simulated_arena = SimulatedArena(tmp_path)
    bots = simulated_arena.bots(2)
    versions.add_version(simulated_arena.engine, "bot0", "2", "f" * 64, "/bots/new", {})
    simulated_arena.play_out(
        simulated_arena.begin("round-robin", [*bots, "bot0@2"], settings={"cycles": 2})
    )
    with TestClient(create(WebState(simulated_arena.engine, ServerSettings(rate=0)))) as client:
        page = client.get("/bots/bot0").text
        newer = answers(client.get("/bots/bot0?version=2").text)["Better or worse?"]
        older = answers(client.get("/bots/bot0?version=1").text)["Better or worse?"]
        assert "compared with bot0@1; stronger with" in newer
        assert older.startswith("There is no earlier version")
        assert 'action="/ladders/poke/compare"' in page
    simulated_arena.engine.dispose()
