"""Measure the loading of pages with Lighthouse's mobile preset.

    npm install --prefix build/lighthouse lighthouse
    uv run python -m bench.lighthouse [--data FOLDER] [--rounds 3]

Lighthouse simulates a phone: 150 ms round trip, 1.6 Mbit/s and a CPU four times slower. Measured
are the first and the largest contentful paint, the total blocking time, the layout shift and the
transferred bytes of the home page, a ladder, a match and a replay of each game. Without `--data` an
arena is created with a ladder and a match of each game.

The simulated largest contentful paint includes deferred scripts that have arrived before the paint,
as they do from a server on the same machine, although the paint does not wait for them.

Lighthouse multiplies elapsed time, so other programs on the machine increase its blocking time. A
further figure, the blocking CPU time, is computed from the CPU time of each task of the same visit.
It includes the tasks before the first paint, which the total blocking time omits.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from arena.config import Folder
from arena.store import database
from arena.store.matches import listing
from arena.store.schema import MatchState
from bench.arguments import at_least
from bench.commands import POKEARENA
from bench.figure import Figure, FigureTarget, figure_text
from bench.pages import LADDER, server

PROGRAM = Path("build/lighthouse/node_modules/.bin/lighthouse")
CHROMIUM = "--headless=new --no-sandbox --disable-gpu"
ENTRANTS = {"poke": 2, "pokex": 4, "pouku": 4, "saint_poker": 4, "pokino": 2}
BOTS = ("greedy", "random", "meek", "bold")
LIMITS = {
    "first-contentful-paint": ("first contentful paint", "ms", 1200.0),
    "largest-contentful-paint": ("largest contentful paint", "ms", 1200.0),
    "total-blocking-time": ("total blocking time", "ms", 50.0),
    "cumulative-layout-shift": ("layout shift", "", 0.02),
    "total-byte-weight": ("transferred", "kB", 60.0),
    "blocking-cpu-time": ("blocking CPU time", "ms", 50.0),
}
AUDITS = tuple(LIMITS)[:-1]
SLOWDOWN, LONG_MS = 4, 50
"""Lighthouse's factor for the CPU of a phone, and the time after which a task blocks."""
ATTEMPTS = 3
"""Attempts per visit: on a busy machine Lighthouse may miss the start of the navigation."""


def create_arena(data: Path) -> None:
    """Play a small tournament of each game."""
    for game, number in ENTRANTS.items():
        bots = [f"sample:{name}" for name in BOTS[:number]]
        command = [str(POKEARENA), "tournament", "run", game, *bots]
        options = ["--boards", "1", "--seats", str(number), "--seed", "1", "--data", str(data)]
        subprocess.run([*command, *options], check=True, stdout=subprocess.DEVNULL)


def addresses(data: Path) -> dict[str, str]:
    """Return the path of each measured page by its name."""
    engine = database.open(Folder(data).database_url())
    paths = {"home": "/", "ladder": LADDER}
    for match in listing.matches(engine):
        if match.state == MatchState.CLOSED and f"replay of {match.game}" not in paths:
            paths.setdefault("match", f"/matches/{match.id}")
            paths[f"replay of {match.game}"] = f"/matches/{match.id}/games/0"
    engine.dispose()
    return paths


def visit(url: str) -> dict[str, float]:
    """Return the figures of one visit by their Lighthouse names."""
    for _ in range(ATTEMPTS):
        audits, events = run(url)
        missing = [name for name in AUDITS if "numericValue" not in audits[name]]
        if not missing:
            break
    else:
        message = audits[missing[0]]["errorMessage"]
        sys.exit(f"Lighthouse could not measure {missing[0]} of {url}: {message}")
    values = {name: float(audits[name]["numericValue"]) for name in AUDITS}
    values["total-byte-weight"] /= 1000
    values["blocking-cpu-time"] = blocking_cpu_ms(events)
    return values


def run(url: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Run Lighthouse once; return its audits and the events of the browser's trace."""
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        report = Path(folder, "page.json")
        command = [str(PROGRAM), url, "--quiet", "--output=json", f"--output-path={report}"]
        command += ["--save-assets", f"--chrome-flags={CHROMIUM}"]
        subprocess.run(
            [*command, f"--only-audits={','.join(AUDITS)}"],
            env={**os.environ, "CHROME_PATH": shutil.which("chromium") or ""},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            # An aborted measurement exits with an error, and its report contains the reason.
            check=False,
        )
        audits: dict[str, Any] = json.loads(report.read_text())["audits"]
        traces = [json.loads(path.read_text()) for path in Path(folder).glob("*trace.json")]
        return audits, [event for trace in traces for event in trace["traceEvents"]]


def blocking_cpu_ms(events: list[dict[str, Any]]) -> float:
    """Return the sum of the CPU time beyond 50 ms of all tasks, at the CPU of a phone."""
    threads = {
        (event["pid"], event["tid"])
        for event in events
        if event["name"] == "thread_name" and event["args"]["name"] == "CrRendererMain"
    }
    spans = [event for event in events if event["ph"] == "X" and "tdur" in event]
    spans = [event for event in spans if (event["pid"], event["tid"]) in threads]
    blocked, ends = 0.0, dict.fromkeys(threads, 0.0)
    for event in sorted(spans, key=lambda event: (event["ts"], -event["dur"])):
        thread = event["pid"], event["tid"]
        # An event within another one is part of its task.
        if event["ts"] >= ends[thread]:
            ends[thread] = event["ts"] + event["dur"]
            blocked += max(SLOWDOWN * event["tdur"] / 1000 - LONG_MS, 0.0)
    return blocked


def figures(data: Path, rounds: int) -> Iterator[Figure]:
    """Yield the figures of each page."""
    with server(data) as port:
        for page, path in addresses(data).items():
            visits = [visit(f"http://127.0.0.1:{port}{path}") for _ in range(rounds)]
            for name, (title, unit, limit) in LIMITS.items():
                values = [values[name] for values in visits]
                yield Figure(
                    f"{page}: {title}", unit, values, target=FigureTarget(limit, at_most=True)
                )


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, help="data folder of an arena")
    parser.add_argument(
        "--rounds", type=at_least(1), default=3, help="visits of each page (default 3)"
    )
    options = parser.parse_args()
    if not PROGRAM.exists():
        sys.exit(f"{PROGRAM} is missing: npm install --prefix build/lighthouse lighthouse")
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        data = options.data or Path(folder)
        if options.data is None:
            create_arena(data)
        for figure in figures(data, options.rounds):
            print(figure_text(figure), flush=True)


if __name__ == "__main__":
    main()
