"""Test a tournament with one bot of every language."""

import os
import shutil
from pathlib import Path

import pytest

from arena.cli.bots.new import languages
from tests.arena.cli.terminal import in_own_process
from tests.examples import examples
from tests.sample_bots.authors import author_of, types
from tests.sample_bots.languages import KITS, LANGUAGES

pytestmark = [pytest.mark.long, pytest.mark.timeout(1800)]

ROUNDS = examples(3, 2)
"""Rounds of the tournament; a round robin has a match of each pair."""


@pytest.fixture
def bots(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Return the kits of all languages, after linking existing builds into the version store."""
    folders = []
    for name in languages():
        if name not in LANGUAGES:
            folders.append(KITS / name)
            continue
        author = author_of(LANGUAGES[name], tmp_path_factory)
        versions = author.home / ".pokearena" / "versions"
        shutil.copytree(
            *(versions, tmp_path / ".pokearena" / "versions"),
            symlinks=True,
            copy_function=os.link,
            dirs_exist_ok=True,
        )
        folders.append(author.kit)
    return folders


def test_bots_of_all_languages_play_a_tournament_without_a_fault(
    tmp_path: Path, bots: list[Path]
) -> None:
    words = ("tournament", "run", "poke", *bots, "--boards", 1, "--seed", "babel")
    swiss = ("--format", "swiss", "--set", f"rounds={ROUNDS}")
    played = types(tmp_path, *words, *swiss, "--workers", 2, "--start", 30_000)
    count = len(bots)
    assert {name.partition("@")[0] for name in played["entrants"]} == {
        f"random-{name}" for name in languages()
    }
    assert played["state"] == "closed"
    meetings = ROUNDS * (count // 2)
    assert played["matches"] == {
        **dict.fromkeys(played["matches"], 0),
        "closed": meetings,
    }
    assert [row["faults"] for row in played["standings"]] == [{}] * count
    games = [row["games"] for row in played["standings"]]
    assert sum(games) == 2 * 2 * meetings
    # In each round one of an odd number of bots has a bye.
    assert set(games) <= {2 * ROUNDS, 2 * (ROUNDS - count % 2)}
    bundle = types(tmp_path, "tournament", "bundle", played["tournament"], "--output", "babel")
    assert bundle
    verified = in_own_process(tmp_path, ["tournament", "verify", "babel"])
    assert verified.status == 0, verified.out + verified.err
