"""Run the examples of docs/reference/feed.md in a shell, with a server and Redis."""

import json
import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from arena.cli.workspace import Workspace
from arena.config import Folder
from arena.services.queue import redis_server
from arena.store.events import messages
from arena.store.events.messages import Position, text_of
from arena.store.matches import listing
from arena.system import redis_connection
from arena.web.data.web_state import ServerSettings, WebState
from tests.arena.cli.stored_tournament import store_tournament
from tests.arena.web.page_server import served
from tests.guarded_process import GuardedProcess
from tests.waiting import wait_until

ROOT = Path(__file__).parents[4]
EXAMPLES = re.findall(r"^curl .*$", (ROOT / "docs/reference/feed.md").read_text(), re.MULTILINE)
SECONDS = "30"


@dataclass(frozen=True)
class FeedServer:
    """A server, its Redis and a match that events can name."""

    address: str
    redis: str
    match: listing.Match

    def command(self, example: str) -> list[str]:
        """Return an example with the server's address and the ids of this match."""
        program = example.replace("http://127.0.0.1:8000", self.address)
        program = re.sub(r"m-[0-9a-z]+", self.match.id, program)
        return [
            *shlex.split(re.sub(r"t-[0-9a-z]+", self.match.tournament, program)),
            "-sm",
            SECONDS,
        ]


@pytest.fixture(scope="module")
def feed_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FeedServer]:
    workspace = Workspace(tmp_path_factory.mktemp("feed") / "data")
    store_tournament(workspace, ["ada", "bob"], {}, boards=1)
    [match] = listing.matches(workspace.store)
    with redis_server.resolve(Folder(workspace.folder.root), {}) as redis:
        settings = ServerSettings(redis=redis.url, rate=0)
        with served(WebState(workspace.store, settings)) as address:
            client = redis_connection.connect(redis.url)
            channel = messages.channel(0)
            wait_until(lambda: dict(client.pubsub_numsub(channel))[channel.encode()])
            client.close()
            yield FeedServer(address, redis.url, match)


def position(match: str, decision: int = 7) -> Position:
    return Position(match, 0, 0, 0, decision, (1,), ("ada@1", "bob@1"), {"poke": {"deal": 1}})


def received_messages(process: "subprocess.Popen[str]", kind: str) -> Iterator[dict[str, Any]]:
    """Yield the messages up to the first one of this type."""
    assert process.stdout is not None
    for line in process.stdout:
        text = line.removeprefix("data: ").strip()
        if text.startswith("{"):
            yield json.loads(text)
            if json.loads(text)["type"] == kind:
                return


@pytest.mark.parametrize("example", EXAMPLES)
def test_an_example_receives_the_published_events(feed_server: FeedServer, example: str) -> None:
    if shutil.which("curl") is None and not os.environ.get("CI"):
        pytest.skip("curl is not installed")
    client = redis_connection.connect(feed_server.redis)
    with GuardedProcess(feed_server.command(example), stdout=subprocess.PIPE, text=True) as process:
        try:
            received = received_messages(process, "position")
            assert next(received)["type"] == "hello"
            client.publish(messages.channel(0), text_of(position("m-of-nobody")))
            client.publish(messages.channel(0), text_of(position(feed_server.match.id)))
            *_, last = received
        finally:
            process.kill()
            client.close()
    if "?" in example:
        assert (last["match"], last["form"]) == (feed_server.match.id, "poke")
    assert last["decision"] == 7
    assert last["view"] == {"poke": {"deal": 1}}


def test_the_page_has_examples() -> None:
    assert len(EXAMPLES) == 4
