"""A person plays a whole game in a browser, with and without JavaScript."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from random import Random
from typing import Final

import pytest
from playwright.sync_api import APIResponse, Browser, Page, Route, expect

from arena.cli.workspace import Workspace
from arena.matches import local_records
from arena.matches.play_table import PlayTable
from arena.presentation.narration import outcome
from arena.web.data.web_state import ServerSettings, WebState
from referee.games.game_packages import BUILT_IN
from referee.record import GameRecord, read
from referee.replay import verify
from tests.arena.web.page_server import served
from tests.browser.conftest import PAGE_BYTES, PATIENCE_MS, compressed_bytes, keep
from tests.waiting import wait_until

pytestmark = [pytest.mark.long, pytest.mark.timeout(600)]

NEXT = """(id) => {
  const question = document.querySelector("[name=question]");
  return question ? question.value !== id : document.querySelector("[data-over]") !== null;
}"""

Size = tuple[int, int]
DESKTOP: Size = (1440, 900)
TABLET: Size = (1024, 768)
PHONE: Size = (390, 844)
WHOLE: Final = 2000
"""More turns than a game has."""
IN_VIEW = (
    "#play-board .under .hand",
    "#play-board .under header:not([hidden])",
    "#turn",
    ".confirm",
)
IS_ON_TOP = """(part) => {
  const {left, top, width, height} = part.getBoundingClientRect();
  return part.contains(document.elementFromPoint(left + width / 2, top + height / 2));
}"""
"""Whether nothing covers a part of the page."""
ROOM = """() => {
  const height = (part) => document.querySelector(`#play-board ${part}`).clientHeight;
  return height(".far") || height(".middle");
}"""
SMALLEST_ROOM = 150
"""Height of the table between the title and the hand in pixels."""
SMALL_CONTROLS = """() => [...document.querySelectorAll("#play-board [data-pick]")]
  .filter((control) => control.matches(".card, .dom, .ready"))
  .map((control) => control.getBoundingClientRect())
  .filter(({width, height}) => width < 24 || height < 24)
  .map(({width, height}) => [width, height])"""
"""Controls that are too small to be touched."""
APPLIED = "() => { const all = updateFrom; updateFrom = (page) => { all(page); applied = true; }; }"
"""Notes that the answer to a choice has been applied."""


@pytest.fixture
def web(workspace: Workspace) -> WebState:
    settings = ServerSettings(rate=0, data=workspace.folder.root, loopback=True)
    return WebState(workspace.store, settings)


@pytest.fixture
def site(web: WebState) -> Iterator[str]:
    """The address of an arena on this machine, with the default of `--play`."""
    with served(web) as address:
        yield address


@contextmanager
def playing(browser: Browser, size: Size, *, scripts: bool = True) -> Iterator[Page]:
    """Open a window of a size; a phone has a touch screen. Fail on errors of scripts."""
    width, height = size
    context = browser.new_context(
        viewport={"width": width, "height": height},
        has_touch=size == PHONE,
        reduced_motion="reduce",
        java_script_enabled=scripts,
    )
    context.set_default_timeout(PATIENCE_MS)
    errors: list[str] = []
    try:
        tab = context.new_page()
        tab.on("pageerror", lambda error: errors.append(str(error)))
        yield tab
        assert errors == []
    finally:
        context.close()


def begin(tab: Page, site: str, game: str) -> None:
    tab.goto(f"{site}/games/{game}#table")
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


def check_record(workspace: Workspace, game: str) -> GameRecord:
    """Check the only record, and return its only game."""
    (path,) = local_records.records(workspace.folder)
    record = read(path.read_text(encoding="utf-8"))
    assert verify(record) == []
    assert record.match["game"] == game
    (played,) = record.games
    assert played.faults == ()
    return played


SIZES: Final = {"desktop": DESKTOP, "tablet": TABLET, "phone": PHONE}
IN_CI: Final = {("poke", "phone"), ("pouku", "tablet"), ("saint_poker", "without_scripts")}


@pytest.mark.parametrize(
    ("game", "way"),
    [
        pytest.param(game, way, marks=() if (game, way) in IN_CI else pytest.mark.repetition)
        for game in BUILT_IN
        for way in (*SIZES, "keyboard", "without_scripts")
    ],
)
def test_a_person_plays_a_whole_game(
    browser: Browser, site: str, workspace: Workspace, game: str, way: str
) -> None:
    size = SIZES.get(way, DESKTOP)
    with playing(browser, size, scripts=way != "without_scripts") as tab:
        if way == "without_scripts":
            play_without_scripts(tab, site, game)
        else:
            pages = begun(tab, site, game)
            select = select_with_keys if way == "keyboard" else select_on_the_table
            play(tab, lambda chance: select(tab, chance, size), WHOLE)
            assert pages == []
            keep(tab, f"play-{game}-{way}")
            assert compressed_bytes(reloaded(tab)) < PAGE_BYTES
        check_replay(tab, workspace, game)


@pytest.mark.parametrize(
    ("game", "size"), [("poke", DESKTOP), ("pokex", PHONE), ("pokino", DESKTOP)]
)
def test_a_person_plays_the_first_turns(browser: Browser, site: str, game: str, size: Size) -> None:
    with playing(browser, size) as tab:
        begun(tab, site, game)
        check_first_screens(tab)
        tab.set_viewport_size({"width": size[0], "height": size[1]})
        assert play(tab, lambda chance: select_on_the_table(tab, chance, size), 6) >= 4


def check_first_screens(tab: Page) -> None:
    """Check that hand, choices and latest actions are in view in windows of all sizes."""
    for width, height in (DESKTOP, TABLET, PHONE):
        tab.set_viewport_size({"width": width, "height": height})
        tab.evaluate("scrollTo(0, 0)")
        for part in IN_VIEW:
            box = tab.locator(part).first.bounding_box()
            assert box is not None, part
            assert 0 <= box["y"] <= height - box["height"], (width, part)
            assert 0 <= box["x"] <= width - box["width"], (width, part)
            assert tab.locator(part).first.evaluate(IS_ON_TOP), (width, part)
        assert tab.evaluate(ROOM) > SMALLEST_ROOM, width
        assert tab.evaluate(SMALL_CONTROLS) == []


def begun(tab: Page, site: str, game: str) -> list[str]:
    """Begin a game; return the list of the pages that are loaded later."""
    begin(tab, site, game)
    wait_for_script(tab)
    pages: list[str] = []
    tab.on("framenavigated", lambda frame: pages.append(frame.url))
    return pages


def play(tab: Page, select: Callable[[Random], None], turns: int) -> int:
    """Play until the game is over, at most this number of turns; return their number."""
    chance = Random(turns)
    for made in range(turns):
        if not tab.locator("#choose").count():
            return made
        question = tab.get_attribute("[name=question]", "value")
        select(chance)
        tab.wait_for_function(NEXT, arg=question)
    return turns


def reloaded(tab: Page) -> set[str]:
    """Reload the page; return the addresses that the browser requests for it."""
    addresses: set[str] = set()
    tab.on("request", lambda request: addresses.add(request.url))
    tab.reload()
    wait_for_script(tab)
    return addresses


def check_replay(tab: Page, workspace: Workspace, game: str) -> None:
    """Check the end of a game, its replay and its record."""
    heading, announced = (tab.text_content(part) for part in ("#turn", "#play-said"))
    tab.get_by_role("link", name="Replay with open cards").click()
    tab.wait_for_selector("#replay")
    played = check_record(workspace, game)
    # With a partner, the side has both names.
    (seat, *_) = [n for n, name in enumerate(played.game["seating"]) if name.startswith("human")]
    assert heading == outcome(played, seat)
    assert announced in (heading, "")


def select_with_keys(tab: Page, chance: Random, _: Size) -> None:
    """Select an action with keys and play it."""
    ready = tab.locator("#play-board b[data-pick].ready")
    confirm = tab.locator(".confirm > .primary")
    plain = tab.locator(".plain button")
    if plain.count() and (not ready.count() or chance.random() < 0.2):
        plain.nth(chance.randrange(plain.count())).press("Enter")
        return
    while confirm.is_disabled():
        if number := ready.count():
            ready.nth(chance.randrange(number)).press("Enter")
        else:
            tab.keyboard.press("r")
    confirm.press("Enter")


def select_on_the_table(tab: Page, chance: Random, size: Size) -> None:
    """Select an action with clicks on the table and play it; without elements, with its button."""
    click = "tap" if size == PHONE else "click"
    ready = tab.locator("#play-board [data-pick].ready")
    confirm = tab.locator(".confirm > .primary")
    plain = tab.locator(".plain button")
    if plain.count() and (not ready.count() or chance.random() < 0.2):
        getattr(plain.nth(chance.randrange(plain.count())), click)()
        return
    while confirm.is_disabled():
        getattr(ready.nth(chance.randrange(ready.count())), click)()
    getattr(confirm, click)()


def test_a_person_plays_with_the_keyboard_and_with_typed_actions(tab: Page, site: str) -> None:
    begin(tab, site, "pokino")
    wait_for_script(tab)
    # The first choice of a game is to pass, or a domino.
    tab.fill("#play-text", "pass")
    tab.wait_for_function("() => document.querySelectorAll('.choices button').length < 3")
    tab.fill("#play-text", "fly to the moon")
    tab.press("#play-text", "Enter")
    tab.wait_for_selector(".refused")
    assert tab.evaluate("document.activeElement.id") == "play-text"
    tab.fill("#play-text", "")
    question = tab.get_attribute("[name=question]", "value")
    assert tab.locator("#play-board .square.ready").count() == 0
    tab.locator("#play-board .dom[data-pick]").first.press("Enter")
    assert "selected" in (tab.text_content("#play-said") or "")
    assert tab.locator("#play-board .square.ready").count() > 1
    tab.keyboard.press("r")
    first = tab.get_attribute(".confirm > .primary", "data-action")
    tab.keyboard.press("r")
    assert tab.get_attribute(".confirm > .primary", "data-action") != first
    tab.keyboard.press("Escape")
    assert tab.locator(".confirm > .primary").is_disabled()
    tab.locator("#play-board .dom[data-pick]").first.press("Enter")
    tab.keyboard.press("r")
    tab.locator(".confirm > .primary").press("Enter")
    tab.wait_for_function(NEXT, arg=question)
    question = tab.get_attribute("[name=question]", "value")
    tab.fill("#play-text", "1")
    tab.press("#play-text", "Enter")
    tab.wait_for_function(NEXT, arg=question)
    leave(tab)
    tab.wait_for_selector("text=Replay with open cards")
    assert tab.evaluate("document.getElementById('turn').getBoundingClientRect().top") >= 0


def leave(tab: Page) -> None:
    """Leave the table, with its confirmation."""
    button = tab.get_by_role("button", name="Leave it now")
    expect(button).to_be_hidden()
    tab.get_by_text("Leave the table", exact=True).click()
    if tab.evaluate("typeof updateFrom !== 'undefined'"):
        expect(button).to_be_in_viewport()
    button.click()


def test_a_table_is_left_only_after_a_confirmation_without_javascript(
    tab_without_scripts: Page, site: str, web: WebState
) -> None:
    tab = tab_without_scripts
    begin(tab, site, "poke")
    leave(tab)
    tab.wait_for_selector("#turn:has-text('You have left the table')")
    assert table_of(web, tab).state.has_left


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


def test_a_refusal_is_shown_and_the_choice_can_be_made_again(browser: Browser, site: str) -> None:
    # The browser itself logs each refused request, so this is not the usual tab.
    with playing(browser, DESKTOP) as tab:
        begin(tab, site, "poke")
        wait_for_script(tab)
        question = tab.get_attribute("[name=question]", "value")
        for kind, body, shown in (
            ("application/json", '{"error": "too many hints; retry in 9 s."}', "retry in 9 s"),
            ("text/plain", "busy", "429"),
        ):
            refuse_choices(tab, kind, body)
            for button in (
                tab.get_by_role("button", name="Hint"),
                tab.locator(".choices button").first,
            ):
                button.click()
                expect(tab.locator(".refused[role=alert]").last).to_contain_text(shown)
                expect(button).to_be_enabled()
                assert tab.get_attribute("[name=question]", "value") == question
            tab.unroute("**/play/tables/*")
        tab.locator(".choices button").first.click()
        tab.wait_for_function(NEXT, arg=question)


def refuse_choices(tab: Page, kind: str, body: str) -> None:
    """Answer the requests of a table with a refusal of this content type."""

    def answer(route: Route) -> None:
        if route.request.method == "POST":
            route.fulfill(status=429, content_type=kind, body=body)
        else:
            route.continue_()

    tab.route("**/play/tables/*", answer)


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
    wait_until(lambda: tab.evaluate("true") and streams)
    table = table_of(web, tab)
    table.leave()
    table.join(30)
    # On a slow machine the page may have been silent for long enough before.
    tab.clock.run_for(30_000)
    tab.wait_for_selector("[data-over]", state="attached")


def play_without_scripts(tab: Page, site: str, game: str) -> None:
    """Begin a game, and play to its end with the buttons of the listed actions."""
    begin(tab, site, game)
    chance = Random(game)
    while tab.locator("#choose").count():
        question = tab.get_attribute("[name=question]", "value")
        buttons = tab.locator(".choices button")
        buttons.nth(chance.randrange(buttons.count())).click()
        changed = f'[data-over], [name=question]:not([value="{question}"])'
        tab.wait_for_selector(changed, state="attached")


def test_a_table_is_left_the_next_game_is_one_click_and_the_record_can_be_deleted(
    tab: Page, site: str, web: WebState, workspace: Workspace
) -> None:
    tab.goto(f"{site}/games/poke#table")
    tab.get_by_label("Your name").fill("ada")
    tab.get_by_role("button", name="Begin the match").click()
    tab.wait_for_selector("#choose")
    wait_for_script(tab)
    tab.get_by_role("button", name="Hint").click()
    tab.wait_for_selector(".hint [data-hint]")
    tab.get_by_text("Leave the table", exact=True).click()
    question = tab.get_attribute("[name=question]", "value")
    tab.locator(".choices button").first.click()
    tab.wait_for_function(NEXT, arg=question)
    # A new turn does not fold it.
    expect(tab.get_by_role("button", name="Leave it now")).to_be_visible()
    tab.get_by_text("Leave the table", exact=True).click()
    assert not table_of(web, tab).state.has_left
    leave(tab)
    tab.wait_for_selector("#turn:has-text('You have left the table')")
    assert table_of(web, tab).state.has_left
    tab.wait_for_selector("[data-over] .again", state="attached")
    first = tab.url
    tab.get_by_role("button", name="New game").click()
    tab.wait_for_selector("#choose")
    assert tab.url != first
    assert "person:ada (you)" in tab.locator("#play-board .under header").inner_text()
    tab.goto(first)
    (path,) = local_records.records(workspace.folder)
    assert "person:ada" in path.read_text(encoding="utf-8")
    tab.get_by_text("The record of this game").click()
    deleting = tab.get_by_role("button", name="Delete it now")
    expect(deleting).to_be_hidden()
    tab.get_by_text("Delete the record", exact=True).click()
    deleting.click()
    tab.wait_for_url("**/games/poke")
    assert local_records.records(workspace.folder) == []
