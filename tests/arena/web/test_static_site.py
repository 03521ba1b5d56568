"""A tournament as static files: every link leads to one of them, and no server is necessary."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from arena.errors import NotFound, StoreError
from arena.store.matches import listing, results
from arena.store.tournaments.tournaments import Tournament
from arena.web import static_site
from arena.web.static_site import SiteLinks
from tests.arena.records.bundle.simulated_arena import SimulatedArena
from tests.errors import has_code


@pytest.fixture
def simulated_arena(tmp_path: Path) -> Iterator[SimulatedArena]:
    folder = tmp_path / "data"
    folder.mkdir()
    made = SimulatedArena(folder)
    yield made
    made.engine.dispose()


@pytest.fixture
def tournament(simulated_arena: SimulatedArena) -> Tournament:
    return simulated_arena.play_out(simulated_arena.begin("round-robin", simulated_arena.bots(3)))


@dataclass(frozen=True)
class WrittenSite:
    """A site on disk, and the arena of its tournament."""

    folder: Path
    files: int
    arena: SimulatedArena
    tournament: Tournament


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WrittenSite]:
    arena = SimulatedArena(tmp_path_factory.mktemp("data"))
    tournament = arena.play_out(arena.begin("round-robin", arena.bots(3)))
    folder = arena.folder / "site"
    files = static_site.write(arena.engine, tournament.id, folder)
    yield WrittenSite(folder, files, arena, tournament)
    arena.engine.dispose()


def links_of(page: Path) -> Iterator[str]:
    for link in re.findall(r'(?:href|src)="([^"]*)"', page.read_text()):
        yield link.partition("#")[0].partition("?")[0]


def test_every_link_resolves_to_a_file_of_the_site(site: WrittenSite) -> None:
    assert site.files == sum(path.is_file() for path in site.folder.rglob("*"))
    pages = list(site.folder.rglob("*.html"))
    led: set[Path] = set()
    for page in pages:
        for link in links_of(page):
            assert not link.startswith("/"), page
            if link and not link.startswith("https://"):
                target = (page.parent / link).resolve()
                assert target.is_file(), f"{page.name}: {link}"
                led.add(target)
    # Every page can be reached from the first one.
    assert {page.resolve() for page in pages} <= led


def test_the_site_contains_all_matches_replays_and_records(site: WrittenSite) -> None:
    engine = site.arena.engine
    for match in listing.matches(engine, tournament=site.tournament.id):
        match_folder = site.folder / "matches" / match.id
        assert match_folder.with_suffix(".jsonl").read_text() == results.record(engine, match.id)
        assert {path.name for path in (match_folder / "games").iterdir()} == {"0.html", "1.html"}
        page = match_folder.with_suffix(".html").read_text()
        assert "✓" in page
        assert "being checked" not in page
        document = json.loads(match_folder.with_suffix(".json").read_text())
        assert document["verified"]["problems"] == []
    assert {path.stem for path in (site.folder / "bots").iterdir()} == {"bot0", "bot1", "bot2"}


def test_the_site_needs_no_server_and_contains_no_local_path(site: WrittenSite) -> None:
    for page in site.folder.rglob("*.html"):
        text = page.read_text()
        assert "data-live" not in text
        assert 'class="find"' not in text
        assert str(site.arena.folder) not in text
        assert "As it stood" in text
    assert not (site.folder / "static" / "live.js").exists()


def test_an_open_match_has_no_record_or_replay_in_the_site(
    simulated_arena: SimulatedArena, tmp_path: Path
) -> None:
    tournament = simulated_arena.begin("round-robin", simulated_arena.bots(2), boards=2)
    (match,) = listing.matches(simulated_arena.engine, tournament=tournament.id)
    simulated_arena.play(match.id, most=3)
    out = tmp_path / "site"
    static_site.write(simulated_arena.engine, tournament.id, out)
    assert not list(out.rglob("*.jsonl"))
    assert not (out / "matches" / match.id).exists()
    assert "3 of 4 games finished" in (out / "matches" / f"{match.id}.html").read_text()


@pytest.mark.long
def test_many_matches_are_on_several_pages(simulated_arena: SimulatedArena, tmp_path: Path) -> None:
    tournament = simulated_arena.begin(
        "round-robin", simulated_arena.bots(3), settings={"cycles": 40}
    )
    static_site.write(simulated_arena.engine, tournament.id, tmp_path / "site")
    second = tmp_path / "site" / "tournaments" / f"{tournament.id}-page-2.html"
    first = tmp_path / "site" / "index.html"
    assert f'href="tournaments/{tournament.id}-page-2.html" rel="next"' in first.read_text()
    assert f'href="../tournaments/{tournament.id}.html" rel="prev"' in second.read_text()


def test_links_lead_from_file_to_file() -> None:
    links = SiteLinks("matches/m-1/games/0.html", frozenset({"matches/m-1.html", "index.html"}))
    assert links.to("matches", "m-1") == "../../../matches/m-1.html"
    assert links.to() == "../../../index.html"
    assert links.to("ladders", "poke") == ""
    assert links.static("style.css") == "../../../static/style.css"


def test_an_unknown_tournament_is_refused(simulated_arena: SimulatedArena, tmp_path: Path) -> None:
    with pytest.raises(NotFound):
        static_site.write(simulated_arena.engine, "t-nothing", tmp_path / "site")


def test_a_record_that_cannot_be_read_ends_the_export(
    simulated_arena: SimulatedArena, tournament: Tournament, tmp_path: Path
) -> None:
    with simulated_arena.engine.begin() as connection:
        connection.exec_driver_sql("UPDATE games SET record = 'garbage'")
    with pytest.raises(StoreError, check=has_code("record-unreadable")):
        static_site.write(simulated_arena.engine, tournament.id, tmp_path)
