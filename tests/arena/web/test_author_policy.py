"""The page `author-policy` describes what each visitor can read."""

import io
import json
import re
import tarfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from arena.cli.workspace import Workspace
from arena.presentation import shipped_docs
from arena.services.web_process import WebSettings
from arena.store.bots import owners, remote_bots, submissions, versions
from arena.store.schema import SubmissionState
from arena.web.app import create
from arena.web.data.web_state import ServerSettings, WebState
from arena.web.openapi import plain
from arena.web.routes import PAGES
from tests.arena.web.closed_matches import StoredMatch, play, table
from tests.arena.web.stored_submissions import add_submission

SOURCE, NOTE, OUTPUT, REASON = "my source", "my note", "my output", "my reason"
THOUGHTS, THOUGHTS_OF_BOB = "my thoughts luck0@1", "my thoughts luck1@1"
ADDRESS = "192.0.2.17:7000"
EVERYTHING = (SOURCE, NOTE, OUTPUT, REASON, THOUGHTS, THOUGHTS_OF_BOB, ADDRESS)


def with_secrets(text: str) -> str:
    """Add a note to every action of a game, and a fault with output to the seat of luck0."""
    lines = [json.loads(line) for line in text.splitlines()]
    seat = lines[0]["seating"].index("luck0@1")
    fault = {
        **{"type": "fault", "game": lines[0]["game"], "decision": 0, "seat": seat},
        **{"verdict": "crash", "sentence": "it ended.", "output": OUTPUT},
    }
    noted = [line | ({"note": NOTE} if line["type"] == "action" else {}) for line in lines]
    return "".join(json.dumps(line) + "\n" for line in (*noted[:-1], fault, noted[-1]))


class AuthorPolicyArena:
    """An arena with a match of ada's bot, in which all data of ada are marked as secrets."""

    def __init__(self, folder: Path, *, is_over: bool) -> None:
        self.workspace = Workspace(folder / "data")
        store = self.workspace.store
        self.tokens = {name: owners.add_owner(store, name) for name in ("ada", "bob")}
        poke = table("poke-2-must_beat=true")
        self.held: StoredMatch = play(
            self.workspace,
            poke,
            change=with_secrets,
            boards=2,
            close=is_over,
            reasoning="my thoughts",
        )
        versions.set_owner(store, versions.find_version(store, "luck1@1"), "bob")
        version = versions.set_owner(store, versions.find_version(store, "luck0@1"), "ada")
        source = self.workspace.folder.versions / version.content_hash
        source.mkdir(parents=True)
        (source / "bot.py").write_text(SOURCE)
        remote_bots.add_direct(store, "far", "1", ADDRESS, "ada")
        self.submission = add_submission(self.workspace, name="luck0").id
        state = SubmissionState.REFUSED
        submissions.decide(store, self.submission, state, REASON, status=422, output=REASON)
        self.web = WebState(store, ServerSettings(rate=0))

    def texts(self, client: TestClient, owner: str) -> Iterator[str]:
        """Yield all pages in all formats with the token of an owner; "" sends no token."""
        headers = {"Authorization": f"Bearer {self.tokens[owner]}"} if owner else {}
        known = {"form": "poke", "name": "luck0", "n": "0", "game": "poke", "page": "bots"}
        paths = {
            (f"{path}{'' if kind == 'html' or path == '/' else f'.{kind}'}"): None
            for route in PAGES
            for page_id in (self.held.match, self.held.tournament, self.submission)
            for path in [_filled(plain(route.path), {**known, "id": page_id})]
            for kind in route.kinds
        }
        for path in paths:
            answer = client.get(path, headers=headers)
            assert answer.status_code < 500, path
            yield answer.text
        for ending in (".jsonl", "/record", "/logs", "/output"):
            yield client.get(f"/matches/{self.held.match}{ending}", headers=headers).text


def _filled(path: str, values: Mapping[str, str]) -> str:
    for name, value in values.items():
        path = path.replace(f"{{{name}}}", value)
    return path


def readable_secrets(arena: AuthorPolicyArena, *visitors: str) -> Mapping[str, set[str]]:
    """Return the secrets that each of these visitors can read."""
    with TestClient(create(arena.web)) as client:
        return {
            owner: {
                secret
                for text in arena.texts(client, owner)
                for secret in EVERYTHING
                if secret in text
            }
            for owner in visitors
        }


@pytest.mark.long
def test_after_a_match_notes_are_public_and_output_is_the_owners(tmp_path: Path) -> None:
    assert readable_secrets(AuthorPolicyArena(tmp_path, is_over=True), "", "bob", "ada") == {
        "": {NOTE},
        "bob": {NOTE, THOUGHTS_OF_BOB},
        "ada": {NOTE, OUTPUT, REASON, THOUGHTS},
    }


def test_during_a_match_nothing_that_its_bots_wrote_can_be_read(tmp_path: Path) -> None:
    assert readable_secrets(AuthorPolicyArena(tmp_path, is_over=False), "ada") == {
        "ada": {REASON},
    }


@pytest.mark.parametrize(
    ("option", "name"),
    [
        ("max-active-versions", "active_versions"),
        ("pushes", "pushes"),
        ("push-mib", "push_mib"),
        ("challenges", "challenges"),
        ("challenge-boards", "challenge_boards"),
    ],
)
def test_the_limits_on_the_page_are_the_defaults(option: str, name: str) -> None:
    (value,) = re.findall(rf"`--{option} (\d+)`", shipped_docs.written_page("author-policy"))
    assert int(value) == getattr(WebSettings(), name)


def test_every_page_names_the_licence_of_records(tmp_path: Path) -> None:
    arena = AuthorPolicyArena(tmp_path, is_over=True)
    with TestClient(create(arena.web)) as client:
        for path in ("/", f"/matches/{arena.held.match}", f"/submissions/{arena.submission}"):
            assert 'href="/docs/author-policy"' in client.get(path).text
        assert client.get("/docs/author-policy").status_code == 200


def test_downloads_do_not_contain_the_output_of_bots(tmp_path: Path) -> None:
    arena = AuthorPolicyArena(tmp_path, is_over=True)
    with TestClient(create(arena.web)) as client:
        record = client.get(f"/matches/{arena.held.match}.jsonl").text
        packed = client.get(f"/tournaments/{arena.held.tournament}/bundle.tar.gz").content
    bundle = b""
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        for member in archive:
            if (file := archive.extractfile(member)) is not None:
                bundle += file.read()
    for text in (record, bundle.decode()):
        assert {secret for secret in EVERYTHING if secret in text} == {NOTE}
