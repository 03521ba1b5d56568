"""A running match in the browser: the table changes, and the result replaces it."""

from pathlib import Path

import pytest
from playwright.sync_api import Page

from arena.services.local import Services
from arena.services.web_process import Pages, listen
from arena.store.matches import listing
from tests.arena.services.test_services import ServicesArena
from tests.browser.conftest import keep
from tests.waiting import wait_until

pytestmark = [pytest.mark.long, pytest.mark.timeout(300)]
NAP = 0.05
"""Decision time of the bots in seconds."""

POSITION = "() => document.querySelector('#match-table .where')?.textContent"


def test_the_live_table_is_updated_until_the_result(tab: Page, tmp_path: Path) -> None:
    arena = ServicesArena(tmp_path)
    pages = Pages(listen("127.0.0.1", 0))
    with Services(arena.where, 1, {}, pages):
        tournament = arena.schedule(
            [arena.admit("ada", 0, NAP), arena.admit("bob", -1, NAP)], boards=4
        )
        (match,) = listing.matches(arena.engine, tournament=tournament.id)
        tab.goto(f"{pages.address}matches/{match.id}")
        tab.wait_for_selector("#match-table .felt", timeout=60_000)
        assert tab.locator("#match-state .sides").count() == 0
        keep(tab, "live-match")
        first = tab.evaluate(POSITION)
        wait_until(lambda: tab.evaluate(POSITION) != first)
        tab.goto(pages.address)
        tab.wait_for_selector("#home-table .felt")
        keep(tab, "home-live")
        tab.goto(f"{pages.address}matches/{match.id}")
        tab.wait_for_selector("#match-state .sides", timeout=200_000)
        assert tab.locator(".felt").count() == 0
        keep(tab, "match-over")
    arena.engine.dispose()
