"""A person plays a whole game in a browser, with and without JavaScript."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import APIResponse, Browser, Page, Route

from arena.cli.workspace import Workspace
from arena.matches import local_records
from arena.web.data.play_tables import PlayTable
from arena.web.data.web_state import ServerSettings, WebState
from referee.record import read
from referee.replay import verify
from tests.arena.web.page_server import served
from tests.browser.conftest import PATIENCE_MS, keep
from tests.waiting import wait_until

pytestmark = [pytest.mark.long, pytest.mark.timeout(600)]

NEXT = """(id) => {
  const question = document.querySelector("[name=question]");
  return question ? question.value !== id : document.querySelector("[data-over]") !== null;
}"""

APPLIED = "() => { const all = updateFrom; updateFrom = (page) => { all(page); applied = true; }; }"
"""Notes that the answer to a choice has been applied."""


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return Workspace(tmp_path / "data")


@pytest.fixture
def web(workspace: Workspace) -> WebState:
    settings = ServerSettings(rate=0, data=workspace.folder.root, loopback=True)
    return WebState(workspace.store, settings)


@pytest.fixture
def site(web: WebState) -> Iterator[str]:
    """The address of an arena on this machine, with the default of `--play`."""
    with served(web) as address:
        yield address


def begin(tab: Page, site: str, game: str) -> None:
    tab.goto(f"{site}/play/{game}")
    for choice in tab.locator("select[name^=bot]").all():
        choice.select_option("sample:random")
    tab.get_by_role("button", name="Begin the match").click()
    tab.wait_for_selector("#choose")


def wait_for_script(tab: Page) -> None:
    """Wait for the script of the table, without which an action loads a new page."""
    tab.wait_for_function(
        "() => typeof followParts !== 'undefined' && typeof waiting !== 'undefined'"
    )


def table_of(web: WebState, tab: Page) -> PlayTable:
    table = web.play_tables.find(tab.url.rpartition("/")[2].partition("?")[0])
    assert table is not None
    return table


def check_record(workspace: Workspace, game: str) -> None:
    (path,) = local_records.records(workspace.folder)
    record = read(path.read_text(encoding="utf-8"))
    assert verify(record) == []
    assert record.match["game"] == game
    (played,) = record.games
    assert played.faults == ()


@pytest.mark.parametrize("game", ["saint_poker", "pouku"])
def test_a_person_plays_a_whole_game(tab: Page, site: str, workspace: Workspace, game: str) -> None:
    begin(tab, site, game)
    wait_for_script(tab)
    keep(tab, f"play-{game}")
    pages: list[str] = []
    tab.on("framenavigated", lambda frame: pages.append(frame.url))
    turns = 0
    while tab.locator("#choose").count():
        question = tab.get_attribute("[name=question]", "value")
        tab.locator(".choices button").last.click()
        tab.wait_for_function(NEXT, arg=question)
        turns += 1
    assert turns >= 4
    assert pages == []
    check_record(workspace, game)
    tab.get_by_role("link", name="Replay with open cards").click()
    tab.wait_for_selector("#replay")


def test_an_answer_that_arrives_late_does_not_hide_the_end(
    tab: Page, site: str, web: WebState
) -> None:
    begin(tab, site, "poke")
    wait_for_script(tab)
    held: list[tuple[Route, APIResponse]] = []

    def hold(route: Route) -> None:
        if route.request.method == "POST":
            held.append((route, route.fetch()))
        else:
            route.continue_()

    tab.route("**/play/tables/*", hold)
    tab.evaluate(APPLIED)
    tab.locator(".choices button").first.click()
    # The browser runs the handler while it is asked for something.
    wait_until(lambda: tab.evaluate("true") and held)
    table_of(web, tab).leave()
    tab.wait_for_selector("[data-over]", state="attached")
    ((route, answer),) = held
    assert "data-over" not in answer.text()
    route.fulfill(response=answer)
    tab.wait_for_function("() => window.applied")
    assert tab.locator("[data-over]").count() == 1
    assert tab.locator("#choose").count() == 0


def test_a_table_is_read_again_after_silence(tab: Page, site: str, web: WebState) -> None:
    streams: list[str] = []

    def lose_the_first(route: Route) -> None:
        streams.append(route.request.url)
        if len(streams) == 1:
            # The browser does not open a stream again that the server has ended like this.
            route.fulfill(status=204)
        else:
            route.continue_()

    begin(tab, site, "poke")
    tab.route("**/live/play/tables/*", lose_the_first)
    tab.clock.install()
    tab.reload()
    wait_for_script(tab)
    table = table_of(web, tab)
    table.leave()
    table.join(30)
    assert tab.locator("[data-over]").count() == 0
    tab.clock.run_for(30_000)
    tab.wait_for_selector("[data-over]", state="attached")


def test_actions_are_filtered_while_typing_and_illegal_ones_are_explained(
    tab: Page, site: str
) -> None:
    begin(tab, site, "pokino")
    wait_for_script(tab)
    # The first choice of a game is to pass, or a domino.
    tab.fill("#play-text", "pass")
    tab.wait_for_function("() => document.querySelectorAll('.choices button').length < 3")
    tab.fill("#play-text", "fly to the moon")
    tab.press("#play-text", "Enter")
    tab.wait_for_selector(".refused")
    assert tab.evaluate("document.activeElement.id") == "play-text"
    question = tab.get_attribute("[name=question]", "value")
    tab.fill("#play-text", "2")
    tab.press("#play-text", "Enter")
    tab.wait_for_function(NEXT, arg=question)
    tab.get_by_role("button", name="Leave the table").click()
    tab.wait_for_selector("text=Replay with open cards")
    assert tab.evaluate("document.getElementById('turn').getBoundingClientRect().top") >= 0


def test_a_person_plays_without_javascript(browser: Browser, site: str) -> None:
    context = browser.new_context(java_script_enabled=False)
    context.set_default_timeout(PATIENCE_MS)
    tab = context.new_page()
    begin(tab, site, "poke")
    for _ in range(4):
        tab.wait_for_selector("#choose")
        tab.locator(".choices button").first.click()
    tab.wait_for_selector("#choose")
    tab.get_by_role("button", name="Leave the table").click()
    tab.wait_for_selector("text=You have left the table")
    context.close()
