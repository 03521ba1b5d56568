"""Goofspiel, a game of a package, works everywhere after an author has installed the package."""

import json
import shutil
from pathlib import Path

import pytest

from tests.sample_games.author import ROOT, AuthorEnvironment, new_environment
from tests.sample_games.installation import SAMPLES

HERE = Path(__file__).parent
PLAYERS = ("bots/high", "bots/any")
pytestmark = [pytest.mark.long, pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def author(tmp_path_factory: pytest.TempPathFactory) -> AuthorEnvironment:
    """Install Goofspiel, and copy two bots for it."""
    environment = new_environment(tmp_path_factory.mktemp("author"), "goofspiel")
    folder = environment.folder
    shutil.copytree(HERE / "bots", folder / "bots")
    shutil.copy(HERE / "training.py", folder)
    for bot in PLAYERS:  # As `pokearena new` does.
        shutil.copytree(ROOT / "proto/gen/pokearena", folder / bot / "pokearena")
        for module in ("pokearena_bot.py", "pokearena_server.py"):
            shutil.copy(ROOT / "sample_bots/python" / module, folder / bot)
    return environment


def test_the_package_is_small() -> None:
    """Rules, presentation and rules page together."""
    files = [path for path in (SAMPLES / "goofspiel/goofspiel").iterdir() if path.is_file()]
    assert sum(len(path.read_text(encoding="utf-8").splitlines()) for path in files) <= 300


@pytest.fixture(scope="module")
def record(author: AuthorEnvironment) -> str:
    """Play a match; return the name of its record."""
    words = ("--option", "carry", "-n", "2", "--seed", "7", "--record", "m.jsonl", "--watch")
    printed = author.cli("play", "goofspiel", *PLAYERS, *words)
    assert "Round 1 of 6" in printed
    assert "bid " in printed
    return "m.jsonl"


def test_the_game_is_played_recorded_and_verified(author: AuthorEnvironment, record: str) -> None:
    lines = (author.folder / record).read_text(encoding="utf-8").splitlines()
    actions = [json.loads(line) for line in lines if '"type":"action"' in line]
    assert len(actions) == 2 * 2 * 2 * 6
    assert all("bid" in line["action"]["goofspiel"] for line in actions)
    author.cli("verify", record)


def test_the_game_is_replayed_in_the_terminal(author: AuthorEnvironment, record: str) -> None:
    printed = author.cli("replay", record, "--game", "0", "--no-pause")
    assert "Round 6 of 6" in printed
    assert "prizes face down:" in printed
    positions = author.cli("replay", record, "--game", "0", "--json").splitlines()
    assert len(positions) == 7


@pytest.fixture(scope="module")
def tournament(author: AuthorEnvironment) -> str:
    """Play a tournament with workers; return its id."""
    words = ("-n", "4", "--seed", "7", "--data", "data", "--json")
    author.cli("tournament", "run", "goofspiel", *PLAYERS, *words)
    (listed,) = author.cli("tournament", "list", "--data", "data", "--json").splitlines()
    return str(json.loads(listed)["tournament"])


def test_the_game_is_rated(author: AuthorEnvironment, tournament: str) -> None:
    assert tournament
    standings = json.loads(author.cli("standings", "goofspiel", "--data", "data", "--json"))
    bots = [row["entrant"] for row in standings["ladders"]["goofspiel-2"]]
    assert sorted(bots) == ["any@1", "high@1"]


def test_the_game_has_replay_pages(author: AuthorEnvironment, tournament: str) -> None:
    author.cli("tournament", "export", tournament, "--html", "site", "--data", "data")
    pages = [path.read_text(encoding="utf-8") for path in (author.folder / "site").rglob("*.html")]
    (replay, *_) = [text for text in pages if "Round 6 of 6" in text]
    assert "bids" in replay
    assert any("Rules of Goofspiel" in text for text in pages)


def test_the_game_is_exported(author: AuthorEnvironment, tournament: str) -> None:
    assert tournament
    words = ("--games", "goofspiel", "--parquet", "decisions.parquet", "--data", "data")
    author.cli("export", *words)
    assert (author.folder / "decisions.parquet").stat().st_size > 0


def test_an_agent_learns_the_game(author: AuthorEnvironment) -> None:
    *_, heading, figures = author.run("training.py").splitlines()
    assert heading == "Round 6 of 6"
    before, after = map(float, figures.split())
    assert after > before + 0.5


def test_the_game_passes_the_suite(author: AuthorEnvironment) -> None:
    assert json.loads(author.cli("game", "test", "goofspiel", "--json"))["passed"]


def test_the_game_is_listed_with_its_package(author: AuthorEnvironment) -> None:
    listed = {row["game"]: row for row in json.loads(author.cli("game", "list", "--json"))}
    assert listed["goofspiel"]["package"] == "goofspiel-pokearena"
    assert listed["goofspiel"]["allowed"]
