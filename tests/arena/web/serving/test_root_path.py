"""The pages below a path of a proxy, with and without a proxy that removes the path."""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from http.cookies import SimpleCookie
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from arena.cli.workspace import Workspace
from arena.services.web_process import checked_root_path
from arena.store.access import organisers
from arena.web.app import create
from arena.web.data.web_state import ServerSettings, WebState
from arena.web.serving.root_path import HEADER
from tests.arena.web.closed_matches import play, table
from tests.arena.web.crawler import links_in

ROOT = Path(__file__).parents[4]

PAGES = ("/", "/ladders/poke", "/tournaments", "/bots/luck0", "/docs/api", "/sign-in", "/nowhere")
SITE = "https://arena.example.org/arena"
WEB = ROOT / "arena/web"


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    workspace = Workspace(Path(tmp_path_factory.mktemp("arena"), "data"))
    play(workspace, table("poke-2-must_beat=true"))
    return workspace


@contextmanager
def client_of(workspace: Workspace, **settings: object) -> Iterator[TestClient]:
    made = replace(ServerSettings(rate=0), **settings)  # type: ignore[arg-type]
    with TestClient(create(WebState(workspace.store, made)), follow_redirects=False) as client:
        client.headers["Accept"] = "text/html"
        yield client


@pytest.fixture(scope="module")
def fixed(workspace: Workspace) -> Iterator[TestClient]:
    with client_of(workspace, root_path="/arena", proxied=True) as client:
        yield client


@pytest.fixture(scope="module")
def sent(workspace: Workspace) -> Iterator[TestClient]:
    """Return a client of a server that accepts the path from its proxy."""
    with client_of(workspace, proxied=True) as client:
        yield client


def links(client: TestClient, address: str, **headers: str) -> list[str]:
    answer = client.get(address, headers=headers)
    found = links_in(answer.headers["content-type"].partition(";")[0], answer.text)
    every = (*found.links, *found.forms, *found.posts)
    paths = [link for link in every if link.startswith("/")]
    assert paths, address
    return paths


@pytest.mark.parametrize("address", PAGES)
def test_links_begin_with_the_root_path(fixed: TestClient, sent: TestClient, address: str) -> None:
    for requested in (address, f"/arena{address}"):
        assert {link.split("/")[1] for link in links(fixed, requested)} == {"arena"}
    below = links(sent, address, **{HEADER: "/games/arena"})
    assert {tuple(link.split("/")[1:3]) for link in below} == {("games", "arena")}
    # Responses of different root paths are stored separately.
    assert "arena" not in {link.split("/")[1] for link in links(sent, address)}


def test_the_root_path_itself_is_the_home_page(fixed: TestClient) -> None:
    home = fixed.get("/arena")
    assert (home.status_code, home.text) == (200, fixed.get("/arena/").text)
    assert fixed.get("/arenas").status_code == 404


@pytest.mark.parametrize(
    "path", ["//evil.example", "https://evil.example", "/a/../b", "arena", "/a b", "/%2e", "/é", ""]
)
def test_an_invalid_path_of_a_proxy_is_ignored(sent: TestClient, path: str) -> None:
    assert sent.get("/", headers=[(HEADER.encode(), path.encode())]).text == sent.get("/").text
    assert not checked_root_path(path)


def test_only_a_trusted_proxy_names_the_root_path(
    workspace: Workspace, fixed: TestClient, sent: TestClient
) -> None:
    with client_of(workspace) as direct:
        assert links(direct, "/", **{HEADER: "/evil"}) == links(direct, "/")
        assert HEADER not in direct.get("/").headers["vary"]
    assert links(fixed, "/", **{HEADER: "/evil"}) == links(fixed, "/")
    assert HEADER not in fixed.get("/").headers["vary"]
    # The nearest proxy appends its value, and caches store the responses separately.
    assert links(sent, "/", **{HEADER: "/evil, /arena"}) == links(fixed, "/")
    assert HEADER in sent.get("/").headers["vary"]


def test_a_root_path_like_a_route_must_be_removed_by_the_proxy(workspace: Workspace) -> None:
    with client_of(workspace, root_path="/docs") as client:
        assert "/docs/docs/api" in links(client, "/docs")
        assert client.get("/docs/ratings").status_code == 200
        assert client.get("/docs/docs/ratings").status_code == 404


