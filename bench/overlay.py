"""Measure how far the overlay of a stream is behind its table, in Chromium.

    uv run python -m bench.overlay [--seconds 20]

An arena plays a match of two house bots. Chromium shows `/embed/overlay` at 1920 x 1080. Each time
the page has changed and was painted, it reports the time since the web server received the position
that it shows. Positions that follow each other faster than the page is updated are not shown.

Before, a client without a browser watches the live table for the same time, alternating with no
watcher: the games per second show what rendering and the win probability cost the tables.
"""

import argparse
import asyncio
import shutil
from collections.abc import Iterator
from typing import Final

from arena.bots import resolver
from arena.services.local import Services
from arena.services.web_process import Pages, listen
from bench import house_bot_tournament
from bench.arguments import at_least
from bench.figure import Figure, FigureTarget, figure_text, left_out
from bench.pages import TABLE_BOARDS, WEB_SETTINGS, crowd, running_table

MOST_MS: Final = 300.0
NAME: Final = "overlay behind its table, shown positions"
OBSERVE: Final = """() => {
  window.delays = [];
  new MutationObserver(() => {
    const clock = document.querySelector(".clock[data-since]");
    if (!clock) return;
    requestAnimationFrame(() => setTimeout(() => {
      window.delays.push(Date.now() - 1000 * Number(clock.dataset.since));
    }));
  }).observe(document.getElementById("embed-overlay"), { childList: true });
}"""


def delays(address: str, seconds: float) -> list[float]:
    """Return the delays in milliseconds of all positions that the overlay showed in this time."""
    from playwright.sync_api import sync_playwright

    program = shutil.which("chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1920, "height": 1080})
        page.goto(f"{address}/embed/overlay")
        page.wait_for_selector(".clock[data-since]", timeout=60_000)
        page.evaluate(OBSERVE)
        page.wait_for_timeout(1000 * seconds)
        measured: list[float] = page.evaluate("() => window.delays")
        browser.close()
    return sorted(measured)


def figures(seconds: float) -> Iterator[Figure]:
    """Yield the median and the 95th percentile of the delay."""
    if shutil.which("chromium") is None:
        yield left_out(NAME, "chromium is not installed")
        return
    bots = dict.fromkeys(("one", "two"), resolver.sample("greedy"))
    with house_bot_tournament.store() as (engine, data_folder):
        house_bot_tournament.schedule(engine, data_folder, bots, boards=TABLE_BOARDS, cycles=100)
        listening = listen("127.0.0.1", 0)
        with Services(data_folder, 1, {}, pages=Pages(listening, WEB_SETTINGS)) as services:
            port = listening.getsockname()[1]
            pid = next(each.pid for each in services.snapshot.services if each.name == "web")
            assert pid is not None
            path = running_table(engine)
            for watchers in (0, 1, 0, 1):
                asyncio.run(crowd(engine, port, pid, watchers, seconds, path))
            measured = delays(f"http://127.0.0.1:{port}", seconds)
    if not measured:
        yield left_out(NAME, "the overlay showed no position")
        return
    target = FigureTarget(MOST_MS, at_most=True)
    yield Figure(f"{NAME}, median of {len(measured)}", "ms", measured, target=target)
    late = measured[95 * (len(measured) - 1) // 100]
    yield Figure(f"{NAME}, 95th percentile", "ms", [late], target=target)


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description="Measure the overlay of a stream.")
    parser.add_argument("--seconds", type=at_least(5), default=20, help="of each measurement")
    for figure in figures(parser.parse_args().seconds):
        print(figure_text(figure), flush=True)


if __name__ == "__main__":
    main()
