"""Replays of every game and variant with the keyboard, on a desktop and on a phone."""

import json
import math
from collections.abc import Collection, Iterator, Sequence
from functools import cache
from typing import Any, Literal

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Route, expect

from arena.cli.workspace import Workspace
from arena.presentation import narration
from arena.store.matches import results
from arena.web.data.web_state import ServerSettings, WebState
from referee.game_checks.tables import Table
from referee.games.registry import GAMES
from referee.record import read
from tests.arena.stored_analysis import store_analysis
from tests.arena.web.closed_matches import StoredMatch, table
from tests.arena.web.closed_matches import play as play_match
from tests.arena.web.page_server import served
from tests.browser.conftest import PATIENCE_MS, keep
from tests.browser.page_scripts import page_script
from tests.conformance.tables import TABLES, is_extreme
from tests.waiting import wait_until

pytestmark = [pytest.mark.long, pytest.mark.timeout(300)]


def tables(all_of_them: Sequence[Table], ci: Collection[Table]) -> pytest.MarkDecorator:
    """Parametrise by tables; scripts/release-check tries those that CI leaves out."""
    rest = pytest.mark.repetition
    chosen = [pytest.param(t, marks=() if t in ci else rest, id=str(t)) for t in all_of_them]
    return pytest.mark.parametrize("table", chosen)


def richness(table: Table) -> tuple[int, int]:
    """Return the number of seats, and of the options that are switched on."""
    return table.seats, sum(value is True for value in table.options.values())


LOOKS = [table for table in TABLES if is_extreme(table)]
"""The smallest and the largest form of Pokino; its other forms look like one of them."""
of_a_game = [[table for table in LOOKS if table.game is game] for game in GAMES.values()]
RICHEST = [max(looks, key=richness) for looks in of_a_game]
every_table = tables(TABLES, ci=RICHEST)
every_look = tables(LOOKS, ci=RICHEST)
POKE = table("poke-2-must_beat=true")
SAINT = table("saint_poker-3")


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    return Workspace(tmp_path_factory.mktemp("replays") / "data")


@cache
def play(workspace: Workspace, table: Table) -> StoredMatch:
    """Play a match at a table once for all tests."""
    return play_match(workspace, table)


@pytest.fixture(scope="module")
def site(workspace: Workspace) -> Iterator[str]:
    with served(WebState(workspace.store, ServerSettings(rate=0))) as address:
        yield address


def open_game(tab: Page, site: str, held: StoredMatch, query: str = "") -> None:
    tab.goto(f"{site}/matches/{held.match}/games/0{query}")
    tab.wait_for_selector("#replay[data-ready]")


def step(tab: Page) -> int:
    return int(tab.get_attribute("#replay", "data-step") or -1)


def address(tab: Page) -> str:
    # The URL in the page is current; Playwright's value is updated later.
    return str(tab.evaluate("location.search")).removeprefix("?")


HANDS = page_script("hands")
"""The ranks and suits of the visible face-up cards in each seat's hand."""


def hands(tab: Page) -> dict[int, list[str]]:
    return dict(tab.evaluate(HANDS))


def card_text(card: str) -> str:
    """Return the text that a card shows."""
    if card[0] == "X":
        return "★joker"
    rank = "10" if card[0] == "T" else card[0]
    return rank + {"S": "♠", "H": "♥", "D": "♦", "C": "♣"}[card[1]]


