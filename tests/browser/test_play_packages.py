"""A person plays games of packages in a browser: without re-deals, with chance, simultaneous."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from arena.cli.workspace import Workspace
from arena.web.data.web_state import ServerSettings, WebState
from referee.games.game_packages import SETTING
from tests.arena.web.page_server import served
from tests.browser.conftest import keep
from tests.browser.test_play import (
    DESKTOP,
    WHOLE,
    begun,
    check_replay,
    play,
    play_without_scripts,
    playing,
    select_on_the_table,
)
from tests.game_package import installed_packages
from tests.sample_games.installation import SAMPLES, TIC_TAC_TOE, install_package

pytestmark = [pytest.mark.long, pytest.mark.timeout(300)]
PACKAGES = (TIC_TAC_TOE, SAMPLES / "goofspiel", SAMPLES / "high_card")
folder = pytest.fixture(installed_packages)


@pytest.fixture
def site(folder: Path, workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The address of an arena whose organiser allows the packages."""
    names = [install_package(folder, package) for package in PACKAGES]
    monkeypatch.setenv(SETTING, " ".join(names))
    monkeypatch.setenv("PYTHONPATH", str(folder))  # for the referee
    settings = ServerSettings(rate=0, data=workspace.folder.root, loopback=True)
    with served(WebState(workspace.store, settings)) as address:
        yield address


@pytest.mark.parametrize("game", [package.name for package in PACKAGES])
def test_a_person_plays_a_game_of_a_package(
    browser: Browser, site: str, workspace: Workspace, game: str
) -> None:
    with playing(browser, DESKTOP) as tab:
        pages = begun(tab, site, game)
        keep(tab, f"play-package-{game}")
        # Actions without elements on the table are shown once.
        plain = tab.locator(".plain button:visible").count()
        assert not plain or not tab.locator(".choices button:visible").count()
        pieces = tab.locator("#play-board .felt :is(.card, .dom, .layout)").count()
        assert tab.locator("#play-board .legend").count() == bool(pieces)
        position = tab.locator("#play-board :is(.card, .dom, .score-table)").first.bounding_box()
        assert position is not None
        assert position["y"] + position["height"] < DESKTOP[1]
        assert play(tab, lambda chance: select_on_the_table(tab, chance, DESKTOP), WHOLE) >= 1
        assert pages == []
        check_replay(tab, workspace, game)


@pytest.mark.parametrize(
    "game",
    [
        pytest.param("tic_tac_toe", marks=pytest.mark.repetition),
        "goofspiel",
        pytest.param("high_card", marks=pytest.mark.repetition),
    ],
)
def test_a_person_plays_a_game_of_a_package_without_scripts(
    tab_without_scripts: Page, site: str, workspace: Workspace, game: str
) -> None:
    play_without_scripts(tab_without_scripts, site, game)
    check_replay(tab_without_scripts, workspace, game)
