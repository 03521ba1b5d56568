"""Debian's Chromium, driven by Playwright: pages as people see them."""

import gzip
import os
import shutil
import urllib.request
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from arena.cli.workspace import Workspace

ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    # Pages of the test's site may load pages of this machine.
    "--disable-features=LocalNetworkAccessChecks",
)
SHOTS = "POKEARENA_SHOTS"
"""A directory for screenshots; without it, none are made."""
PATIENCE_MS = 120_000
PAGE_BYTES = 60_000
"""Budget of a page with its scripts and styles, compressed."""
expect.set_options(timeout=PATIENCE_MS)


@pytest.fixture(scope="session", autouse=True)
def ladders_are_rated_at_once() -> Iterator[None]:
    """Rate with each snapshot: no service of the tested arenas does."""
    from arena.web.data import snapshot

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(snapshot, "RATE_AFTER_SECONDS", 0.0)
        yield


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Start Chromium; fail in CI if it is not installed.

    Playwright keeps an event loop running in the thread, in which `asyncio.run` of tests in other
    files would fail. Therefore each test module has its own browser.
    """
    program = shutil.which("chromium")
    if program is None:
        if os.environ.get("CI"):
            pytest.fail("chromium is not installed, and in CI nothing is skipped")
        pytest.skip("chromium is not installed (apt-get install chromium)")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=list(ARGUMENTS))
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def axe() -> str:
    """Return the source of axe-core; fail in CI if it is not configured."""
    named = os.environ.get("POKEARENA_AXE", "")
    if not named and os.environ.get("CI"):
        pytest.fail("POKEARENA_AXE is not set, and in CI nothing is skipped")
    if not named:
        pytest.skip("POKEARENA_AXE names no axe.min.js (npm install axe-core)")
    return Path(named).read_text()


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return Workspace(tmp_path / "data")


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    """Return a window of desktop size with the light theme."""
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    context.set_default_timeout(PATIENCE_MS)
    yield context
    context.close()


@pytest.fixture
def tab_without_scripts(browser: Browser) -> Iterator[Page]:
    """Return a tab of a browser in which JavaScript is switched off."""
    context = browser.new_context(java_script_enabled=False)
    context.set_default_timeout(PATIENCE_MS)
    yield context.new_page()
    context.close()


@pytest.fixture
def tab(context: BrowserContext) -> Iterator[Page]:
    """Return a tab; fail on errors of scripts and violations of the content security policy."""
    page = context.new_page()
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on(
        "console",
        lambda message: complaints.append(message.text) if message.type == "error" else None,
    )
    yield page
    assert complaints == []


def keep(page: Page, name: str) -> None:
    """Save a screenshot of the whole page if POKEARENA_SHOTS is set."""
    folder = os.environ.get(SHOTS)
    if folder:
        Path(folder).mkdir(parents=True, exist_ok=True)
        page.screenshot(path=Path(folder, f"{name}.png"), full_page=True)


def compressed_bytes(addresses: Iterable[str]) -> int:
    """Return the size of the contents of addresses, without those of live updates."""
    total = 0
    for address in addresses:
        if "/live/" in address:
            continue
        with urllib.request.urlopen(address) as answer:
            total += len(gzip.compress(answer.read(), 5))
    return total
