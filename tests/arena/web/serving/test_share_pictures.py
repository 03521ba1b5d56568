"""Images for link previews, and the Open Graph data that refer to them."""

import re
import struct
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from arena.store.matches import listing
from arena.web.app import create
from arena.web.data.web_state import ServerSettings, WebState
from arena.web.serving.share_pictures import SIZE
from tests.arena.records.bundle.simulated_arena import SimulatedArena

SITE = "https://arena.example.org"


@pytest.fixture(scope="module")
def simulated_arena(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SimulatedArena]:
    """Return an arena with a closed tournament of one match and a running one."""
    made = SimulatedArena(Path(tmp_path_factory.mktemp("arena")))
    bots = made.bots(2)
    made.begin("round-robin", bots)
    made.wave()
    made.begin("round-robin", bots, game="pokex")
    yield made
    made.engine.dispose()


@pytest.fixture(scope="module")
def client(simulated_arena: SimulatedArena) -> Iterator[TestClient]:
    with TestClient(
        create(WebState(simulated_arena.engine, ServerSettings(rate=0, site=SITE)))
    ) as client:
        yield client


def test_pages_name_a_picture_of_the_recommended_size(
    client: TestClient, simulated_arena: SimulatedArena
) -> None:
    closed, opened = listing.matches(simulated_arena.engine)
    for page in (
        f"/matches/{closed.id}",
        f"/matches/{closed.id}/games/0?step=3",
        f"/matches/{opened.id}",
        f"/tournaments/{closed.tournament}",
        "/ladders/poke",
    ):
        text = client.get(page).text
        meta = dict(re.findall(r'<meta (?:property|name)="([^"]+)" content="([^"]*)">', text))
        assert meta["og:url"] == SITE + page
        assert meta["twitter:card"] == "summary_large_image"
        assert meta["og:image"].startswith(f"{SITE}/")
        answer = client.get(meta["og:image"].removeprefix(SITE))
        assert answer.headers["content-type"] == "image/png"
        assert answer.headers["cache-control"].startswith("public, max-age=")
        assert answer.content[:8] == b"\x89PNG\r\n\x1a\n"
        assert struct.unpack(">II", answer.content[16:24]) == SIZE
        assert len(answer.content) < 300_000
        again = client.get(
            meta["og:image"].removeprefix(SITE), headers={"If-None-Match": answer.headers["etag"]}
        )
        assert again.status_code == 304


def test_missing_pictures_are_not_found(
    client: TestClient, simulated_arena: SimulatedArena
) -> None:
    closed, opened = listing.matches(simulated_arena.engine)
    for path, status in (
        ("/matches/m-nothing.png", 404),
        (f"/matches/{closed.id}/games/99.png", 404),
        (f"/matches/{closed.id}/games/x.png", 400),
        (f"/matches/{closed.id}/games/0.png?step=-1", 400),
        (f"/matches/{opened.id}/games/0.png", 404),
        ("/ladders/whist.png", 404),
        ("/tournaments/t-none.png", 404),
    ):
        assert client.get(path).status_code == status, path


def test_a_server_without_a_public_address_names_no_picture(
    simulated_arena: SimulatedArena,
) -> None:
    with TestClient(create(WebState(simulated_arena.engine, ServerSettings(rate=0)))) as client:
        text = client.get("/ladders/poke").text
    assert "og:image" not in text
    assert "og:url" not in text
