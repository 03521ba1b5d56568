"""Live tables side by side with running clocks, the featured replay, and hidden results."""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from google.protobuf.json_format import MessageToDict
from playwright.sync_api import Browser, Page
from pokearena.v1 import bot_pb2

from arena.presentation import wording
from arena.store.events.messages import Position
from arena.store.matches import listing
from arena.store.matches.listing import Match
from arena.web.data.web_state import ServerSettings, WebState
from referee.games.contract import Game, State
from referee.games.registry import GAMES, find_game
from referee.games.shared.dealing import Seeded
from referee.replay import codec_of
from tests.arena.records.bundle.simulated_arena import SimulatedArena
from tests.arena.web.page_server import served
from tests.browser.conftest import PAGE_BYTES, PATIENCE_MS, compressed_bytes, keep

pytestmark = [pytest.mark.long, pytest.mark.timeout(300)]

BANK_MS = 600_000
"""Bank of the seats of a position; longer than a busy machine needs to load the page."""

SCREENS = ((1440, 900), (1280, 720), (390, 844))
OVERLAY = (1920, 1080)
BELOW_WINDOW = """() =>
  document.querySelector(".felt").getBoundingClientRect().bottom + scrollY - innerHeight"""

BELOW_FRAME = """() => {
  const frame = document.querySelector(".live-table");
  return frame.scrollHeight - frame.clientHeight;
}"""

SMALLEST_DOMINO = 24
SHORT_SIDES = """(tiles) => tiles.map((tile) => tile.getBoundingClientRect())
  .map(({width, height}) => Math.min(width, height))"""
LATEST_IS_SHOWN = """() => {
  const piece = document.querySelector(".layout g > .new")?.getBoundingClientRect();
  const board = document.querySelector(".layout").getBoundingClientRect();
  return !piece || (piece.left >= board.left && piece.right <= board.right
    && piece.top >= board.top && piece.bottom <= board.bottom);
}"""
"""Whether the latest piece is within the shown part of the board."""


@dataclass(frozen=True)
class Site:
    """An arena with one closed tournament."""

    address: str
    match: str


@pytest.fixture
def simulated_arena(tmp_path: Path) -> Iterator[SimulatedArena]:
    made = SimulatedArena(tmp_path)
    yield made
    made.engine.dispose()


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    arena = SimulatedArena(tmp_path_factory.mktemp("closed"))
    tournament = arena.play_out(arena.begin("round-robin", arena.bots(2), boards=2))
    (match,) = listing.matches(arena.engine, tournament=tournament.id)
    with served(WebState(arena.engine, ServerSettings(rate=0))) as address:
        yield Site(address, match.id)
    arena.engine.dispose()


def position(match: Match, number: int, game: Game, state: State) -> Position:
    """Return the position of the only table of a match after this number of decisions."""
    view = MessageToDict(bot_pb2.View.FromString(codec_of(game).view(state.public())))
    seats = len(state.scores)
    seating = tuple(match.entrants[side] for side in game.sides(seats, game.settle({})))
    banks = (BANK_MS,) * seats
    return Position(match.id, 0, 0, 0, number, tuple(state.actors), seating, view, banks)


def running_match(arena: SimulatedArena, game: Game, seats: int) -> Match:
    """Begin a match of two boards, and play its first game."""
    names = arena.bots(seats)
    tournament = arena.begin("round-robin", names, game=game.id, seats=seats, boards=2)
    match, *_ = listing.matches(arena.engine, tournament=tournament.id)
    arena.play(match.id, 1)
    return match


