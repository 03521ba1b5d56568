"""Test that data folders, records and bundles of earlier releases are read, verified and continued.

`scripts/release-files` writes the files of a release (tests/arena/release_files.py). Version 0.1.0
had no tag; commit 7051cb8 wrote its files: one round robin of Pouku between three house bots.
"""

import contextlib
import io
import json
import shutil
import subprocess
import tarfile
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from arena.cli.run import execute
from tests import tar_files
from tests.arena.cli.terminal import CommandResult
from tests.arena.release_files import BUF, EARLIER, ROOT

RELEASES = sorted(path.name for path in EARLIER.iterdir())
WITH_DATA_FOLDER = [name for name in RELEASES if name != "0.1.0"]


@dataclass(frozen=True)
class EarlierRelease:
    """A copy of the data folder and the bundle of a release, and the ids in them."""

    release: Path
    folder: Path
    ids: dict[str, str]

    def run(self, *words: str) -> CommandResult:
        out, err = io.StringIO(), io.StringIO()
        with contextlib.chdir(self.folder), redirect_stdout(out), redirect_stderr(err):
            outcome = execute([self.ids.get(word, word) for word in words])
        assert outcome.status == 0, f"{words}\n{out.getvalue()}\n{err.getvalue()}"
        return CommandResult(outcome.status, out.getvalue(), err.getvalue())

    def tournament(self, name: str) -> dict[str, Any]:
        """Return what `tournament show` prints."""
        shown: dict[str, Any] = json.loads(self.run("tournament", "show", name, "--json").out)
        return shown


@pytest.fixture
def earlier(request: pytest.FixtureRequest, tmp_path: Path) -> EarlierRelease:
    release = EARLIER / request.param
    with tarfile.open(release / "arena.tar.gz") as archive:
        tar_files.extract_all(archive, tmp_path / ".pokearena")
    shutil.copytree(release / "bundle", tmp_path / "bundle")
    return EarlierRelease(release, tmp_path, json.loads((release / "expected.json").read_text()))


of_all = pytest.mark.parametrize("earlier", RELEASES, indirect=True)
of_those_with_a_data_folder = pytest.mark.parametrize("earlier", WITH_DATA_FOLDER, indirect=True)


@of_all
@pytest.mark.parametrize(
    "command",
    [
        ("db", "upgrade"),
        ("db", "check"),
        ("tournament", "verify", "closed"),
        ("tournament", "verify", "bundle"),
        ("ladder", "verify"),
        ("verify", "match"),
        ("replay", "match"),
    ],
)
def test_an_earlier_file_is_read_and_verified(
    earlier: EarlierRelease, command: tuple[str, ...]
) -> None:
    if command == ("db", "check"):
        # It checks the tables of this version only.
        earlier.run("db", "upgrade")
    earlier.run(*command)


@of_all
def test_a_record_in_an_earlier_bundle_is_verified(earlier: EarlierRelease) -> None:
    earlier.run("verify", f"bundle/matches/{earlier.ids['match']}.jsonl")


def assert_contains(now: Any, before: Any) -> None:
    """Assert that a document has all earlier values; only the weighting of strengths has changed.

    New members are allowed.
    """
    if isinstance(before, dict):
        for name, value in before.items():
            if name != "weighting":
                assert_contains(now[name], value)
    elif isinstance(before, list):
        for new, old in zip(now, before, strict=True):
            assert_contains(new, old)
    else:
        assert now == before


@of_all
def test_the_standings_of_an_earlier_database_are_the_same(earlier: EarlierRelease) -> None:
    now = json.loads(earlier.run("standings", "--tournament", "closed", "--json").out)
    assert_contains(now, json.loads((earlier.release / "standings.json").read_text()))


@of_all
def test_an_earlier_tournament_has_an_unchanged_bundle(earlier: EarlierRelease) -> None:
    earlier.run("tournament", "bundle", "closed", "--output", "again")
    before, after = earlier.folder / "bundle", earlier.folder / "again"
    for name in ("tournament.json", f"matches/{earlier.ids['match']}.jsonl"):
        assert (after / name).read_text() == (before / name).read_text()
    assert_contains(
        *(json.loads((path / "standings.json").read_text()) for path in (after, before))
    )


@of_those_with_a_data_folder
def test_an_earlier_data_folder_has_its_bots_owners_and_local_matches(
    earlier: EarlierRelease,
) -> None:
    bots = [json.loads(line) for line in earlier.run("bot", "list", "--json").out.splitlines()]
    assert {bot["version"] for bot in bots} == {"kit@1", "lines@1", "greedy@1"}
    assert "ada" in earlier.run("owner", "list", "--json").out
    listed = earlier.run("tournament", "list", "--json").out.splitlines()
    assert [json.loads(line)["tournament"] for line in listed] == [
        earlier.ids["closed"],
        earlier.ids["open"],
    ]
    earlier.run("verify", "local_match")


@of_those_with_a_data_folder
@pytest.mark.long
def test_an_earlier_tournament_is_continued_with_its_bots(earlier: EarlierRelease) -> None:
    before = earlier.tournament("open")
    assert before["state"] != "closed"
    assert before["games"] < before["planned"]
    earlier.run("tournament", "resume", "open")
    after = earlier.tournament("open")
    assert after["state"] == "closed"
    assert after["games"] == after["planned"] == before["planned"]
    assert after["matches"]["void"] == 0
    earlier.run("tournament", "verify", "open")
    earlier.run("db", "check")
    earlier.run("ladder", "verify")


@pytest.mark.parametrize("release", WITH_DATA_FOLDER)
def test_the_protocol_is_compatible_with_earlier_releases(release: str) -> None:
    against = EARLIER / release / "protocol.binpb"
    done = subprocess.run(
        [BUF, "breaking", ROOT / "proto", "--against", against],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