@every_table
def test_a_game_is_stepped_through_by_keys_and_each_seat_sees_its_hand(
    workspace: Workspace, site: str, tab: Page, table: Table
) -> None:
    held = play(workspace, table)
    record = read(results.record(workspace.store, held.match))
    assert record.seed is not None
    lines = list(narration.positions(record.match, record.games[0], record.seed))
    open_game(tab, site, held)
    assert tab.get_attribute("#replay", "data-last") == str(len(lines) - 1)
    seen = pressed_through(tab, 8)
    # Animations would take most of the test's time.
    tab.emulate_media(reduced_motion="reduce")
    seen |= json.loads(tab.evaluate(VISITED, math.ceil(len(lines) / 60)))
    for number, shown in seen.items():
        if lines[int(number)]["actors"]:
            held_now = lines[int(number)]["position"]["hands"]
            expected = [[seat, list(map(card_text, cards))] for seat, cards in enumerate(held_now)]
            assert sorted(shown) == expected, f"step {number}"
    tab.evaluate("go(last - 1)")
    for _ in range(2):
        tab.keyboard.press("ArrowRight")
        assert step(tab) == len(lines) - 1
    keep(tab, f"replay-{table}")
    tab.keyboard.press("r")
    assert step(tab) == 0
    tab.keyboard.press("e")
    tab.keyboard.press("ArrowLeft")
    tab.keyboard.press("t")
    assert step(tab) == len(lines) - 1
    check_views(tab, lines, len(lines) // 2)


Hands = list[list[Any]]
"""The number of each seat with the text of its cards."""


def pressed_through(tab: Page, steps: int) -> dict[str, Hands]:
    """Press the key of the next step; return the visible hands of this number of steps."""
    seen: dict[str, Hands] = {}
    for number in range(steps):
        if number:
            tab.keyboard.press("ArrowRight")
        assert step(tab) == number
        assert address(tab) == f"step={number}&eyes=all"
        seen[str(number)] = tab.evaluate(HANDS)
    return seen


VISITED = f"""(nth) => {{
  const seen = {{}};
  for (let at = Number(replay.dataset.step) + 1; at <= Number(replay.dataset.last); at += nth) {{
    go(at);
    seen[at] = ({HANDS})();
  }}
  return JSON.stringify(seen);
}}"""
"""The visible hands of each n-th of the later steps, as JSON, by number."""


def check_views(tab: Page, lines: Sequence[dict[str, Any]], at: int) -> None:
    """Check that each seat's view of a position shows its hand and the known cards of others."""
    position = lines[at]["position"]
    seats = range(len(position["hands"]))
    known = position.get("known", [[] for _ in seats])
    tab.evaluate("(at) => go(at)", at)
    for seat in seats:
        tab.keyboard.press(str(seat + 1))
        assert address(tab) == f"step={at}&eyes={seat}"
        expected = {
            other: sorted(
                map(card_text, position["hands"][other] if other == seat else known[other])
            )
            for other in seats
        }
        assert {other: sorted(cards) for other, cards in hands(tab).items()} == expected
    tab.keyboard.press("0")
    assert address(tab) == f"step={at}&eyes=all"


OVERFLOW = page_script("overflow")
"""Whether a page is wider than its window, and which cards extend beyond their seats."""


WINDOWS = ((1280, 720), (1920, 1080), (820, 1180), (390, 844))
STEPPED = page_script("stepped")
"""For about a number of steps: both heights, and the table's overflow beyond the window."""


@every_look
def test_the_table_keeps_its_height_and_fits_the_window(
    workspace: Workspace, site: str, tab: Page, table: Table
) -> None:
    held = play(workspace, table)
    # Animations would take most of the test's time.
    tab.emulate_media(reduced_motion="reduce")
    open_game(tab, site, held)
    for number, (width, height) in enumerate(WINDOWS):
        tab.set_viewport_size({"width": width, "height": height})
        # Face-down cards have other widths, so the view of one seat is checked too.
        for eyes in ("all",) if number else ("0", "all"):
            tab.evaluate("(eyes) => changeViewpoint(eyes)", eyes)
            shown = tab.evaluate(STEPPED, 6 if number or eyes != "all" else 24)
            assert len(shown["heights"]) == 1, shown
            assert shown["beside"] <= 0
            assert shown["below"] <= 0
    tab.set_viewport_size({"width": 1400, "height": 900})
    tab.keyboard.press("f")
    tab.evaluate("fit()")
    assert tab.evaluate(BELOW_WINDOW) <= 0
    tab.keyboard.press("f")
    last = int(tab.get_attribute("#replay", "data-last") or 0)
    for width in (1280, 360):
        tab.set_viewport_size({"width": width, "height": 800})
        for at in (0, last // 3, last, last // 2):
            tab.locator("#step").fill(str(at))
            assert tab.evaluate(OVERFLOW) == []


CUT = """() => {
  const [now, slider] = ["now", "step"].map((id) => document.getElementById(id));
  const isCut = (step) => {
    slider.value = step;
    slider.dispatchEvent(new Event("input"));
    return now.scrollHeight > now.clientHeight;
  };
  return [...Array(Number(slider.max) + 1).keys()].filter(isCut);
}"""
"""The steps at which what happened does not fit its line."""


def test_the_controls_have_no_unused_line(workspace: Workspace, site: str, tab: Page) -> None:
    open_game(tab, site, play(workspace, POKE))
    assert tab.evaluate("document.getElementById('now').offsetHeight") < 30
    assert tab.evaluate(CUT) == []


BELOW_WINDOW = """() =>
  document.getElementById("fitted").getBoundingClientRect().bottom - innerHeight"""

SHIFTS = page_script("shifts")


SIZES = ((1440, 900), (1024, 768), (390, 844))


@every_look
def test_the_table_is_seen_whole_before_its_scripts_and_does_not_move(
    workspace: Workspace, site: str, tab: Page, table: Table
) -> None:
    held = play(workspace, table)
    tab.add_init_script(SHIFTS)
    requests: list[Route] = []
    tab.route("**/static/replay_page.js*", lambda route: requests.append(route))
    for width, height in SIZES:
        tab.set_viewport_size({"width": width, "height": height})
        requests.clear()
        with tab.expect_request("**/static/replay_page.js*"):
            tab.goto(f"{site}/matches/{held.match}/games/0", wait_until="commit")
        # The scripts of a page that is not painted in time are requested before its style sheet.
        wait_until(lambda: tab.evaluate(STYLED))
        assert tab.locator(".felt h2").first.is_visible()
        before = tab.evaluate(PLACES)
        assert before["isWhole"], before
        wait_until(lambda: tab.evaluate("true") and requests)
        requests[0].continue_()
        tab.wait_for_selector("#replay[data-ready]")
        tab.evaluate("new Promise((done) => requestAnimationFrame(() => setTimeout(done)))")
        assert tab.evaluate(PLACES) == before
        assert tab.evaluate("window.shifted") < 0.02


DESK, TABLET, PHONE = SIZES


@pytest.mark.parametrize(
    ("page", "sizes"),
    [
        ("", [PHONE]),
        ("matches/{}", [TABLET]),
        ("matches/{}/games/0", [PHONE]),
        ("embed/matches/{}/games/0", [DESK]),
        pytest.param("", [DESK, TABLET], marks=pytest.mark.repetition),
        pytest.param("matches/{}", [DESK, PHONE], marks=pytest.mark.repetition),
        pytest.param("matches/{}/games/0", [DESK, TABLET], marks=pytest.mark.repetition),
        pytest.param("embed/matches/{}/games/0", [TABLET, PHONE], marks=pytest.mark.repetition),
    ],
)
def test_no_page_moves_while_a_slow_machine_parses_it(
    workspace: Workspace, site: str, tab: Page, page: str, sizes: list[tuple[int, int]]
) -> None:
    held = play(workspace, SAINT)
    tab.add_init_script(SHIFTS)
    throttled = tab.context.new_cdp_session(tab)
    throttled.send("Emulation.setCPUThrottlingRate", {"rate": 15})
    for width, height in sizes:
        tab.set_viewport_size({"width": width, "height": height})
        tab.goto(f"{site}/{page.format(held.match)}")
        tab.evaluate("new Promise((done) => requestAnimationFrame(() => setTimeout(done)))")
        assert tab.evaluate("window.shifted") < 0.02


STYLED = "[...document.querySelectorAll('link[rel=stylesheet]')].every((link) => link.sheet)"

PLACES = """() => {
  const [panel, frame, felt] = [".control-panel", "#fitted", ".felt"].map((name) =>
    document.querySelector(name).getBoundingClientRect().toJSON());
  const isWhole = frame.height + panel.height <= innerHeight && felt.height <= frame.height + 1;
  return { panel, frame, felt, isWhole };
}"""


TENS = page_script("tens")
"""The distance between the rank of each ten and the card that covers it."""


def test_a_ten_is_not_covered_by_the_next_card(workspace: Workspace, site: str, tab: Page) -> None:
    open_game(tab, site, play(workspace, POKE))
    for width in (1280, 390):
        tab.set_viewport_size({"width": width, "height": 800})
        spaces = tab.evaluate(TENS)
        assert spaces
        assert min(spaces) >= -1


def test_a_run_of_pokino_is_an_event_and_drawn_on_the_board(
    workspace: Workspace, site: str, tab: Page
) -> None:
    open_game(tab, site, play(workspace, RICHEST[-1]))
    tab.keyboard.press("e")
    last = int(tab.get_attribute("#replay", "data-last") or 0)
    assert 0 < step(tab) < last
    assert "runs" in (tab.locator("#now").text_content() or "")


MOVED = page_script("moved")
"""The position of each animated element."""


def test_cards_move_unless_the_reader_prefers_less_motion(
    workspace: Workspace, site: str, tab: Page
) -> None:
    open_game(tab, site, play(workspace, POKE))
    led = tab.locator("#moves li[data-step]", has_text="leads").first.get_attribute("data-step")
    motions: tuple[Literal["no-preference", "reduce"], ...] = ("no-preference", "reduce")
    for motion in motions:
        tab.emulate_media(reduced_motion=motion)
        tab.locator("#step").fill(str(int(led or 0) - 1))
        # In one call, because a motion is short.
        moved = tab.evaluate(
            f"() => {{ document.getElementById('go-on').click(); return ({MOVED})() }}"
        )
        assert step(tab) == int(led or 0)
        assert ("copy" in moved) == (motion == "no-preference")
        tab.evaluate("settle()")
        assert tab.locator(".moving-copies > *").count() == 0


def test_the_board_of_pokino_shows_the_latest_domino_large_and_can_be_zoomed_and_moved(
    workspace: Workspace, site: str, tab: Page
) -> None:
    pokino = min((t for t in TABLES if t.game.id == "pokino"), key=lambda t: t.seats)
    open_game(tab, site, play(workspace, pokino), "?step=8")
    for width, height in reversed(SIZES):
        tab.set_viewport_size({"width": width, "height": height})
        for at in (8, 30):
            tab.locator("#step").fill(str(at))
            shown = tab.evaluate(DOMINOES)
            assert shown["size"] > 23.9
            assert shown["isLatestSeen"], shown
            assert tab.locator(".overview").is_visible() == shown["isPart"]
        tab.evaluate(LONGER_CHAIN, 4000)
        shown = tab.evaluate(DOMINOES)
        assert shown["size"] > 23.9
        assert shown["isMapInside"], shown
        assert shown["isLatestSeen"], shown
        tab.evaluate(LONGER_CHAIN, -4000)
    board = tab.locator(".layout svg").first
    tab.keyboard.press("r")
    whole = tab.evaluate("whole.join(' ')")
    for _ in range(3):
        tab.keyboard.press("+")
    closer = board.get_attribute("viewBox")
    assert closer != whole
    board.hover()
    tab.mouse.down()
    tab.mouse.move(700, 300)
    tab.mouse.up()
    assert board.get_attribute("viewBox") not in (whole, closer)
    board.dblclick()
    assert (board.get_attribute("viewBox") or "").split() == whole.split()
    tab.locator("#step").fill("30")
    assert tab.evaluate(CHAIN) > 0
    assert tab.evaluate("showBoard(...whole); board.querySelectorAll('use').length") == 0
    # A board that is not laid out has no room for a line.
    assert tab.evaluate("linesOf([{ x: 0, y: 0, width: 77, height: 37 }], 0).length") == 0


CHAIN = """() => {
  isFollowing = true;
  [...board.querySelectorAll("g:not([hidden]) > .tile")].forEach((tile, number) => {
    const place = { x: 80 * number, y: 0, width: 77, height: 37 };
    for (const [name, value] of Object.entries(place)) tile.setAttribute(name, value);
  });
  followBoard();
  return board.querySelectorAll("use").length;
}"""
"""Makes a chain of the dominoes, which needs lines; returns how many follow the first."""


DOMINOES = """() => {
  const box = (node) => node.getBoundingClientRect();
  const tiles = [...board.querySelectorAll("g:not([hidden]) > .tile")].map(box);
  const view = box(board);
  const latest = box(board.querySelector("g:not([hidden]) > .new") ?? board);
  return {
    size: Math.min(...tiles.map(({ width, height }) => Math.min(width, height))),
    isLatestSeen: latest.left >= view.left - 1 && latest.right <= view.right + 1
      && latest.top >= view.top - 1 && latest.bottom <= view.bottom + 1,
    isPart: board.classList.contains("zoomed"),
    isMapInside: box(overview).top >= view.top - 1 && box(overview).bottom <= view.bottom + 1,
  };
}"""


LONGER_CHAIN = """(added) => {
  whole[1] -= added;
  whole[3] += added;
  overview.setAttribute("viewBox", whole.join(" "));
  overview.setAttribute("height", whole[3]);
  followBoard();
}"""
"""Makes the board as much higher as more dominoes do: 80 units for each."""


def test_the_graph_leads_to_positions_and_can_hide_the_later_ones(
    workspace: Workspace, site: str, tab: Page
) -> None:
    open_game(tab, site, play(workspace, POKE))
    last = int(tab.get_attribute("#replay", "data-last") or 0)
    box = tab.locator(".graph svg").bounding_box()
    assert box is not None
    tab.mouse.click(box["x"] + box["width"] / 2, box["y"] + 10)
    assert abs(step(tab) - last / 2) <= 1
    assert tab.get_attribute(".graph .ahead", "x") == str(step(tab))
    assert tab.evaluate(OPACITY) < 1
    tab.locator(".beneath [data-hide-results]").click()
    assert tab.evaluate(OPACITY) == 1


OPACITY = "() => Number(getComputedStyle(document.querySelector('.graph .ahead')).opacity)"
"""Opacity of the part that covers the running score after the shown position."""


@pytest.mark.parametrize("has_script", [True, False])
def test_an_analysis_is_drawn_and_its_swing_leads_to_a_position(
    workspace: Workspace, site: str, browser: Browser, has_script: bool
) -> None:
    held = play_match(workspace, POKE)
    store_analysis(workspace.store, held.match)
    context = browser.new_context(java_script_enabled=has_script)
    context.set_default_timeout(PATIENCE_MS)
    tab = context.new_page()
    tab.goto(f"{site}/matches/{held.match}/games/0")
    if has_script:
        tab.wait_for_selector("#replay[data-ready]")
    assert tab.locator(".graph:visible polyline").count() == 4
    assert tab.locator(".graph:visible polygon").count() == 2
    assert tab.locator("#accuracy tbody tr").count() == 2
    tab.click("#swings a")
    tab.wait_for_url("**eyes=all")
    here = tab.get_attribute(".swing", "d")
    assert here == f"M{tab.get_attribute('#replay', 'data-step')} 0V100"
    shown = [tab.locator(".odds:visible b").first.text_content()]
    for seat in (0, 1):
        tab.click(f".eyes [data-eyes='{seat}']")
        tab.wait_for_url(f"**eyes={seat}")
        shown.append(tab.locator(".odds:visible b").first.text_content())
        assert tab.locator(".swing:visible").count() == 0
    # Each seat's view has the figures of its own knowledge.
    assert shown == ["90 %", "60 %", "30 %"]
    tab.click(".eyes [data-eyes='all']")
    tab.wait_for_url("**eyes=all")
    keep(tab, f"replay-analysis-{'script' if has_script else 'plain'}")
    if has_script:
        tab.locator(".beneath [data-hide-results]").click()
        assert not tab.locator("#accuracy").is_visible()
        assert not tab.locator("#swings").is_visible()
        assert not tab.locator(".swing").first.is_visible()
    context.close()


def test_autoplay_runs_until_it_is_stopped(workspace: Workspace, site: str, tab: Page) -> None:
    tab.clock.install()
    open_game(tab, site, play(workspace, POKE))
    tab.select_option("#speed select", "200")
    tab.keyboard.press("k")
    tab.clock.run_for(1000)
    assert step(tab) > 2
    tab.keyboard.press("k")
    stopped = step(tab)
    tab.clock.run_for(1000)
    assert step(tab) == stopped
    assert tab.get_attribute("#play", "aria-label") == "play"


def test_keys_can_be_listed_and_switched_off(workspace: Workspace, site: str, tab: Page) -> None:
    held = play(workspace, POKE)
    open_game(tab, site, held)
    tab.keyboard.press("f")
    assert not tab.locator(".moves").is_visible()
    tab.keyboard.press("f")
    assert tab.locator(".moves").is_visible()
    tab.keyboard.press("?")
    assert tab.locator("dialog[open] h2").text_content() == "Keys"
    tab.uncheck("#keys-on")
    tab.keyboard.press("Escape")
    tab.keyboard.press("l")
    assert step(tab) == 0
    open_game(tab, site, held)
    tab.keyboard.press("l")
    assert step(tab) == 0
    tab.click("#go-on")
    assert step(tab) == 1


IN_LIST = page_script("in_list")


def test_the_slider_and_the_list_lead_to_positions(
    workspace: Workspace, site: str, tab: Page
) -> None:
    open_game(tab, site, play(workspace, SAINT))
    tab.locator("#step").fill("7")
    assert step(tab) == 7
    assert tab.locator("#moves li.here > a").text_content() == "7"
    tab.keyboard.press("t")
    assert tab.evaluate(IN_LIST)
    tab.locator("#moves li[data-step='3'] > a").click()
    assert step(tab) == 3
    text = tab.locator("#now").text_content() or ""
    assert text.startswith(f"3 of {tab.get_attribute('#replay', 'data-last')}")
    assert "picks up" in text
    tab.focus("#step")
    tab.keyboard.press("ArrowRight")
    assert step(tab) == 4


def test_a_replay_works_without_javascript(
    workspace: Workspace, site: str, tab_without_scripts: Page
) -> None:
    held = play(workspace, SAINT)
    tab = tab_without_scripts
    tab.goto(f"{site}/matches/{held.match}/games/0")
    assert len(hands(tab)[0]) == 10
    tab.click("#go-on")
    tab.wait_for_url("**step=1&eyes=all")
    assert len(hands(tab)[0]) == 9
    tab.click(".eyes a >> nth=2")
    tab.wait_for_url("**step=1&eyes=1")
    assert [len(hands(tab)[seat]) for seat in (0, 1)] == [0, 9]


def test_an_embedded_replay_works_in_another_site(
    workspace: Workspace, site: str, context: BrowserContext, tab: Page
) -> None:
    held = play(workspace, POKE)
    source = f"{site}/embed/matches/{held.match}/games/0?step=2"
    context.route(
        "http://localhost:8765/",
        lambda route: route.fulfill(
            body=f'<!DOCTYPE html><iframe src="{source}" width="720" height="600"></iframe>',
            content_type="text/html",
        ),
    )
    tab.goto("http://localhost:8765/")
    frame = tab.frame_locator("iframe")
    # Before the table is laid out, it takes the height of the frame.
    frame.locator(".felt").wait_for()
    document = frame.locator("html")
    assert document.evaluate("(root) => root.scrollHeight <= innerHeight")
    frame.locator("#go-on").click()
    expect(frame.locator("#replay")).to_have_attribute("data-step", "3")
