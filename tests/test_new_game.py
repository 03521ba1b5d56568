"""A game that `scripts/new-game` creates in a copy of the repository works everywhere."""

import json
import re
from pathlib import Path

import pytest

from tests.repository_copy import RepositoryCopy, copied

NAME = "high_card"
BOTS = ("ann", "bob")
WALK = """
from random import Random
from arena.rl import SeatEnv, env

walk = env("high_card", render_mode="ansi")
walk.reset(seed=1)
for agent in walk.agent_iter():
    seen, _, terminated, truncated, _ = walk.last()
    legal = [number for number, allowed in enumerate(seen["action_mask"]) if allowed]
    walk.step(None if terminated or truncated else Random(1).choice(legal))
print(walk.render().splitlines()[0])
table = SeatEnv("high_card", against=lambda turn: turn.legal[0], reward="places")
seen, _ = table.reset(seed=1)
over = False
while not over:
    seen, reward, over, _, _ = table.step(int(seen["action_mask"].argmax()))
print(reward)
"""
"""Play a game in the environment of all seats, and one in that of a seat against a bot."""


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> RepositoryCopy:
    """Return a copy of the repository with a new game."""
    repository = copied(tmp_path_factory.mktemp("new") / "game")
    repository.run("python", "scripts/new-game", NAME)
    repository.generate()
    return repository


@pytest.fixture(scope="module")
def bots(copy: RepositoryCopy) -> tuple[str, ...]:
    """Create two starter bots, and let them play any game; return their folders."""
    for bot in BOTS:
        copy.cli("new", bot)
        manifest = copy.root / bot / "bot.toml"
        text = re.sub(r"^games = \[[^]]*\]\n", "", manifest.read_text(), flags=re.MULTILINE)
        manifest.write_text(text)
    return BOTS


@pytest.fixture(scope="module")
def record(copy: RepositoryCopy, bots: tuple[str, ...]) -> str:
    """Play a match; return the name of its record."""
    words = ("-n", "2", "--seed", "7", "--record", "m.jsonl", "--watch")
    printed = copy.cli("play", NAME, *bots, *words)
    assert "3 tricks played" in printed
    assert "  play " in printed
    return "m.jsonl"


@pytest.fixture(scope="module")
def tournament(copy: RepositoryCopy, bots: tuple[str, ...]) -> str:
    """Play a tournament with workers; return its id."""
    words = ("-n", "4", "--seed", "7", "--data", "data", "--json")
    copy.cli("tournament", "run", NAME, *bots, *words)
    (listed,) = copy.cli("tournament", "list", "--data", "data", "--json").splitlines()
    return str(json.loads(listed)["tournament"])


@pytest.mark.long
def test_the_tests_of_the_new_game_and_the_conformance_suite_pass(copy: RepositoryCopy) -> None:
    tests = (
        f"tests/referee/test_{NAME}.py",
        "tests/conformance/test_contract.py",
        "tests/arena/presentation/test_table_rendering.py",
    )
    # That test needs an oracle of the game, which is written by hand.
    chosen = f"{NAME} and not cards_are_conserved"
    copy.run("python", "-m", "pytest", "-n", "0", "-k", chosen, *tests)


@pytest.mark.long
def test_the_new_files_are_clean(copy: RepositoryCopy) -> None:
    game, presentation = f"referee/games/{NAME}.py", f"arena/presentation/games/{NAME}.py"
    files = (game, presentation, f"tests/referee/test_{NAME}.py", "referee/games/registry.py")
    copy.run("python", "-m", "ruff", "check", *files)
    copy.run("python", "-m", "ruff", "format", "--check", *files)


def test_rules_prints_the_new_game(copy: RepositoryCopy) -> None:
    assert "High Card" in copy.cli("rules", NAME)


@pytest.mark.long
def test_the_game_is_played_recorded_and_verified(copy: RepositoryCopy, record: str) -> None:
    lines = (copy.root / record).read_text(encoding="utf-8").splitlines()
    actions = [json.loads(line) for line in lines if '"type":"action"' in line]
    assert len(actions) == 2 * 2 * 2 * 3
    assert all("play" in line["action"]["highCard"] for line in actions)
    copy.cli("verify", record)


@pytest.mark.long
def test_the_game_is_replayed_in_the_terminal(copy: RepositoryCopy, record: str) -> None:
    printed = copy.cli("replay", record, "--game", "0", "--no-pause")
    assert "3 tricks played" in printed
    assert "stock:" in printed
    positions = copy.cli("replay", record, "--game", "0", "--json").splitlines()
    assert len(positions) == 7


@pytest.mark.long
def test_the_game_is_rated(copy: RepositoryCopy, tournament: str) -> None:
    assert tournament
    standings = json.loads(copy.cli("standings", NAME, "--data", "data", "--json"))
    bots = [row["entrant"] for row in standings["ladders"][NAME]]
    assert sorted(bots) == [f"{bot}@1" for bot in BOTS]


@pytest.mark.long
def test_the_game_has_replay_pages(copy: RepositoryCopy, tournament: str) -> None:
    copy.cli("tournament", "export", tournament, "--html", "site", "--data", "data")
    pages = [path.read_text(encoding="utf-8") for path in (copy.root / "site").rglob("*.html")]
    (replay, *_) = [text for text in pages if "3 tricks played" in text]
    assert "plays" in replay
    assert any("Rules of High Card" in text for text in pages)


@pytest.mark.long
def test_the_game_is_exported(copy: RepositoryCopy, tournament: str) -> None:
    assert tournament
    copy.cli("export", "--games", NAME, "--parquet", "decisions.parquet", "--data", "data")
    assert (copy.root / "decisions.parquet").stat().st_size > 0


@pytest.mark.long
def test_the_game_has_training_environments(copy: RepositoryCopy) -> None:
    heading, reward = copy.run("python", "-c", WALK).splitlines()
    assert heading == "3 tricks played"
    assert -1 <= float(reward) <= 1


@pytest.mark.parametrize("name", ["Whist", "2up", "../whist", "high-card"])
def test_a_name_that_is_not_an_identifier_is_refused(copy: RepositoryCopy, name: str) -> None:
    copy.run("python", "scripts/new-game", name, status=2)


def test_a_game_is_not_overwritten(copy: RepositoryCopy) -> None:
    registry = Path(copy.root / "referee/games/registry.py").read_text(encoding="utf-8")
    copy.run("python", "scripts/new-game", "poke", status=1)
    copy.run("python", "scripts/new-game", NAME, status=1)
    assert Path(copy.root / "referee/games/registry.py").read_text(encoding="utf-8") == registry