def test_clocks_of_live_tables_count_down(tab: Page, simulated_arena: SimulatedArena) -> None:
    web = WebState(simulated_arena.engine, ServerSettings(rate=0))
    names = simulated_arena.bots(3)
    tournament = simulated_arena.begin("round-robin", names, boards=2)
    game = find_game("poke")
    state = game.start(Seeded(bytes(32)), 2, game.settle({}))
    view = MessageToDict(bot_pb2.View.FromString(codec_of(game).view(state.public())))
    every = listing.matches(simulated_arena.engine, tournament=tournament.id)[:2]
    for listed in every:
        simulated_arena.play(listed.id, 1)
        at_table = Position(
            listed.id, 1, 2, 0, 0, tuple(state.actors), listed.entrants, view, (BANK_MS, BANK_MS)
        )
        web.events.receive(at_table, 0.0)
    with served(web) as address:
        tab.goto(f"{address}/live")
        assert tab.locator(".place").count() == 2
        assert tab.locator(".place .felt").count() == 1
        assert tab.locator(".clock").count() == 4
        running = "() => document.querySelector('.clock.runs').textContent"
        first = tab.evaluate(running)
        tab.wait_for_function(f"(first) => ({running})() !== first", arg=first)
        keep(tab, "live-tables")
        waiting = tab.locator(".clock:not(.runs)").first.text_content()
        assert waiting == wording.clock(BANK_MS)


@pytest.mark.parametrize("game", list(GAMES.values()), ids=list(GAMES))
def test_a_live_table_keeps_its_height(
    tab: Page, simulated_arena: SimulatedArena, game: Game
) -> None:
    web = WebState(simulated_arena.engine, ServerSettings(rate=0))
    seats = min(game.seats)
    match = running_match(simulated_arena, game, seats)
    states = random_game(game, seats)
    heights: dict[int, dict[int, int]] = {width: {} for width in (1280, 390)}
    with served(web) as address:
        for number, state in enumerate([*states[::2], states[-1]], 1):
            web.events.receive(position(match, number, game, state), 0.0)
            if number == 1:
                tab.goto(f"{address}/matches/{match.id}")
            wait_for_decision(tab, number)
            for width in heights:
                resize(tab, (width, 800))
                height = tab.evaluate("document.getElementById('match-table').offsetHeight")
                heights[width][number] = height
                assert tab.evaluate(BELOW_FRAME) <= 1, (width, number)
    for at_width in heights.values():
        assert len(set(at_width.values())) == 1, heights


@pytest.mark.parametrize(
    ("game", "seats"),
    [
        pytest.param(game, seats, marks=() if seats == max(game.seats) else pytest.mark.repetition)
        for game in GAMES.values()
        for seats in sorted({min(game.seats), max(game.seats)})
    ],
    ids=lambda value: value.id if isinstance(value, Game) else str(value),
)
def test_a_live_table_is_seen_whole_on_the_first_screen(
    tab: Page, simulated_arena: SimulatedArena, game: Game, seats: int
) -> None:
    web = WebState(simulated_arena.engine, ServerSettings(rate=0))
    match = running_match(simulated_arena, game, seats)
    web.events.receive(position(match, 1, game, random_game(game, seats)[-3]), 0.0)
    with served(web) as address:
        for path in (f"matches/{match.id}", "live", "embed/live", "embed/overlay"):
            tab.goto(f"{address}/{path}")
            tab.wait_for_selector(".felt")
            for size in (OVERLAY,) if path == "embed/overlay" else SCREENS:
                resize(tab, size)
                assert tab.evaluate(BELOW_WINDOW) <= 0, (path, size)


def wait_for_decision(tab: Page, number: int) -> None:
    tab.locator(f"#match-table [data-decision='{number}']").wait_for(timeout=PATIENCE_MS)


def test_dominoes_of_a_live_board_are_large_enough_on_a_phone(
    tab: Page, simulated_arena: SimulatedArena
) -> None:
    web = WebState(simulated_arena.engine, ServerSettings(rate=0))
    game = find_game("pokino")
    match = running_match(simulated_arena, game, 2)
    with served(web) as address:
        for number, state in enumerate(random_game(game, 2)[-4:-1], 1):
            web.events.receive(position(match, number, game, state), 0.0)
            if number == 1:
                tab.set_viewport_size({"width": 390, "height": 844})
                tab.goto(f"{address}/matches/{match.id}")
            wait_for_decision(tab, number)
            sides = tab.eval_on_selector_all(".layout .tile", SHORT_SIDES)
            assert min(sides) > SMALLEST_DOMINO - 0.1
            assert tab.locator(".layout .overview").count() == 1
            assert tab.evaluate(LATEST_IS_SHOWN)
        assert tab.evaluate(MAP_IS_INSIDE_OF_A_LONG_BOARD)


