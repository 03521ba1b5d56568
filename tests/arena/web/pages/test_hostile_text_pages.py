"""Pages in all formats escape text of bots, owners and uploads."""

import json
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from starlette.testclient import TestClient

from arena import web
from arena.cli.workspace import Workspace
from arena.store.bots import owners, submissions, versions
from arena.store.schema import SubmissionState
from arena.web.app import create
from arena.web.data.web_state import ServerSettings, WebState
from arena.web.page import Page, ServerLinks, TextTable
from arena.web.serving import data_formats, html_pages
from arena.web.serving.page_kinds import KINDS
from tests.arena.web.closed_matches import play, table
from tests.arena.web.crashed_records import crashed
from tests.arena.web.stored_submissions import add_submission

HOSTILE = "\x1b[2J\u202eevil\u2066x\u2069\u200b\x9b31m\u3164\u2028<b>&\x7f"
SPELLED = r"\x1b[2J\u202eevil\u2066x\u2069\u200b\x9b31m\u3164\u2028<b>&\x7f"
SPELLED_HTML = SPELLED.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
HIDDEN = set(HOSTILE) - set("[2Jevilx31m<b>&")
OLD_NAME = "cup\u202e2026"


def change(text: str) -> str:
    """Add hostile text to a record, as an arena of an older version could have stored it."""
    return crashed(
        text,
        note=HOSTILE,
        sentence=f"its process ended: {HOSTILE}",
        ended=HOSTILE,
        output=f"{HOSTILE}\nsecond line",
        question={"decision": 3, "view": {"poke": {"hand": [HOSTILE]}}},
        answer={"poke": {"play": {"cards": [HOSTILE]}}},
    )


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """Return an arena with a bot that has hostile text in every field of free text."""
    workspace = Workspace(tmp_path_factory.mktemp("arena") / "data")
    manifest_fields = {"run": ["x"], "authors": [HOSTILE], "language": HOSTILE}
    versions.add_version(
        workspace.store, "luck1", "1", f"{1:064x}", "/bots/luck1", manifest_fields, "eve"
    )
    play(workspace, table("poke-2-must_beat=true"), boards=1, change=change)
    owners.add_owner(workspace.store, "ada")
    submission = add_submission(workspace)
    submissions.decide(
        *(workspace.store, submission.id, SubmissionState.REFUSED, f"it is wrong: {HOSTILE}"),
        status=422,
        output=HOSTILE,
    )
    return workspace


@pytest.fixture(scope="module")
def client(workspace: Workspace) -> Iterator[TestClient]:
    with TestClient(create(WebState(workspace.store, ServerSettings(rate=0)))) as client:
        yield client


@pytest.fixture(scope="module")
def tokens(workspace: Workspace) -> dict[str, str]:
    """Return the tokens of the owner of the bot and of the owner of the submission."""
    return {
        "eve": owners.add_owner(workspace.store, "eve"),
        "ada": owners.renew(workspace.store, "ada"),
    }


def is_inert(text: str) -> None:
    """Fail if a text contains one of the hidden characters."""
    assert not HIDDEN & set(text), sorted(map(ascii, HIDDEN & set(text)))


@pytest.mark.parametrize("kind", ["html", "json", "csv", "md", "txt", "atom"])
def test_no_page_shows_a_hidden_character(
    client: TestClient, workspace: Workspace, tokens: dict[str, str], kind: str
) -> None:
    matches = client.get("/bots/luck1.json").json()["matches"]
    match = f"/matches/{matches[0]['match'] if isinstance(matches, list) else matches}"
    seen, odd = 0, quote(HOSTILE)
    submission = submissions.list_submissions(workspace.store)[0].id
    for path, owner in (
        *(("/bots", ""), ("/bots/luck1", ""), (match, ""), (f"{match}/games/0", "")),
        *(("/", ""), ("/submissions", ""), ("/tournaments", "")),
        ("/ladders/poke?columns=all", ""),
        *(("/bots/luck1/faults", "eve"), (f"/submissions/{submission}", "ada")),
        *((f"/bots/none{odd}", ""), (f"/matches/{odd}", ""), (f"/{odd}", "")),
    ):
        accept = {"Accept": KINDS[kind].partition(";")[0]}
        sign = {"Authorization": f"Bearer {tokens[owner]}"} if owner else {}
        answer = client.get(path, headers=accept | sign)
        is_inert(answer.text)
        seen += "u202eevil" in answer.text
    # Only the bot and the tournaments have an Atom feed.
    assert seen >= (2 if kind == "atom" else 5), kind


def test_the_exact_characters_of_a_page(client: TestClient, tokens: dict[str, str]) -> None:
    assert f"by {SPELLED_HTML}" in client.get("/bots/luck1").text
    bots = client.get("/bots.json")
    assert r"\u001b[2J\u202eevil\u2066x\u2069\u200b\u009b31m\u3164\u2028<b>&\u007f" in bots.text
    assert bots.json()["bots"][1]["language"] == HOSTILE


def error_model(sentence: str) -> dict[str, object]:
    return {"sentence": sentence, "next_page": ("", "Ladders")}


def test_every_content_type_escapes_the_same_characters() -> None:
    rows = [[HOSTILE, "a\nb|c", None, 1]]
    shown = TextTable(("<bot", "<by", "elo", "n"), rows)
    page = Page(HOSTILE, "error.html", error_model(HOSTILE), data=rows)
    assert data_formats.as_csv(shown) == f"bot,by,elo,n\n{SPELLED},a\\nb|c,,1\n".replace(
        "a\\nb", r"a b"
    )
    for text in (data_formats.as_text(HOSTILE, shown), data_formats.as_markdown(HOSTILE, shown)):
        is_inert(text)
    assert SPELLED in data_formats.as_text(HOSTILE, shown)
    html = html_pages.html(page, ServerLinks())
    is_inert(html)
    assert SPELLED_HTML in html
    assert json.loads(data_formats.as_json(page)) == [[HOSTILE, "a\nb|c", None, 1]]
    is_inert(data_formats.as_json(page))


def test_names_from_older_databases_are_escaped() -> None:
    page = Page(OLD_NAME, "error.html", error_model(OLD_NAME))
    assert r"<title>cup\u202e2026" in html_pages.html(page, ServerLinks())


def test_no_template_switches_escaping_off() -> None:
    paths = sorted((Path(web.__file__).parent / "templates").rglob("*.html"))
    assert paths
    for path in paths:
        text = path.read_text()
        assert "|safe" not in text.replace(" ", ""), path
        assert "autoescape" not in text, path
