"""Notifications about a followed tournament while a page is open."""

from collections.abc import Iterator
from pathlib import Path
from urllib.request import urlopen

import pytest
from playwright.sync_api import Browser, Page, expect

from arena.store.matches import match_leases
from arena.web.data.web_state import ServerSettings, WebState
from tests.arena.records.bundle.simulated_arena import SimulatedArena
from tests.arena.web.page_server import served
from tests.browser.conftest import PATIENCE_MS
from tests.browser.page_scripts import page_script
from tests.waiting import wait_until

pytestmark = [pytest.mark.long, pytest.mark.timeout(300)]

RECORD = page_script("record")
"""The browser has no other way to list the notifications that it shows."""


@pytest.fixture
def simulated_arena(tmp_path: Path) -> Iterator[SimulatedArena]:
    made = SimulatedArena(tmp_path)
    yield made
    made.engine.dispose()


@pytest.fixture
def begun_tournament(simulated_arena: SimulatedArena) -> str:
    return simulated_arena.begin("round-robin", simulated_arena.bots(3)).id


@pytest.fixture
def site(simulated_arena: SimulatedArena, begun_tournament: str) -> Iterator[str]:
    with served(WebState(simulated_arena.engine, ServerSettings(rate=0))) as address:
        yield address


@pytest.fixture
def follower(browser: Browser) -> Iterator[Page]:
    """A tab that may show notifications."""
    context = browser.new_context(permissions=["notifications"])
    context.set_default_timeout(PATIENCE_MS)
    page = context.new_page()
    page.add_init_script(RECORD)
    yield page
    context.close()


def feed(site: str, tournament: str) -> str:
    with urlopen(f"{site}/tournaments/{tournament}.atom") as response:
        return str(response.read(), "utf-8")


def check_now(page: Page, address: str) -> None:
    """Open a page after the pause between two checks."""
    page.evaluate("localStorage.removeItem('follow-checked')")
    page.goto(address)


def test_a_followed_tournament_notifies_on_every_page_once(
    follower: Page, site: str, simulated_arena: SimulatedArena, begun_tournament: str
) -> None:
    follower.goto(f"{site}/tournaments/{begun_tournament}")
    button = follower.get_by_role("button", name="Notify me")
    button.click()
    pressed = follower.get_by_role("button", name="Notifications on")
    expect(pressed).to_have_attribute("aria-pressed", "true")
    check_now(follower, f"{site}/games")
    follower.wait_for_load_state("networkidle")
    assert follower.evaluate("window.shown") == []
    first, second = match_leases.due(simulated_arena.engine)[:2]
    for match in (first, second):
        simulated_arena.play(match)
    # The server reads the store every second.
    wait_until(lambda: feed(site, begun_tournament).count("match.closed") == 2)
    check_now(follower, f"{site}/bots")
    # Playwright calls a function at each poll, but evaluates a string anew, which the content
    # security policy of the pages forbids.
    follower.wait_for_function("() => window.shown.length == 1")
    ((title, tag),) = follower.evaluate("window.shown")
    assert tag == f"/tournaments/{begun_tournament}.atom"
    assert title
    check_now(follower, f"{site}/games")
    follower.wait_for_load_state("networkidle")
    assert follower.evaluate("window.shown") == []


def test_following_ends_with_the_same_button(follower: Page, site: str) -> None:
    follower.goto(f"{site}/bots/bot0")
    follower.get_by_role("button", name="Notify me").click()
    expect(follower.get_by_role("button", name="Notifications on")).to_be_visible()
    follower.reload()
    follower.get_by_role("button", name="Notifications on").click()
    expect(follower.get_by_role("button", name="Notify me")).to_be_visible()
    assert follower.evaluate("localStorage.getItem('follow')") == "{}"
