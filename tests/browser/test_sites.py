"""A tournament as files, opened from disk: links resolve, and replays work."""

from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Page

from arena.web import static_site
from tests.arena.records.bundle.simulated_arena import SimulatedArena
from tests.browser.conftest import keep

pytestmark = [pytest.mark.long, pytest.mark.timeout(300)]


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Export a round robin of three bots; return its first page."""
    tmp_path = tmp_path_factory.mktemp("exported")
    simulated_arena = SimulatedArena(tmp_path)
    tournament = simulated_arena.play_out(
        simulated_arena.begin("round-robin", simulated_arena.bots(3))
    )
    static_site.write(simulated_arena.engine, tournament.id, tmp_path / "site")
    simulated_arena.engine.dispose()
    return tmp_path / "site" / "index.html"


def test_every_page_opens_from_disk_without_errors(tab: Page, exported: Path) -> None:
    waiting, seen = [exported.as_uri()], {exported.as_uri()}
    while waiting:
        address = waiting.pop()
        tab.goto(address)
        assert tab.locator("h1").count() == 1, address
        assert tab.evaluate("getComputedStyle(document.querySelector('main')).maxWidth") != "none"
        for href in tab.eval_on_selector_all("a[href]", "all => all.map((one) => one.href)"):
            path = href.partition("#")[0].partition("?")[0]
            if path.startswith("https://"):
                continue
            assert Path(path.removeprefix("file://")).is_file(), (address, href)
            if path.endswith(".html") and path not in seen:
                seen.add(path)
                waiting.append(path)
    assert len(seen) > 25


def test_a_replay_is_stepped_through_from_disk(
    tab: Page, context: BrowserContext, exported: Path
) -> None:
    tab.goto(exported.as_uri())
    keep(tab, "site-tournament")
    tab.locator(".matches a").first.click()
    tab.locator(".boards a").first.click()
    tab.wait_for_selector("#replay[data-ready]")
    assert tab.get_attribute("#replay", "data-step") == "0"
    for _ in range(3):
        tab.keyboard.press("ArrowRight")
    assert tab.get_attribute("#replay", "data-step") == "3"
    tab.keyboard.press("1")
    assert tab.get_attribute("#replay", "data-eyes") == "0"
    tab.keyboard.press("t")
    assert tab.get_attribute("#replay", "data-step") == tab.get_attribute("#replay", "data-last")
    keep(tab, "site-replay")
