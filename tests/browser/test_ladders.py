"""Ladders, crosstables, comparisons and bots: sorting, moving rows, clicks and tokens."""

import html
import json
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.request import urlopen

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from arena.cli.workspace import Workspace
from arena.store.bots import owners, versions
from arena.web.data.web_state import ServerSettings, WebState
from tests.arena.cli.stored_tournament import store_tournament
from tests.arena.web.closed_matches import play, table
from tests.arena.web.page_server import served
from tests.arena.web.pages.test_bot_pages import EVIL, crash
from tests.browser.page_scripts import page_script

pytestmark = [pytest.mark.long, pytest.mark.timeout(300)]

BOTS = ("ada", "bob", "cy", "dan", "eve")
UPSETS = {
    frozenset({"ada", "bob"}): [("ada", "bob"), ("bob", "ada"), ("ada", "bob")],
    frozenset({"bob", "cy"}): [("bob", "cy"), ("cy", "bob")],
    frozenset({"dan", "eve"}): [("dan", "eve"), ("dan", "eve"), ("eve", "dan")],
}


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return stored_arena(tmp_path)


@pytest.fixture
def site(workspace: Workspace) -> Iterator[str]:
    """The address of an arena for tests that change it."""
    with served(WebState(workspace.store, ServerSettings(rate=0))) as address:
        yield address


