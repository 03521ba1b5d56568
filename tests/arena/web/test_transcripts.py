"""The transcripts of models: only the owner of the bot and organisers can download them."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from arena.cli.workspace import Workspace
from arena.models.transcripts import TRANSCRIPT
from arena.store.access import organisers
from arena.store.bots import owners, versions
from arena.web.app import create
from arena.web.data.web_state import ServerSettings, WebState
from tests.arena.web.closed_matches import play, table

BOTS = {"ada": "luck0@1", "bob": "luck1@1"}


class TranscriptArena:
    """A match between a bot of ada and one of bob; both have called models."""

    def __init__(self, workspace: Workspace, client: TestClient, match: str) -> None:
        store = workspace.store
        self.client, self.match = client, match
        self.tokens = {name: owners.add_owner(store, name) for name in (*BOTS, "eve")}
        self.tokens["org"] = organisers.add_organiser(store, "org")
        folder = workspace.folder.outputs / match
        folder.mkdir(parents=True)
        self.transcripts = {
            owner: folder / f"{version}{TRANSCRIPT}" for owner, version in BOTS.items()
        }
        for owner, version in BOTS.items():
            versions.set_owner(store, versions.find_version(store, version), owner)
            self.transcripts[owner].write_text(f"prompt of {owner}\n")

    def status(self, who: str, version: str) -> int:
        headers = {"Authorization": f"Bearer {self.tokens[who]}"} if who else {}
        address = f"/matches/{self.match}/transcripts/{version}"
        return self.client.get(address, headers=headers).status_code

    def linked(self, who: str) -> set[str]:
        """Return the owners whose transcripts the match page links, and the links return."""
        if who:
            self.client.post("/sign-in", data={"token": self.tokens[who]}, follow_redirects=False)
        page = self.client.get(f"/matches/{self.match}", headers={"Accept": "text/html"}).text
        texts = {
            self.client.get(address).text
            for version in BOTS.values()
            if (address := f"/matches/{self.match}/transcripts/{version}") in page
        }
        self.client.cookies.clear()
        return {text.removeprefix("prompt of ").strip() for text in texts}


def opened(folder: Path, *, close: bool) -> Iterator[TranscriptArena]:
    workspace = Workspace(folder / "data")
    match = play(workspace, table("poke-2-must_beat=true"), close=close).match
    settings = ServerSettings(rate=0, data=workspace.folder.root)
    with TestClient(create(WebState(workspace.store, settings))) as client:
        yield TranscriptArena(workspace, client, match)


@pytest.fixture
def arena(tmp_path: Path) -> Iterator[TranscriptArena]:
    yield from opened(tmp_path, close=True)


@pytest.mark.parametrize(
    ("who", "statuses", "linked"),
    [
        ("ada", [200, 403], {"ada"}),
        ("bob", [403, 200], {"bob"}),
        ("org", [200, 200], {"ada", "bob"}),
        ("eve", [403, 403], set()),
        ("", [403, 403], set()),
    ],
)
def test_a_transcript_is_for_its_owner_and_organisers(
    arena: TranscriptArena, who: str, statuses: list[int], linked: set[str]
) -> None:
    assert [arena.status(who, version) for version in BOTS.values()] == statuses
    assert arena.linked(who) == linked


def test_a_missing_transcript_is_not_found(arena: TranscriptArena) -> None:
    arena.transcripts["ada"].unlink()
    assert arena.status("ada", "luck0@1") == 404
    assert arena.linked("ada") == set()


def test_the_transcript_of_an_open_match_is_refused(tmp_path: Path) -> None:
    for arena in opened(tmp_path, close=False):
        assert [arena.status(who, "luck0@1") for who in ("ada", "org")] == [403, 403]
        assert arena.linked("org") == set()
