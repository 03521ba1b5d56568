"""Test that databases, records and bundles of an earlier release are read and verified.

Commit 7051cb8 wrote the files in tests/golden/earlier, before the modules moved into packages. They
contain one round robin of Pouku between three house bots, with the seed "before".
"""

import gzip
import json
import shutil
from pathlib import Path

import pytest

from tests.arena.cli.terminal import in_own_process

EARLIER = Path(__file__).parent.parent / "golden" / "earlier"
TOURNAMENT = "t-majsde"
MATCH = "m-1vkacj0ak6"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Copy the earlier database and bundle to a folder."""
    (tmp_path / ".pokearena").mkdir()
    database = gzip.decompress((EARLIER / "arena.db.gz").read_bytes())
    (tmp_path / ".pokearena" / "arena.db").write_bytes(database)
    shutil.copytree(EARLIER / "bundle", tmp_path / "bundle")
    return tmp_path


@pytest.mark.parametrize(
    "command",
    [
        ("db", "check"),
        ("tournament", "verify", TOURNAMENT),
        ("tournament", "verify", "bundle"),
        ("ladder", "verify"),
        ("verify", MATCH),
        ("verify", f"bundle/matches/{MATCH}.jsonl"),
        ("replay", MATCH),
    ],
)
def test_an_earlier_file_is_read_and_found_sound(home: Path, command: tuple[str, ...]) -> None:
    done = in_own_process(home, command)
    assert done.status == 0, done.err


def test_the_standings_of_an_earlier_database_are_the_same(home: Path) -> None:
    done = in_own_process(home, ("standings", "--tournament", TOURNAMENT, "--json"))
    assert json.loads(done.out) == json.loads((EARLIER / "standings.json").read_text())


def test_an_earlier_tournament_is_bundled_as_it_was(home: Path) -> None:
    words = ("tournament", "bundle", TOURNAMENT, "--output", home / "again")
    assert in_own_process(home, words).status == 0
    for name in ("tournament.json", "standings.json", f"matches/{MATCH}.jsonl"):
        assert (home / "again" / name).read_text() == (EARLIER / "bundle" / name).read_text()
