"""The replays of a match as one file, opened from disk."""

from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from arena.web import replay_file
from referee.game_checks.recorded_matches import match_record
from referee.record import read
from tests.browser.conftest import keep
from tests.conformance.tables import TABLES

pytestmark = [pytest.mark.long, pytest.mark.timeout(300)]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Write the file of a match of two games into an empty folder."""
    record = read(match_record(next(t for t in TABLES if t.game.id == "poke"), bytes(32), 1))
    path = tmp_path / "match.html"
    path.write_text(replay_file.html(record, record.games, 1_800_000_000.0), encoding="utf-8")
    return path


def test_every_game_is_stepped_through_without_a_network(
    tab: Page, context: BrowserContext, file: Path
) -> None:
    requested: list[str] = []
    tab.on("request", lambda request: requested.append(request.url.partition(":")[0]))
    tab.goto(file.as_uri())
    for game in ("game 1", "game 2", "game 1"):
        tab.wait_for_selector("#replay[data-ready]")
        assert tab.locator(".games b").inner_text() == game
        assert tab.get_attribute("#replay", "data-step") == "0"
        for _ in range(3):
            tab.keyboard.press("ArrowRight")
        assert tab.get_attribute("#replay", "data-step") == "3"
        tab.locator("#go-on").click()
        assert tab.get_attribute("#replay", "data-step") == "4"
        tab.keyboard.press("1")
        assert tab.get_attribute("#replay", "data-eyes") == "0"
        keep(tab, f"replay-file-{game[-1]}")
        with tab.expect_navigation(wait_until="load"):
            tab.locator(".games a").click()
            expect(tab.locator(".games b")).not_to_have_text(game)
    assert set(requested) <= {"file", "data"}


def test_the_first_game_is_shown_without_javascript(tab_without_scripts: Page, file: Path) -> None:
    page = tab_without_scripts
    page.goto(file.as_uri())
    assert page.locator(".felt").count() == 1
    assert page.locator("#moves li").count() > 10
