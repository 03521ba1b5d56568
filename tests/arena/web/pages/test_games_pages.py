"""The games: pages to learn and to play them, the glossary, and the earlier addresses."""

import gzip
import html
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from arena.presentation import glossary
from arena.web.app import create
from arena.web.data.web_state import ServerSettings, WebState
from referee.games import game_packages
from referee.games.game_packages import BUILT_IN
from referee.games.registry import GAMES
from referee.presentation.lesson import LESSONS
from referee.presentation.registry import presentation_of
from tests.arena.records.bundle.simulated_arena import SimulatedArena
from tests.game_package import install_game, installed_packages

packages = pytest.fixture(installed_packages)


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    folder = tmp_path_factory.mktemp("arena")
    simulated_arena = SimulatedArena(folder)
    settings = ServerSettings(rate=0, play=True, data=folder)
    with TestClient(create(WebState(simulated_arena.engine, settings))) as client:
        yield client
    simulated_arena.engine.dispose()


@pytest.mark.parametrize("game", BUILT_IN)
def test_the_page_of_a_game_teaches_it_without_a_script(client: TestClient, game: str) -> None:
    page = client.get(f"/games/{game}").text
    assert len(re.findall(r'<details class="lesson" name="lessons"', page)) == LESSONS
    assert page.count('<details class="lesson" name="lessons" open>') == 1
    assert len(re.findall(r'<details name="lesson-\d" class="right">', page)) == LESSONS
    assert presentation_of(game).summary
    assert html.escape(presentation_of(game).aim) in page
    for number in re.findall(rf'href="/rules/{game}#([A-Z]-[\d.]+)"', page):
        assert f'<li id="{number}">' in client.get(f"/rules/{game}").text
    assert len(gzip.compress(page.encode())) < 16_000
    assert "style=" not in page
    ids = Counter(re.findall(r' id="([^"]*)"', page))
    assert max(ids.values()) == 1
    lessons = client.get(f"/games/{game}.json").json()["lessons"]
    assert [sum(a["right"] for a in lesson["answers"]) for lesson in lessons] == [1] * LESSONS


def test_all_games_have_a_picture_and_one_click_begins_a_match(client: TestClient) -> None:
    page = client.get("/games").text
    assert page.count('<svg class="picture"') == len(GAMES)
    for game in GAMES:
        assert f'<form method="post" action="/play/{game}">' in page
    assert client.get("/games.json").json()["available"] is True


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("/rules", "/games"),
        ("/play", "/games"),
        ("/play/poke?must_beat=false", "/games/poke?must_beat=false"),
        ("/rules.json", "/games.json"),
        ("/play/pokex.json", "/games/pokex.json"),
    ],
)
def test_earlier_addresses_lead_to_the_games(client: TestClient, old: str, new: str) -> None:
    answer = client.get(old, follow_redirects=False)
    assert (answer.status_code, answer.headers["location"]) == (301, new)
    assert client.get(old).status_code == 200


def test_the_glossary_explains_each_word_once(client: TestClient) -> None:
    page = client.get("/glossary").text
    terms = [*glossary.arena_terms(), *(t for game in GAMES for t in glossary.game_terms(game))]
    for term in terms:
        assert term.meaning.endswith(".")
        assert page.count(f'id="{term.anchor}"') == 1


def test_a_game_of_a_package_has_lessons_from_an_example_game(
    client: TestClient, packages: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install_game(packages, "racing", {"race": ""})
    monkeypatch.setenv(game_packages.SETTING, "racing")
    game_packages._allowed_games.cache_clear()
    page = client.get("/games/race")
    assert page.status_code == 200
    assert 'name="lesson-1"' in page.text
    (lesson,) = client.get("/games/race.json").json()["lessons"]
    assert len(lesson["answers"]) == 2
    assert all(answer["right"] is None for answer in lesson["answers"])
