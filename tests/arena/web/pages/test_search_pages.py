"""The search, the list of all matches, and the filters of bots and tournaments."""

import csv
import io
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from arena.store.bots import versions
from arena.store.matches import listing
from arena.web.app import create
from arena.web.data.web_state import ServerSettings, WebState
from tests.arena.records.bundle.simulated_arena import SimulatedArena


@pytest.fixture(scope="module")
def simulated_arena(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SimulatedArena]:
    """Return an arena with three bots (ada owns one), a closed and a running tournament."""
    made = SimulatedArena(Path(tmp_path_factory.mktemp("arena")))
    bots = made.bots(2)
    versions.add_version(
        made.engine, "deep", "1", f"{7:064x}", "/deep", {"language": "Go"}, owner="ada"
    )
    made.begin("round-robin", [*bots, "deep@1"])
    made.wave()
    made.begin("round-robin", bots, game="pokex")
    yield made
    made.engine.dispose()


@pytest.fixture(scope="module")
def client(simulated_arena: SimulatedArena) -> Iterator[TestClient]:
    with TestClient(create(WebState(simulated_arena.engine, ServerSettings(rate=0)))) as client:
        yield client


def document(client: TestClient, path: str, **query: str) -> Any:
    answer = client.get(f"{path}.json", params=query)
    assert answer.status_code == 200
    return answer.json()


def test_forms_are_offered_in_words_and_rare_filters_are_folded(client: TestClient) -> None:
    page = client.get("/matches", headers={"Accept": "text/html"}).text
    assert re.findall(
        r'<option value="([^"]*)"[^>]*>([^<]*)', page.partition('name="form"')[2]
    ) == [
        ("", "all"),
        ("poke", "Poke"),
    ]
    assert '<details class="more">' in page
    folded = client.get("/matches", params={"tag": "x", "form": "pouku-4-teams"}).text
    assert '<details class="more" open>' in folded
    assert '<option value="pouku-4-teams" selected>Pouku, 4 players, teams' in folded


def test_matches_can_be_filtered_and_read_page_by_page(client: TestClient) -> None:
    every = document(client, "/matches")["matches"]
    assert len(every) == 3
    assert [match["closed"] for match in every] == sorted(
        (match["closed"] for match in every), reverse=True
    )
    of_deep = document(client, "/matches", bot="deep")["matches"]
    assert of_deep == [match for match in every if "deep@1" in match["entrants"]]
    assert document(client, "/matches", owner="ada")["matches"] == of_deep
    assert len(document(client, "/matches", bot="deep", opponent="bot0")["matches"]) == 1
    assert document(client, "/matches", game="pokex")["matches"] == []
    assert document(client, "/matches", until="2020-01-01")["matches"] == []
    assert document(client, "/matches", since="2020-01-01")["matches"] == every
    walked = []
    address = "/matches?limit=1"
    while address:
        answer = client.get(address, headers={"Accept": "application/json"})
        walked += answer.json()["matches"]
        following = answer.json()["next"]
        assert (following is None) == ("link" not in answer.headers)
        address = following and f"/matches{following}"
    assert walked == every
    rows = list(csv.DictReader(io.StringIO(client.get("/matches.csv").text)))
    assert [row["match"] for row in rows] == [match["match"] for match in every]


@pytest.mark.parametrize(
    "query", ["since=yesterday", "until=2026-02-30", "after=1", "limit=0", "after=1:x"]
)
def test_invalid_filters_of_matches_are_refused(client: TestClient, query: str) -> None:
    assert client.get(f"/matches?{query}").status_code == 400


def test_the_page_of_matches_keeps_the_filters_in_its_links(client: TestClient) -> None:
    page = client.get("/matches?bot=deep&limit=1").text
    assert 'value="deep"' in page
    assert 'href="?bot=deep&amp;limit=1&amp;after=' in page


def test_the_search_finds_bots_owners_tournaments_and_matches(
    client: TestClient, simulated_arena: SimulatedArena
) -> None:
    results = document(client, "/search", q="ADA")
    assert [bot["bot"] for bot in results["bots"]] == ["deep"]
    assert results["owners"] == [{"owner": "ada", "bots": 1}]
    results = document(client, "/search", q="bot0 v deep")
    assert {*results["matches"][0]["entrants"]} == {"bot0@1", "deep@1"}
    assert len(results["matches"]) == 1
    results = document(client, "/search", q="cup pokex")
    assert [each["form"] for each in results["tournaments"]] == ["pokex-2"]
    opened = listing.matches(
        simulated_arena.engine, tournament=results["tournaments"][0]["tournament"]
    )[0].id
    assert document(client, "/search", q=opened)["open_matches"] == [opened]
    closed = document(client, "/matches")["matches"][0]
    assert document(client, "/search", q=closed["match"])["matches"] == [closed]
    nothing = document(client, "/search", q="no such name")
    assert not any(nothing[kind] for kind in ("bots", "owners", "tournaments", "matches"))
    near = client.get("/search", params={"q": "depe"}).text
    assert 'href="/search?q=deep"' in near
    for words in ("", "no such name", "bot0", "bot0 deep", opened):
        assert client.get("/search", params={"q": words}).status_code == 200


def test_bots_can_be_filtered(client: TestClient) -> None:
    def names(**query: str) -> list[str]:
        return [bot["bot"] for bot in document(client, "/bots", **query)["bots"]]

    bots = document(client, "/bots")["bots"]
    shares = [best["place"] / best["of"] for bot in bots for best in bot["ladders"].values()]
    assert (sorted(names()), shares) == (["bot0", "bot1", "deep"], sorted(shares))
    assert names(owner="ada") == ["deep"]
    assert {*names(form="poke", state="active", find="bot")} == {"bot0", "bot1"}
    assert names(form="pouku-4") == names(state="retired") == []
    assert client.get("/bots?state=odd").status_code == 400


def test_tournaments_can_be_filtered(client: TestClient) -> None:
    def forms(**query: str) -> list[str]:
        return [each["form"] for each in document(client, "/tournaments", **query)["tournaments"]]

    assert forms() == ["pokex-2", "poke"]
    assert forms(game="poke") == forms(bot="deep") == forms(state="closed") == ["poke"]
    assert forms(find="CUP pokex") == ["pokex-2"]
    assert forms(find="nothing") == []
    assert client.get("/tournaments?state=odd").status_code == 400
    assert client.get("/tournaments?find=nothing").status_code == 200


def test_every_page_has_a_search_field(client: TestClient) -> None:
    assert 'action="/search"' in client.get("/").text
