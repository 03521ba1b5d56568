"""Goofspiel, a game of a package, works everywhere after an author has installed the package."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest

from tests.arena.cli.terminal import in_a_terminal
from tests.guarded_process import GuardedProcess
from tests.sample_games.author import COMMAND, ROOT, AuthorEnvironment, new_environment
from tests.sample_games.installation import SAMPLES
from tests.waiting import wait_until

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


def test_a_bot_of_the_author_is_tested(author: AuthorEnvironment) -> None:
    assert json.loads(author.cli("test", "bots/any", "--quick", "--json"))["passed"]


def test_a_person_plays_against_the_house_bot_of_the_package(author: AuthorEnvironment) -> None:
    words = ("play", "goofspiel", "human", "sample:goofspiel-match", "--record", "person.jsonl")
    with in_a_terminal(
        author.folder, *COMMAND, *words, program=author.python, environment=author.environment
    ) as terminal:
        for _ in range(6):
            terminal.matches(r"\d+ actions?[^\n]*help")
            terminal.press("1\n")
        terminal.sees("result: ")
        assert terminal.ends() == 0
    author.cli("verify", "person.jsonl")


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


def test_the_bundle_of_the_tournament_is_audited(
    author: AuthorEnvironment, tournament: str
) -> None:
    author.cli("tournament", "bundle", tournament, "--output", "bundle", "--data", "data")
    author.cli("tournament", "verify", "bundle")


def test_the_ladder_of_the_game_is_served_with_live_tables(author: AuthorEnvironment) -> None:
    slow = author.folder / "bots" / "slow"
    shutil.copytree(author.folder / "bots" / "any", slow)
    # A match takes several seconds, so that its table is seen.
    program = (slow / "bot.py").read_text(encoding="utf-8")
    changed = program.replace("random.choice(", "time.sleep(0.05) or random.choice(")
    (slow / "bot.py").write_text(f"import time\n{changed}", encoding="utf-8")
    author.cli("bot", "add", "sample:goofspiel-match", "--data", "served")
    author.cli("bot", "add", "bots/slow", "--name", "slow", "--data", "served")
    words = ("serve", "--no-ladders", "--ladder", "goofspiel", "--workers", "1", "--port", "0")
    with GuardedProcess(
        [author.python, *COMMAND, *words, "--data", "served", "--json"],
        cwd=author.folder,
        env=author.environment,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        page = json.loads(process.stdout.readline())["page"]

        def rated() -> set[str]:
            try:
                ladder = fetched(page, "ladders/goofspiel-2.json")
            except HTTPError as error:
                error.close()
                return set()
            return {row["entrant"] for row in ladder["standings"]}

        wait_until(lambda: fetched(page, "live.json")["tables"])
        (table, *_) = fetched(page, "live.json")["tables"]
        assert len(table["position"]["view"]["goofspiel"]["scores"]) == 2
        wait_until(lambda: rated() == {"goofspiel-match@1", "slow@1"})
        listed = fetched(page, "matches.json")["matches"]
        match = next(each["match"] for each in listed if each["closed"])
        assert " of 6" in text_of(page, f"matches/{match}/games/0")
        assert "Goofspiel" in text_of(page, "rules/goofspiel")
        process.terminate()
    assert process.returncode == 0


def text_of(page: str, path: str) -> str:
    with urlopen(page + path, timeout=60) as answer:
        text: str = answer.read().decode()
        return text


def fetched(page: str, path: str) -> Any:
    return json.loads(text_of(page, path))


def test_the_environment_passes_the_tests_of_pettingzoo(author: AuthorEnvironment) -> None:
    program = (
        "from arena.rl import env; from pettingzoo.test import api_test, seed_test\n"
        "table = lambda: env('goofspiel', seats=3)\n"
        "api_test(table(), num_cycles=200); seed_test(table, num_cycles=30)"
    )
    author.run("-W", "ignore", "-c", program)


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
