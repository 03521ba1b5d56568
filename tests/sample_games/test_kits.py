"""Bots of the starter kits play Goofspiel, a game of a package, at the same tables."""

import json
import os
import shutil
from pathlib import Path

import pytest

from arena.cli.bots.new import languages
from referee.games.game_packages import SETTING
from tests.arena.cli.terminal import in_own_process
from tests.sample_bots.authors import author_of
from tests.sample_bots.languages import LANGUAGES
from tests.sample_games.installation import SAMPLES, install_package

pytestmark = [pytest.mark.long, pytest.mark.timeout(1800)]

TABLES = (
    ("python", "go", "javascript"),
    ("c", "shell", "typescript"),
    ("cpp", "java", "kotlin"),
    ("ruby", "rust"),
)
"""At most three seats, which are the most of the game."""
NEW = ("python", "go", "c", "shell", "typescript")
"""Kits that `new` writes for the game; go plays from its common build."""
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
BY_JSON = ("cpp", "java", "kotlin", "ruby")
"""Kits without types of games, with a bot in `json_bots` that reads and writes JSON."""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder of an author with the package."""
    home = tmp_path_factory.mktemp("kits")
    (home / "site").mkdir()
    install_package(home / "site", SAMPLES / "goofspiel")
    return home


@pytest.fixture(scope="module")
def arena(home: Path) -> Path:
    """Return the folder of the author with new bots for the game."""
    missing = [tool for tool in ("cc", "npm") if shutil.which(tool) is None]
    if missing and not os.environ.get("CI"):
        pytest.skip(f"{missing} are not installed, which the kits in C and TypeScript need")
    for language in NEW:
        played(home, "new", language, "--lang", language, "--game", "goofspiel")
        if language in TYPED:
            name, program = TYPED[language]
            assert (home / language / name).exists()
            (home / language / name).write_text(program, "utf-8")
    return home


def played(home: Path, *words: object) -> str:
    """Run a command with the package, which must succeed; return its output."""
    environment = {SETTING: "goofspiel-pokearena", "PYTHONPATH": str(home / "site")}
    done = in_own_process(home, words, environment)
    assert done.status == 0, f"{words}\n{done.out}\n{done.err}"
    return done.out


def test_every_kit_sits_at_a_table() -> None:
    assert sorted(kit for kits in TABLES for kit in kits) == list(languages())


@pytest.mark.parametrize("kits", TABLES, ids=" ".join)
def test_kits_play_at_the_same_table_without_a_fault(
    arena: Path, kits: tuple[str, ...], tmp_path_factory: pytest.TempPathFactory
) -> None:
    bots = [
        author_of(LANGUAGES[kit], tmp_path_factory).goofspiel
        if kit in LANGUAGES.keys() - TYPED
        else f"./{kit}"
        for kit in kits
    ]
    record = f"{'-'.join(kits)}.jsonl"
    words = ("-n", 1, "--seed", 7, "--start", 60_000, "--record", record)
    played(arena, "play", "goofspiel", *bots, *words)
    lines = [json.loads(line) for line in (arena / record).read_text("utf-8").splitlines()]
    assert not [line for line in lines if line["type"] == "fault"]
    notes = [line.get("note") for line in lines if line["type"] == "action"]
    typed = [kit for kit in kits if kit in TYPED or kit in BY_JSON]
    assert notes.count("typed") * len(kits) == len(notes) * len(typed)
    played(arena, "verify", record)


def test_every_kit_has_the_types_of_the_game(arena: Path) -> None:
    for language in NEW:
        kit = arena / language
        assert 'games = ["goofspiel"]' in (kit / "bot.toml").read_text("utf-8").splitlines()
        (named,) = kit.glob("goofspiel*")
        assert f"`{named.name}`" in (kit / "README.md").read_text("utf-8")
        if named.suffix == ".json":
            assert json.loads(named.read_text("utf-8"))["question"]["view"]["goofspiel"]
