"""Scripts of pages below a path of a proxy request only addresses below it."""

from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page

from arena.cli.workspace import Workspace
from arena.web.data.web_state import ServerSettings, WebState
from tests.arena.web.closed_matches import play, table
from tests.arena.web.page_server import served
from tests.browser.test_play import begin, wait_for_script

pytestmark = [pytest.mark.long, pytest.mark.timeout(300)]


def test_scripts_stay_below_the_root_path(tab: Page, tmp_path: Path) -> None:
    workspace = Workspace(tmp_path / "data")
    stored = play(workspace, table("poke-2-must_beat=true"))
    game = f"/arena/matches/{stored.match}/games/0"
    requested: set[str] = set()
    tab.on("request", lambda request: requested.add(urlsplit(request.url).path))
    settings = ServerSettings(rate=0, data=workspace.folder.root, loopback=True, root_path="/arena")
    with served(WebState(workspace.store, settings)) as origin:
        for page in ("", "/", "/ladders/poke", f"/tournaments/{stored.tournament}"):
            tab.goto(f"{origin}/arena{page}")
            tab.wait_for_function("() => document.querySelector('script[src]')")
        tab.goto(origin + game)
        tab.wait_for_selector("#replay[data-ready]")
        tab.keyboard.press("ArrowRight")
        tab.wait_for_function("() => location.search.includes('step=1')")
        assert f'src="{origin}/arena/embed/' in (tab.text_content("#embed") or "")
        begin(tab, f"{origin}/arena", "poke")
        wait_for_script(tab)
        tab.locator("button[name=action]").first.click()
        tab.wait_for_function("() => document.querySelector('ol.played li')")
    assert {path for path in requested if not path.startswith("/arena")} == set()
    scripts = {Path(path).name for path in requested if path.endswith(".js")}
    assert scripts >= {"live.js", "follow.js", "play.js", "replay_page.js"}
    assert any(path.startswith("/arena/live/play/tables/") for path in requested)