@pytest.fixture(scope="module")
def shared_site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of such an arena that no test changes."""
    workspace = stored_arena(tmp_path_factory.mktemp("ladders"))
    with served(WebState(workspace.store, ServerSettings(rate=0))) as address:
        yield address


def stored_arena(folder: Path) -> Workspace:
    workspace = Workspace(folder / "data")
    store_tournament(workspace, BOTS, UPSETS, boards=2, cycles=3)
    play(workspace, table("poke-2-must_beat=true"), change=crash)
    return workspace


def names(tab: Page) -> list[str]:
    rows = tab.locator("#ladder-rows tbody tr")
    return [row.get_attribute("data-key") or "" for row in rows.all()]


def test_rows_move_while_matches_close_without_a_reload(
    tab: Page, site: str, workspace: Workspace
) -> None:
    tab.goto(f"{site}/ladders/poke?sort=-strength&find=@1")
    tab.evaluate("window.stayed = true")
    expect(tab.locator("#live-state")).to_have_text("Live.")
    assert names(tab)[0] == "eve@1"
    make_eve_the_best(workspace)
    expect(tab.locator("#ladder-rows tbody tr").last).to_have_attribute("data-key", "eve@1")
    assert tab.locator("tr.moved").count() > 0
    assert tab.evaluate("window.stayed")
    assert tab.url.endswith("?sort=-strength&find=@1")


def make_eve_the_best(workspace: Workspace) -> None:
    """Store matches in which eve wins every game and ada loses every game."""
    upset = {frozenset({"ada", other}): [(other, "ada")] for other in BOTS if other != "ada"}
    upset |= {frozenset({"eve", other}): [("eve", other)] for other in BOTS if other != "eve"}
    store_tournament(workspace, BOTS, upset, boards=2, cycles=12)


SLIDES = page_script("slides")


def test_rows_slide_unless_the_reader_prefers_less_motion(
    context: BrowserContext, site: str, workspace: Workspace
) -> None:
    moving, still = context.new_page(), context.new_page()
    still.emulate_media(reduced_motion="reduce")
    for tab in (moving, still):
        tab.add_init_script(SLIDES)
        tab.goto(f"{site}/ladders/poke?sort=-strength&find=@1")
        expect(tab.locator("#live-state")).to_have_text("Live.")
        assert tab.evaluate("window.slides") == 0
    make_eve_the_best(workspace)
    # The first updates may change figures only.
    for tab in (moving, still):
        expect(tab.locator("#ladder-rows tbody tr").last).to_have_attribute("data-key", "eve@1")
        assert tab.locator("tr.moved").count() > 0
    assert moving.evaluate("window.slides") > 0
    assert still.evaluate("window.slides") == 0


def test_no_row_of_the_home_page_slides_when_it_is_loaded(
    context: BrowserContext, shared_site: str
) -> None:
    wait_for_histories(shared_site, "/")
    tab = context.new_page()
    tab.add_init_script(SLIDES)
    for width in (1400, 390):
        tab.set_viewport_size({"width": width, "height": 900})
        tab.goto(shared_site)
        expect(tab.locator("#live-state")).to_have_text("Live.")
        assert tab.locator("#home-latest [data-key]").count() > 0
        assert tab.evaluate("window.slides") == 0
        assert tab.locator(".moved").count() == 0


def first_parts(site: str, path: str) -> dict[str, str]:
    """Return the parts of the first live update for a client that has just loaded the page."""
    page = urlopen(f"{site}{path}", timeout=60).read().decode()
    found = re.search('data-live="([^"]*)"', page)
    assert found is not None
    with urlopen(f"{site}{html.unescape(found[1])}", timeout=60) as events:
        lines = (line.decode() for line in events)
        data = next(line for line in lines if line.startswith("data: "))
    parts: dict[str, str] = json.loads(data.removeprefix("data: "))["parts"]
    return parts


def wait_for_histories(site: str, path: str) -> None:
    """Wait until a new page shows the rating histories, which the server reads after its start."""
    while first_parts(site, path):
        pass


@pytest.mark.parametrize("path", ["/", "/ladders/poke", "/live"])
def test_the_first_update_of_a_page_repeats_no_part_that_the_page_shows(
    shared_site: str, path: str
) -> None:
    wait_for_histories(shared_site, path)


def test_rows_of_the_home_page_stay_in_their_ladder(
    context: BrowserContext, site: str, workspace: Workspace
) -> None:
    # The replay on the home page cannot be shown: these results have no real records (409).
    tab = context.new_page()
    store_tournament(workspace, BOTS, UPSETS, game="pouku", boards=2)
    tab.goto(site)
    expect(tab.locator("#live-state")).to_have_text("Live.")
    first = tab.locator('#home-tops [data-key^="pouku"]').first
    expect(first).to_have_attribute("data-key", "pouku-2/ada@1")
    upset = {frozenset({"eve", other}): [("eve", other)] for other in BOTS if other != "eve"}
    store_tournament(workspace, BOTS, upset, game="pouku", boards=2, cycles=12)
    expect(first).to_have_attribute("data-key", "pouku-2/eve@1")
    assert tab.locator('#home-tops .moved[data-key^="pouku-2/"]').count() > 0
    assert tab.locator('#home-tops .moved[data-key^="poke/"]').count() == 0


def test_a_ladder_is_sorted_and_searched_by_clicks_and_the_address_keeps_both(
    tab: Page, shared_site: str
) -> None:
    tab.goto(f"{shared_site}/ladders/poke")
    tab.get_by_label("Find").fill("a")
    with tab.expect_navigation():
        tab.keyboard.press("Enter")
    with tab.expect_navigation():
        tab.locator("thead").get_by_text("bot").click()
    assert tab.url.endswith("?sort=bot&find=a")
    assert names(tab) == ["ada@1", "dan@1"]
    with tab.expect_navigation():
        tab.locator("thead").get_by_text("bot").click()
    assert names(tab) == ["dan@1", "ada@1"]
    assert tab.locator("th[aria-sort=descending]").inner_text().startswith("bot")
    expect(tab.get_by_label("Find")).to_have_value("a")


def test_a_crosstable_cell_opens_its_comparison_by_keyboard(tab: Page, shared_site: str) -> None:
    tab.goto(f"{shared_site}/ladders/poke/matrix")
    cell = tab.get_by_title("ada against bob").first
    cell.focus()
    tab.keyboard.press("Enter")
    expect(tab.get_by_role("heading", level=1)).to_have_text("ada against bob", use_inner_text=True)
    tab.get_by_role("link", name="Swap the bots").click()
    expect(tab.get_by_role("heading", level=1)).to_have_text("bob against ada", use_inner_text=True)


def test_crosstable_colours_distinguish_wins_and_losses(tab: Page, shared_site: str) -> None:
    tab.goto(f"{shared_site}/ladders/poke/matrix")
    seen = tab.eval_on_selector_all(
        "td.heat", "cells => cells.map(c => [c.innerText, getComputedStyle(c).backgroundColor])"
    )
    ahead = {colour for text, colour in seen if int(text) > 60}
    behind = {colour for text, colour in seen if int(text) < 40}
    assert ahead
    assert behind
    assert not ahead & behind
    assert "rgba(0, 0, 0, 0)" not in ahead | behind


def test_an_owner_sees_private_fields_and_the_token_is_not_stored(
    tab: Page, site: str, workspace: Workspace
) -> None:
    versions.set_owner(workspace.store, versions.find_version(workspace.store, "luck1@1"), "eve")
    token = owners.add_owner(workspace.store, "eve")
    tab.goto(f"{site}/bots/luck1/faults")
    # The owner was added just now: the server reads the store every second.
    while not tab.get_by_text("shown to eve alone").count():
        tab.reload()
    tab.locator("main").get_by_role("link", name="sign in").click()
    tab.get_by_label("Token").fill(token)
    tab.get_by_role("button", name="Sign in").click()
    tab.wait_for_url("**/account")
    tab.goto(f"{site}/bots/luck1/faults")
    expect(tab.locator("pre").first).to_contain_text("secret plan")
    assert EVIL in tab.locator("pre").first.inner_text()
    assert token not in tab.url
    assert token not in tab.content()
    assert token not in str(tab.context.cookies())
    tab.context.clear_cookies()
    tab.goto(f"{site}/bots/luck1/faults")
    assert "secret plan" not in tab.content()
