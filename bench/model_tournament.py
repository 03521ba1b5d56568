"""Play a tournament of models on mirrored boards through the proxy, and show its pages.

    uv run python -m bench.model_tournament --shots FOLDER

`greedy`, `random` and three bots of `pokearena new --model`, whose models are scripts on loopback.
They differ in the part of their replies that names no action. The commands are those of an
organiser; Chromium writes a screenshot of the ladder, of a match and of a replay with reasoning.
"""

import argparse
import hashlib
import json
import os
import re
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final

from arena.config import Folder
from arena.store import database
from arena.store.matches import listing
from bench.commands import POKEARENA
from bench.pages import server

GAME: Final = "saint_poker"
ERRORS: Final = {"careful": 0.0, "hasty": 0.25, "careless": 0.6}
"""The part of a model's replies that are wrong, by the name of its bot."""
OPENED: Final = 4
"""Folded texts that are open on the screenshot of the reasoning."""
PROSE: Final = "I would keep the pair and wait for a better hand. What do you think?"
_LISTED: Final = re.compile(r"^(\d+): ", re.MULTILINE)


def reply(model: str, messages: list[dict[str, str]]) -> str:
    """Return the reply of a model: equal messages have equal replies."""
    question = next(each["content"] for each in messages if "LEGAL ACTIONS" in each["content"])
    digest = hashlib.sha256(json.dumps([model, messages]).encode()).digest()
    listed = _LISTED.findall(question.partition("LEGAL ACTIONS")[2])
    number = int(listed[int.from_bytes(digest[:4], "big") % len(listed)])
    if digest[4] >= 256 * ERRORS[model]:
        answer = json.dumps({"action": number, "note": "the strongest cards stay"})
        return f"There are {len(listed)} actions. Number {number} keeps my best cards.\n{answer}"
    # Prose, an action that is not listed, or an object that is cut off.
    return (PROSE, '{"action": 999}', '{"action": ')[digest[5] % 3]


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        text = reply(body["model"], body["messages"])
        document: dict[str, Any] = {
            "choices": [{"message": {"content": text}, "finish_reason": "stop"}],
            "usage": {
                "prompt_tokens": len(json.dumps(body["messages"])) // 4,
                "completion_tokens": len(text) // 4 + 1,
            },
        }
        data = json.dumps(document).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: Any) -> None:
        """Print nothing."""


@contextmanager
def endpoint() -> Iterator[str]:
    """Serve the scripted models; yield the base URL."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _Handler) as served:
        thread = threading.Thread(target=served.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{served.server_port}/v1"
        served.shutdown()
        thread.join()


def models_file(base_url: str) -> str:
    """Return the content of `models.toml`: a model for each bot, at different prices."""
    models = "".join(
        f'[models.{name}]\nbase_url = "{base_url}"\nmodel = "{name}"\n'
        f"input_price = {price}\noutput_price = {4 * price}\n"
        for price, name in enumerate(reversed(ERRORS), 1)
    )
    return f"{models}[limits]\ncalls_per_minute = 100000\ntable_tokens = 4000000\n"


class Arena:
    """An arena in a folder, which an organiser manages by commands."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.data = folder, folder / "data"
        self._environment: Mapping[str, str] = {**os.environ, "POKEARENA_DATA": str(self.data)}

    def run(self, *words: str) -> None:
        """Run a command, and print what it prints."""
        command = [str(POKEARENA), *words]
        subprocess.run(command, cwd=self.folder, env=self._environment, check=True)

    def add_model_bot(self, name: str) -> str:
        """Write, add and grant a bot with the model of its name; return its version."""
        self.run("new", name, "--model")
        manifest = self.folder / name / "bot.toml"
        text = manifest.read_text(encoding="utf-8")
        manifest.write_text(text.replace('# models = ["small"]', f'models = ["{name}"]'))
        self.run("bot", "add", name, "--owner", f"lab-{name}")
        self.run("models", "grant", name, "--owner", f"lab-{name}")
        return f"{name}@1"

    def pages(self) -> dict[str, str]:
        """Return the addresses of the pages to show, by the names of their screenshots."""
        engine = database.open(Folder(self.data).database_url({}))
        matches = listing.matches(engine)
        engine.dispose()
        match = next(m.id for m in matches if {"careful@1", "careless@1"} == set(m.entrants))
        ladder = f"/ladders/{GAME}-2~model?columns=all"
        replay = f"/matches/{match}/games/0"
        return {"ladder": ladder, "match": f"/matches/{match}", "replay": replay}


def shoot(base_url: str, pages: Mapping[str, str], folder: Path) -> None:
    """Write a screenshot of each page, with the first folded texts of its reasoning open."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        page = browser.new_page(viewport={"width": 1400, "height": 900})
        for name, path in pages.items():
            page.goto(base_url + path)
            page.screenshot(path=folder / f"{name}.png", full_page=True)
            if (reasoning := page.locator("section.reasoning")).count():
                for fold in reasoning.locator("summary").all()[:OPENED]:
                    fold.click()
                reasoning.scroll_into_view_if_needed()
                page.screenshot(path=folder / f"{name}-reasoning.png")
        browser.close()


def main() -> None:
    """Play the tournament and write the screenshots."""
    parser = argparse.ArgumentParser(description="Show a tournament of scripted models.")
    parser.add_argument("--shots", type=Path, required=True, metavar="FOLDER")
    parser.add_argument("--boards", type=int, default=2)
    arguments = parser.parse_args()
    shots = arguments.shots.resolve()
    shots.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="bench-") as folder, endpoint() as base_url:
        arena = Arena(Path(folder))
        arena.data.mkdir(mode=0o700)
        (arena.data / "models.toml").write_text(models_file(base_url), encoding="utf-8")
        bots = [arena.add_model_bot(name) for name in ERRORS]
        options = ["--boards", str(arguments.boards), "--seed", "1", "--allowance", "30000"]
        bots += ["sample:greedy", "sample:random"]
        arena.run("tournament", "run", GAME, *bots, *options, "--name", "models")
        for name in ERRORS:
            words = ("published", "--reason", "to show it")
            arena.run("owner", "reasoning", f"lab-{name}", *words)
        arena.run("models", "list")
        with server(arena.data) as port:
            shoot(f"http://127.0.0.1:{port}", arena.pages(), shots)


if __name__ == "__main__":
    main()
