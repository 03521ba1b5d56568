"""Bots of the starter kits play Goofspiel, a game of a package, at the same tables."""

import json
import os
import shutil
from pathlib import Path

import pytest

from referee.games.game_packages import SETTING
from tests.arena.cli.terminal import in_own_process
from tests.sample_bots.authors import UNOPTIMIZED
from tests.sample_bots.languages import LANGUAGES
from tests.sample_games.installation import SAMPLES, install_package

pytestmark = [pytest.mark.long, pytest.mark.timeout(900)]

TABLES = (
    ("python", "go", "javascript"),
    ("c", "shell", "typescript"),
    ("rust", "c", "go"),
)
"""Three seats are the most of the game; CI leaves out the last table, whose build takes long."""
TYPED = {
    "python": (
        "bot.py",
        """
from goofspiel_types import Bid, GoofspielAction, GoofspielView, actions_of, move, view_of
from pokearena_bot import Move, Turn, run


def worth(view: GoofspielView) -> int:
    return sum(int(prize[0]) for prize in view["prizes"])


def choose(turn: Turn) -> Move:
    prize = worth(view_of(turn))
    action = min(actions_of(turn), key=lambda each: abs(int(each["bid"]["card"][0]) - prize))
    return move(action), "typed"


run(choose)
""",
    ),
    "typescript": (
        "random.ts",
        """
import { run } from "./kit.js";
import { actionsOf, type GoofspielView, move, viewOf } from "./goofspiel_types.js";

const worth = (view: GoofspielView): number =>
  view.prizes.reduce((sum, prize) => sum + Number(prize[0]), 0);

run((turn) => {
  const prize = worth(viewOf(turn));
  const distance = (card: string): number => Math.abs(Number(card[0]) - prize);
  const [first, ...others] = actionsOf(turn);
  const best = others.reduce(
    (best, each) => (distance(each.bid.card) < distance(best.bid.card) ? each : best),
    first,
  );
  return [move(best), "typed"];
});
""",
    ),
}
"""Bots that use the written types, by language."""
JSON_BOTS = {
    "cpp": "bot.cc",
    "java": "src/main/java/MyBot.java",
    "kotlin": "src/main/kotlin/MyBot.kt",
    "ruby": "bot.rb",
}
"""Bots that read and write the JSON of generic messages, in kits without types of games."""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder of an author with the package."""
    home = tmp_path_factory.mktemp("kits")
    (home / "site").mkdir()
    install_package(home / "site", SAMPLES / "goofspiel")
    return home


@pytest.fixture(scope="module")
def arena(home: Path) -> Path:
    """Return the folder of the author with a bot in each language of the tables."""
    languages = sorted({kit for kits in TABLES for kit in kits})
    require(*languages)
    for language in languages:
        write_kit(home, language)
        if language in TYPED:
            name, program = TYPED[language]
            assert (home / language / name).exists()
            (home / language / name).write_text(program, "utf-8")
    return home


def require(*languages: str) -> None:
    """Skip the test if a tool of these kits is missing."""
    for tool in {tool for language in languages for tool in tools(language)}:
        if shutil.which(tool) is None:
            if os.environ.get("CI"):
                pytest.fail(f"{tool} is not installed, and in CI nothing is skipped")
            pytest.skip(f"{tool} is not installed, which a starter kit needs")


def write_kit(home: Path, language: str) -> None:
    """Write a new bot for the game."""
    played(home, "new", language, "--lang", language, "--game", "goofspiel")
    if language in UNOPTIMIZED:
        path, optimized, changed = UNOPTIMIZED[language]
        text = (home / language / path).read_text("utf-8")
        (home / language / path).write_text(text.replace(optimized, changed), "utf-8")


def tools(language: str) -> tuple[str, ...]:
    if language in LANGUAGES:
        return LANGUAGES[language].tools
    return ("cc",) if language == "c" else ()


def played(home: Path, *words: object) -> str:
    """Run a command with the package, which must succeed; return its output."""
    environment = {SETTING: "goofspiel-pokearena", "PYTHONPATH": str(home / "site")}
    done = in_own_process(home, words, environment)
    assert done.status == 0, f"{words}\n{done.out}\n{done.err}"
    return done.out


@pytest.mark.parametrize(
    "kits", [*TABLES[:-1], pytest.param(TABLES[-1], marks=pytest.mark.repetition)], ids=" ".join
)
def test_kits_play_at_the_same_table_without_a_fault(arena: Path, kits: tuple[str, ...]) -> None:
    bots = [f"./{kit}" for kit in kits]
    record = f"{'-'.join(kits)}.jsonl"
    words = ("-n", 1, "--seed", 7, "--start", 30_000, "--record", record)
    played(arena, "play", "goofspiel", *bots, *words)
    lines = [json.loads(line) for line in (arena / record).read_text("utf-8").splitlines()]
    assert not [line for line in lines if line["type"] == "fault"]
    notes = [line.get("note") for line in lines if line["type"] == "action"]
    assert notes.count("typed") * 3 == len(notes) * len(TYPED.keys() & {*kits})
    played(arena, "verify", record)


@pytest.mark.parametrize("language", JSON_BOTS)
def test_a_kit_plays_by_json(home: Path, language: str) -> None:
    require(language)
    write_kit(home, language)
    path = home / language / JSON_BOTS[language]
    assert path.exists()
    shutil.copy(Path(__file__).parent / "json_bots" / path.name, path)
    record = f"{language}.jsonl"
    words = ("-n", 1, "--seed", 7, "--start", 30_000, "--record", record)
    played(home, "play", "goofspiel", f"./{language}", "sample:goofspiel-match", *words)
    lines = [json.loads(line) for line in (home / record).read_text("utf-8").splitlines()]
    assert not [line for line in lines if line["type"] == "fault"]
    notes = [line.get("note") for line in lines if line["type"] == "action"]
    assert notes.count("typed") * 2 == len(notes)
    played(home, "verify", record)


def test_every_kit_has_the_types_of_the_game(arena: Path) -> None:
    for language in {kit for kits in TABLES for kit in kits}:
        kit = arena / language
        assert 'games = ["goofspiel"]' in (kit / "bot.toml").read_text("utf-8").splitlines()
        (named,) = kit.glob("goofspiel*")
        assert f"`{named.name}`" in (kit / "README.md").read_text("utf-8")
        if named.suffix == ".json":
            assert json.loads(named.read_text("utf-8"))["question"]["view"]["goofspiel"]
