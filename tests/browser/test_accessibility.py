"""Accessibility of every page: axe-core reports no violation, and no page is wider than a phone.

axe-core comes from the npm registry: POKEARENA_AXE is the path of axe.min.js (`.ci/run` installs
it).
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import cycle
from typing import Any, Literal

import pytest
from playwright.sync_api import BrowserContext, Page, ViewportSize

from arena.cli.workspace import Workspace
from arena.web.data.web_state import ServerSettings, WebState
from arena.web.openapi import Samples, names, plain
from arena.web.pages.play import prepared
from arena.web.routes import PAGES
from tests.arena.cli.stored_tournament import store_tournament
from tests.arena.stored_analysis import store_analysis
from tests.arena.web.closed_matches import StoredMatch, play, table
from tests.arena.web.page_server import served
from tests.arena.web.stored_submissions import add_submission
from tests.browser.conftest import keep

pytestmark = [pytest.mark.long, pytest.mark.timeout(600)]

RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
FURTHER = [
    "empty-table-header",
    "label-content-name-mismatch",
    "landmark-unique",
    "link-in-text-block",
]
"""Rules without such a tag, or experimental ones."""
RUN = f"""async () => {{
  const tagged = axe.getRules({RULES}).map((rule) => rule.ruleId);
  const chosen = {{ type: "rule", values: [...tagged, ...{FURTHER}] }};
  const found = await axe.run(document, {{ runOnly: chosen, resultTypes: ["violations"] }});
  if (!found.passes.length) throw new Error("no rule passed");
  return found.violations.map((rule) => ({{ id: rule.id, impact: rule.impact,
    nodes: rule.nodes.map((node) => node.html.slice(0, 160) + " | " + node.failureSummary) }}));
}}"""
"""The violations in a page; axe-core looks no further at what passes."""
UNFOLD = "() => document.querySelectorAll('details').forEach((each) => { each.open = true; })"
WIDE = "() => document.scrollingElement.scrollWidth - document.documentElement.clientWidth"


@dataclass(frozen=True)
class ArenaPages:
    """Paths of the pages to check, by name; every kind of event has occurred in the arena."""

    address: str
    pages: dict[str, str]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ArenaPages]:
    workspace = Workspace(tmp_path_factory.mktemp("site") / "data")
    store_tournament(workspace, ["ada", "bob", "cy"], {}, boards=2)
    closed = play(workspace, table("poke-2-must_beat=true"))
    store_analysis(workspace.store, closed.match)
    running = play(
        workspace,
        table("pokino-2-greed=false-pokino_up=false-tear_down_the_walls=false-territory=false"),
        boards=2,
        close=False,
    )
    add_submission(workspace)
    settings = ServerSettings(rate=0, data=workspace.folder.root, play=True)
    web = WebState(workspace.store, settings)
    with served(web) as address:
        tables = {f"table-{game}": seated(web, game) for game in ("pokex", "pokino")}
        yield ArenaPages(address, {**pages(web, closed, running), **tables})


def seated(web: WebState, game: str) -> str:
    """Return the path of a table at which it is a person's turn."""
    table = web.play_tables.open(prepared(web, game, {}), "127.0.0.1", {})
    table.await_turn(60)
    return f"/play/tables/{table.id}"


def pages(web: WebState, closed: StoredMatch, running: StoredMatch) -> dict[str, str]:
    """Return a path of every page by the name of its screenshot."""
    paths = {"error": "/nowhere", "match-open": f"/matches/{running.match}"}
    samples = Samples(web)
    for each in PAGES:
        if "html" not in each.kinds:
            continue
        path = plain(each.path)
        values = dict(samples.values(each) or {})
        if "/matches/" in path:
            values["id"] = closed.match
        assert set(values) == set(names(each.path)), path
        for name, value in values.items():
            path = path.replace(f"{{{name}}}", value)
        query = "&".join(f"{name}={value}" for name, value in samples.query(each).items())
        name = plain(each.path).strip("/").replace("/", "-").replace("{", "").replace("}", "")
        paths[name or "home"] = path + (f"?{query}" if query else "")
    return paths


def opened(page: Page, address: str) -> None:
    """Open a page; return when its table, if it has one, is laid out."""
    page.goto(address, wait_until="load")
    if page.locator("#fitted").count():
        page.wait_for_selector("#replay[data-ready]")


@dataclass(frozen=True)
class Look:
    """The colours and the window size of a check."""

    colours: Literal["light", "dark"]
    width: int
    height: int

    def window(self) -> ViewportSize:
        return {"width": self.width, "height": self.height}


LOOKS = (
    Look("light", 1400, 900),
    Look("dark", 390, 844),
    Look("dark", 1400, 900),
    Look("light", 390, 844),
    Look("light", 1920, 1080),
    Look("dark", 1920, 1080),
)
in_every_look = pytest.mark.parametrize(
    "looks",
    [
        pytest.param(LOOKS[:2], id="in turn"),
        *(pytest.param((look,), id=str(look), marks=pytest.mark.repetition) for look in LOOKS),
    ],
)
"""CI checks each page in one of two looks, in turn; scripts/release-check in all of them."""


def check_pages(
    page: Page, site: str, paths: dict[str, str], looks: Sequence[Look], axe: str
) -> None:
    """Check each page with axe-core in one of the looks, in turn, and its width in all windows."""
    wrong: dict[str, Any] = {}
    for (name, path), look in zip(paths.items(), cycle(looks), strict=False):
        page.emulate_media(color_scheme=look.colours, reduced_motion="reduce")
        page.set_viewport_size(look.window())
        opened(page, site + path)
        page.evaluate(UNFOLD)
        keep(page, f"{name}-{look.width}-{look.colours}")
        page.evaluate(axe)
        if faults := page.evaluate(RUN) + too_wide(page):
            wrong[path] = faults
    assert not wrong, json.dumps(wrong, indent=1)


def too_wide(page: Page) -> list[str]:
    """Return the window sizes in which an open page is wider than its window."""
    faults = []
    for look in LOOKS[:2] + LOOKS[-1:]:
        page.set_viewport_size(look.window())
        if (pixels := page.evaluate(WIDE)) > 0:
            faults.append(f"{pixels} px too wide with {look.width} px")
    return faults


@in_every_look
def test_every_page_passes_the_accessibility_checks(
    context: BrowserContext, site: ArenaPages, axe: str, looks: Sequence[Look]
) -> None:
    check_pages(context.new_page(), site.address, site.pages, looks, axe)


def test_the_navigation_of_a_phone_takes_one_row(tab: Page, site: ArenaPages) -> None:
    tab.goto(f"{site.address}/games", wait_until="load")
    for width in (360, 390):
        tab.set_viewport_size({"width": width, "height": 844})
        tops = [link.bounding_box() for link in tab.locator(".top nav a").all()]
        assert len(tops) == 7
        assert len({box["y"] for box in tops if box is not None}) == 1
