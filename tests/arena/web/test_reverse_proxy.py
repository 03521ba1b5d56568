"""The arena below a path of nginx, which removes the path from requests or leaves it there."""

import os
import re
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

import httpx2
import pytest

from arena.api_client import ArenaClient
from arena.cli.workspace import Workspace
from arena.config import Running
from arena.remote import relay_url
from arena.remote.relay_url import RelayTarget
from arena.store.access import organisers
from arena.store.bots import owners
from arena.submissions.pending_uploads import PendingUploads
from arena.system import process_info
from arena.web import static_site
from arena.web.data.web_state import ServerSettings, WebState
from tests.arena.cli.terminal import in_own_process
from tests.arena.web.closed_matches import StoredMatch, play, table
from tests.arena.web.crawler import Crawl, Get
from tests.arena.web.page_server import served
from tests.nginx import nginx

ROOT = Path(__file__).parents[3]

pytestmark = pytest.mark.long

PAGE = ROOT / "docs/how-to/operations.md"
UPSTREAM = "http://127.0.0.1:8000;"
PREFIX = 'X-Forwarded-Prefix ""'
LAYOUTS = {
    "kept": ("/arena", "{};", PREFIX),
    # The slash at the end removes the path.
    "removed": ("/arena", "{}/;", PREFIX),
    # The server does not know the path, and nginx sends it.
    "sent": ("", "{}/;", "X-Forwarded-Prefix /arena"),
    "sent and kept": ("", "{};", "X-Forwarded-Prefix /arena"),
}
"""The root path of the server, and the changes of the documented lines of nginx."""
FIRST = ("kept", "sent")
"""The layouts that CI tries: the path comes from the setting, or from nginx."""


@dataclass
class ProxiedArena:
    """An arena behind nginx.

    Args:
        url: the URL of its pages without a slash at the end.
        workspace: its data.
        stored: a closed match.
        client: a client for the origin, which does not follow redirects.
    """

    url: str
    workspace: Workspace
    stored: StoredMatch
    client: httpx2.Client

    @property
    def get(self) -> Get:
        """Requests an address as a browser."""
        return partial(get, self.client)

    def form_token(self, page: str) -> str:
        """Return the token of the forms of a page."""
        hidden = re.search(r'name="form_token" value="(\w+)"', self.client.get(page).text)
        assert hidden is not None
        return hidden[1]


def documented_location() -> str:
    """Return the lines for nginx in the guide."""
    (lines,) = re.findall(r"^```nginx\n(.*?)^```$", PAGE.read_text(), re.DOTALL | re.MULTILINE)
    return str(lines)


def get(client: httpx2.Client, address: str) -> tuple[int, str, str]:
    """Request an address; of a stream only the first event is read, because it does not end."""
    with client.stream("GET", address) as answer:
        kind = answer.headers.get("content-type", "").partition(";")[0]
        if kind in ("text/event-stream", "application/x-ndjson"):
            return answer.status_code, kind, next(answer.iter_text())
        answer.read()
        text = answer.text if kind.startswith("text/") or "xml" in kind else ""
        return answer.status_code, kind, text


def client_of(origin: str) -> httpx2.Client:
    """Return a client that sends the headers of a browser and does not follow redirects."""
    headers = {"Accept": "text/html,*/*;q=0.8", "Origin": origin}
    return httpx2.Client(base_url=origin, headers=headers, timeout=60, trust_env=False)


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(name, marks=[pytest.mark.repetition] * (name not in FIRST)) for name in LAYOUTS
    ],
)
def arena(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ProxiedArena]:
    root_path, passes, header = LAYOUTS[request.param]
    folder = tmp_path_factory.mktemp("proxied")
    workspace = Workspace(folder / "data")
    stored = play(workspace, table("poke-2-must_beat=true"))
    uploads = PendingUploads(workspace.folder.submissions)
    settings = ServerSettings(
        rate=0,
        proxied=True,
        root_path=root_path,
        play=True,
        data=workspace.folder.root,
        pending_uploads=uploads,
    )
    with ExitStack() as stack:
        stack.enter_context(uploads.create().attended())
        upstream = stack.enter_context(served(WebState(workspace.store, settings)))
        location = documented_location()
        for old, new in ((UPSTREAM, passes.format(upstream)), (PREFIX, header)):
            assert old in location
            location = location.replace(old, new)
        origin = stack.enter_context(nginx(folder, location))
        client = stack.enter_context(client_of(origin))
        yield ProxiedArena(f"{origin}/arena", workspace, stored, client)


def check(crawl: Crawl) -> None:
    assert crawl.outside == set()
    assert crawl.failures == {}