MAP_IS_INSIDE_OF_A_LONG_BOARD = """() => {
  const board = document.querySelector(".layout svg");
  const [left, top, width] = board.dataset.whole.split(" ");
  board.dataset.whole = `${left} ${top} ${width} 4000`;
  board.setAttribute("height", 4000);
  dispatchEvent(new Event("resize"));
  const [view, map] = document.querySelectorAll(".layout svg");
  const [inside, outside] = [map, view].map((node) => node.getBoundingClientRect());
  return inside.top >= outside.top - 1 && inside.bottom <= outside.bottom + 1;
}"""


def resize(tab: Page, size: tuple[int, int]) -> None:
    """Resize the window and wait until its page has been laid out for it."""
    tab.set_viewport_size({"width": size[0], "height": size[1]})
    tab.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


def random_game(game: Game, seats: int) -> list[State]:
    """Return up to 11 positions of a random game, evenly spaced, with its first and last ones."""
    rng = random.Random(f"live table of {game.id}")
    states = [game.start(Seeded(rng.randbytes(32)), seats)]
    while states[-1].actors:
        state = states[-1]
        states.append(state.play({seat: state.legal(seat).any(rng) for seat in state.actors}))
    return [*states[:: len(states) // 9 + 1], states[-1]]


def test_a_replay_plays_on_the_home_page_when_nothing_is_live(tab: Page, site: Site) -> None:
    addresses: set[str] = set()
    tab.on("request", lambda request: addresses.add(request.url))
    tab.goto(site.address)
    frame = tab.frame_locator(".featured iframe")
    frame.locator("#replay:not([data-step='0'])").wait_for()
    keep(tab, "home-featured")
    assert f"/matches/{site.match}/games/" in str(
        tab.locator(".featured h2 a").get_attribute("href")
    )
    assert compressed_bytes(addresses) < PAGE_BYTES


def test_the_featured_replay_stands_still_without_motion(browser: Browser, site: Site) -> None:
    context = browser.new_context(reduced_motion="reduce")
    context.set_default_timeout(PATIENCE_MS)
    page = context.new_page()
    page.goto(site.address)
    frame = page.frame_locator(".featured iframe")
    frame.locator("#play:visible").wait_for()
    assert frame.locator("#play").get_attribute("aria-label") == "play"
    context.close()


def test_hidden_results_are_remembered_and_can_be_shown(tab: Page, site: Site) -> None:
    tab.goto(site.address)
    button = tab.locator("[data-hide-results]").first
    won = tab.locator(".won").first
    assert won.is_visible()
    button.click()
    assert button.get_attribute("aria-pressed") == "true"
    assert not won.is_visible()
    keep(tab, "home-hidden-results")
    tab.goto(f"{site.address}/matches/{site.match}")
    assert not tab.locator(".sides").is_visible()
    assert not tab.locator(".boards .score").first.is_visible()
    tab.get_by_role("button", name="Show the result").click()
    assert tab.locator(".sides").is_visible()
    tab.goto(f"{site.address}/matches/{site.match}/games/0")
    tab.locator("#play:visible").wait_for()
    assert not tab.locator(".moves li.here ~ li").first.is_visible()
    tab.keyboard.press("t")
    assert tab.locator(".moves li").first.is_visible()
    assert tab.locator(".result").is_visible()
    tab.locator("[data-hide-results]").first.click()
    tab.goto(site.address)
    assert won.is_visible()


def test_without_javascript_nothing_is_hidden(tab_without_scripts: Page, site: Site) -> None:
    page = tab_without_scripts
    page.goto(f"{site.address}/matches/{site.match}")
    assert page.locator(".sides").is_visible()
    assert not page.locator("[data-hide-results]").first.is_visible()
