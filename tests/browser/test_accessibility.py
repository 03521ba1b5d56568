"""Accessibility of every page: axe-core reports no violation, and no page is wider than a phone.

axe-core comes from the npm registry: POKEARENA_AXE is the path of axe.min.js (`.ci/run` installs
it).
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import pytest
from playwright.sync_api import Browser, BrowserContext, Page

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
from tests.browser.conftest import PATIENCE_MS, keep

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
  const found = await axe.run(document, {{ runOnly: chosen }});
  const listed = (list) => list.map((rule) => ({{ id: rule.id, impact: rule.impact,
    nodes: rule.nodes.map((node) => node.html.slice(0, 160) + " | " + node.failureSummary) }}));
  return {{ violations: listed(found.violations), passes: found.passes.length }};
}}"""
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


def opened(context: BrowserContext, address: str) -> Page:
    """Open a page; return when its table, if it has one, is laid out."""
    page = context.new_page()
    page.goto(address, wait_until="load")
    if page.locator("#fitted").count():
        page.wait_for_selector("#replay[data-ready]")
    return page


def findings(page: Page, axe: str) -> dict[str, Any]:
    page.evaluate(axe)
    violations: dict[str, Any] = page.evaluate(RUN)
    return violations


Colours = Literal["light", "dark"]
Size = tuple[int, int]
CHECKED: list[tuple[Colours, Size]] = [("light", (1400, 900)), ("dark", (390, 844))]
"""Colours and window sizes in which CI runs axe-core on every page."""
OTHERS: list[tuple[Colours, Size]] = [
    ("dark", (1400, 900)),
    ("light", (390, 844)),
    ("light", (1920, 1080)),
    ("dark", (1920, 1080)),
]
"""Those in which CI only measures widths; scripts/release-check runs axe-core there too."""


@pytest.mark.parametrize(
    ("colours", "size"),
    [*CHECKED, *(pytest.param(*each, marks=pytest.mark.repetition) for each in OTHERS)],
)
def test_every_page_passes_the_accessibility_checks(
    browser: Browser,
    site: ArenaPages,
    axe: str,
    colours: Colours,
    size: Size,
) -> None:
    width, height = size
    context = browser.new_context(
        viewport={"width": width, "height": height}, color_scheme=colours, reduced_motion="reduce"
    )
    context.set_default_timeout(PATIENCE_MS)
    wrong: dict[str, Any] = {}
    passed = 0
    for name, path in site.pages.items():
        page = opened(context, site.address + path)
        keep(page, f"{name}-{width}-{colours}")
        violations = findings(page, axe)
        passed += violations["passes"]
        too_wide = page.evaluate(WIDE)
        if violations["violations"] or too_wide > 0:
            wrong[path] = violations["violations"] + [f"{too_wide} px too wide"] * (too_wide > 0)
        elif others := too_wide_in_other_windows(page):
            wrong[path] = others
        page.close()
    context.close()
    print(
        f"{len(site.pages)} pages, {width} px, {colours}: {passed} rules passed, {len(wrong)} bad"
    )
    assert not wrong, json.dumps(wrong, indent=1)


def too_wide_in_other_windows(page: Page) -> list[str]:
    """Return the colours and sizes of `OTHERS` in which an open page is wider than its window."""
    too_wide = []
    for colours, (width, height) in OTHERS:
        page.emulate_media(color_scheme=colours)
        page.set_viewport_size({"width": width, "height": height})
        if (pixels := page.evaluate(WIDE)) > 0:
            too_wide.append(f"{pixels} px too wide with {width} px, {colours}")
    return too_wide


@pytest.mark.parametrize("width", [360, 390])
def test_the_navigation_of_a_phone_takes_one_row(
    browser: Browser, site: ArenaPages, width: int
) -> None:
    context = browser.new_context(viewport={"width": width, "height": 844})
    page = context.new_page()
    page.goto(site.address, wait_until="load")
    tops = [link.bounding_box() for link in page.locator(".top nav a").all()]
    assert len(tops) == 7
    assert len({box["y"] for box in tops if box is not None}) == 1
    context.close()