def test_every_link_of_the_pages_leads_to_a_page(arena: ProxiedArena) -> None:
    crawl = Crawl("/arena/", arena.get)
    match = arena.stored.match
    crawl.follow("/arena/", f"/arena/embed/matches/{match}/games/0", "/arena/feed")
    check(crawl)
    paths = {urlsplit(address).path for address in crawl.statuses}
    for path in (
        "/arena/ladders/poke",
        "/arena/ladders/poke/matrix",
        "/arena/ladders/poke.atom",
        "/arena/live/ladders/poke",
        f"/arena/matches/{match}.jsonl",
        f"/arena/matches/{match}/games/0",
        f"/arena/tournaments/{arena.stored.tournament}.atom",
        "/arena/openapi.json",
        "/arena/docs/api",
        "/arena/search",
        "/arena/static/style.css",
        "/arena/static/live.js",
    ):
        assert path in paths
    assert crawl.posts >= {"/arena/play/poke"}


def test_a_person_plays(arena: ProxiedArena) -> None:
    begun = arena.client.post("/arena/play/poke", data={"bot0": "sample:meek"})
    assert begun.status_code == 303
    page = begun.headers["location"]
    assert page.startswith("/arena/play/tables/")
    crawl = Crawl("/arena/", arena.get, most=1)
    crawl.follow(page)
    check(crawl)
    assert f"/arena/live{page.removeprefix('/arena')}" in crawl.statuses
    assert page in crawl.posts
    left = arena.client.post(page, data={"leave": "1"})
    assert (left.status_code, left.headers["location"]) == (303, page)


def test_an_organiser_signs_in_and_sends_forms(arena: ProxiedArena) -> None:
    token = organisers.add_organiser(arena.workspace.store, "grace")
    refused = arena.client.get("/arena/organiser")
    assert refused.headers["location"] == "/arena/sign-in"
    signed_in = arena.client.post("/arena/sign-in", data={"token": token})
    assert (signed_in.status_code, signed_in.headers["location"]) == (303, "/arena/organiser")
    crawl = Crawl("/arena/", arena.get, most=1)
    match = arena.stored.match
    crawl.follow("/arena/organiser", f"/arena/organiser/matches/{match}")
    check(crawl)
    assert "/arena/organiser/audit?sign_ins=hide" in crawl.statuses
    assert crawl.posts > {"/arena/sign-out", f"/arena/organiser/matches/{match}/void"}
    values = {"form_token": arena.form_token("/arena/organiser/owners"), "name": "eve"}
    other = arena.client.post(
        "/arena/organiser/owners", data=values, headers={"Origin": "http://evil.example"}
    )
    assert other.status_code == 403
    assert arena.client.post("/arena/organiser/owners", data=values).status_code == 200
    values["reason"] = "left"
    revoked = arena.client.post("/arena/organiser/owners/revoke", data=values)
    assert revoked.headers["location"] == "/arena/organiser/owners"
    left = arena.client.post("/arena/sign-out", data=values)
    assert left.headers["location"] == "/arena/"
    assert arena.client.get("/arena/organiser").status_code == 303


def test_programs_use_the_url_with_the_path(arena: ProxiedArena) -> None:
    api = ArenaClient(arena.url)
    (match,) = api.get_matches().content["matches"]
    assert match["match"] == arena.stored.match
    assert api.get_openapi().content["servers"] == [{"url": "/arena"}]
    started = process_info.start_time(os.getpid())
    noted = Running(os.getpid(), "", "", "", started, "", "grpcs://0.0.0.0:7000")
    arena.workspace.folder.note_running(noted)
    for url in (arena.url, f"{arena.url}/"):
        assert relay_url.find_relay(url) == RelayTarget("127.0.0.1:7000", tls=True)


def test_a_bot_is_pushed(arena: ProxiedArena, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/bot.toml").write_text('name = "mine"\nrun = ["python", "weights"]\n')
    # nginx refuses more than 1 MiB unless its configuration allows it.
    (tmp_path / "mine/weights").write_bytes(os.urandom(2**21))
    environment = {"POKEARENA_TOKEN": owners.add_owner(arena.workspace.store, "ada")}
    words = ("bot", "push", "mine", "--to", f"{arena.url}/", "--no-wait")
    pushed = in_own_process(tmp_path, words, environment)
    assert pushed.status == 0, pushed.err
    name = pushed.out.strip()
    assert arena.client.get(f"/arena/submissions/{name}").status_code == 200


def test_an_exported_site_works_in_a_folder(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path / "data")
    stored = play(workspace, table("poke-2-must_beat=true"))
    static_site.write(workspace.store, stored.tournament, tmp_path / "site")
    location = f"location /some/folder/ {{ alias {tmp_path}/site/; }}"
    with nginx(tmp_path, location) as origin, client_of(origin) as client:
        crawl = Crawl("/some/folder/", partial(get, client))
        crawl.follow("/some/folder/index.html")
    check(crawl)
    assert f"/some/folder/matches/{stored.match}/games/0.html" in crawl.statuses