def test_redirects_cookies_and_forms_stay_below_the_root_path(
    workspace: Workspace, fixed: TestClient
) -> None:
    token = organisers.add_organiser(workspace.store, "grace")
    assert fixed.get("/arena/organiser").headers["location"] == "/arena/sign-in"
    for scheme, name in (("http", "pokearena.arena"), ("https", "__Secure-pokearena.arena")):
        fixed.cookies.clear()
        headers = {"X-Forwarded-Proto": scheme}
        answer = fixed.post("/arena/sign-in", data={"token": token}, headers=headers)
        assert answer.headers["location"] == "/arena/organiser"
        cookie = SimpleCookie(answer.headers["set-cookie"])[name]
        assert cookie["path"] == "/arena"
        assert bool(cookie["secure"]) == (scheme == "https")
        # Another arena of this host, at its root or at another path, has another cookie.
        others = f"__Host-pokearena=x; pokearena=x; pokearena.other=x; {name}={cookie.value}"
        page = fixed.get("/arena/organiser/owners", headers={"Cookie": others})
        hidden = re.search(r'name="form_token" value="(\w+)"', page.text)
        assert hidden is not None
        headers |= {"Cookie": others, "Origin": "https://evil.example"}
        values = {"name": f"eve-{scheme}", "form_token": hidden[1]}
        refused = fixed.post("/arena/organiser/owners", data=values, headers=headers)
        assert refused.status_code == 403
        headers["Origin"] = "http://testserver"
        assert fixed.post("/organiser/owners", data=values, headers=headers).status_code == 200
        left = fixed.post("/sign-out", data={"form_token": hidden[1]}, headers=headers)
        assert left.headers["location"] == "/arena/"
        assert SimpleCookie(left.headers["set-cookie"])[name]["path"] == "/arena"


def test_private_pages_stay_private_below_the_root_path(fixed: TestClient) -> None:
    for path in ("/arena/organiser", "/arena/account", "/arena/sign-in"):
        assert "access-control-allow-origin" not in fixed.get(path).headers
    assert "access-control-allow-origin" in fixed.get("/arena/bots").headers
    frames = fixed.get("/arena/embed/matches/m-1/games/0").headers["content-security-policy"]
    assert frames.endswith("frame-ancestors *")


def test_the_openapi_document_names_the_root_path(tmp_path: Path) -> None:
    # Without data the document has no examples, whose pages take most of its time.
    empty = Workspace(tmp_path / "data")

    def servers(client: TestClient, **headers: str) -> object:
        return client.get("/openapi.json", headers=headers).json()["servers"]

    with client_of(empty, root_path="/arena", site=SITE) as client:
        assert servers(client) == [{"url": SITE}]
    with client_of(empty, proxied=True) as client:
        assert servers(client, **{HEADER: "/a/b"}) == [{"url": "/a/b"}]


def test_public_addresses_and_errors_name_the_root_path(workspace: Workspace) -> None:
    with client_of(workspace, root_path="/arena", site=SITE) as client:
        unknown = client.get("/arena/matches/m-0.json").json()["error"]
        assert unknown.endswith("/arena/matches lists all.")
        found = re.findall(r'href="([^"]+)"', client.get("/arena/tournaments.atom").text)
        assert found
        assert all(link.startswith(f"{SITE}/tournaments") for link in found)
        page = client.get("/arena/ladders/poke").text
        assert f'property="og:url" content="{SITE}/ladders/poke"' in page
        assert f'property="og:image" content="{SITE}/ladders/poke.png"' in page


def test_live_updates_have_links_of_the_root_path_of_their_page(sent: TestClient) -> None:
    headers = {HEADER: "/arena"}
    page = sent.get("/tournaments", headers=headers).text
    live = re.search(r'data-live="/arena(/live/tournaments\?[^"]*)"', page)
    assert live is not None
    with sent.stream("GET", "/live/tournaments", headers=headers) as stream:
        lines = stream.iter_lines()
        data = next(line for line in lines if line.startswith("data: "))
    parts = json.loads(data.removeprefix("data: "))["parts"].values()
    assert 'href="/arena/' in "".join(parts)


@pytest.mark.parametrize(
    ("pattern", "files"),
    [
        (r'[\w-]+=["\']?/(?!>)', "templates/**/*.html"),
        (r'["\'`]/(?:\w|\$\{)', "static/*.js"),
        (r"url\([\"']?/", "static/*.css"),
        (r'(?:RedirectResponse\(|"Location": )f?"/', "**/*.py"),
        (r"(?:href|src|action)=\\?[\"']/", "**/*.py"),
    ],
)
def test_no_template_or_script_has_a_link_from_the_root(pattern: str, files: str) -> None:
    """Links come from `arena.web.page.Links`, which adds the root path."""
    sources = sorted(WEB.glob(files))
    assert sources
    literal = [
        f"{path.relative_to(ROOT)}: {line}"
        for path in sources
        for line in path.read_text(encoding="utf-8").splitlines()
        if re.search(pattern, line)
    ]
    assert not literal
