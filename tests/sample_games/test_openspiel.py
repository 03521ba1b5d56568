"""The games of OpenSpiel work after an author has installed their package from a registry."""

import json
import shutil
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.sample_games.author import AuthorEnvironment, new_environment
from tests.sample_games.installation import SAMPLES

pytestmark = [pytest.mark.long, pytest.mark.timeout(600)]
SAMPLE = SAMPLES / "openspiel"
PROJECT = tomllib.loads((SAMPLE / "pyproject.toml").read_text(encoding="utf-8"))["project"]
GAMES = sorted(PROJECT["entry-points"]["pokearena.games"])
SEARCHED = (
    "kuhn_poker",
    "breakthrough",
    pytest.param("bridge", marks=pytest.mark.repetition),
)
ENTRANTS = ("sample:random", "sample:meek", "bots/first", "bots/last")
PROGRAM = """
while read -r line; do
    case $line in
    '{{"choices":'*) choices=${{line#*:}} choices=${{choices%%,*}}; echo $(({number})) ;;
    *) echo '{{}}' ;;
    esac
done
"""
FIRST = ("leduc_poker", "hearts", "euchre", "tic_tac_toe")
"""Games of different kinds; the others repeat their tests."""


def each_game(*first: str) -> list[Any]:
    """Return parameters for all games; CI tries the first ones."""
    return [
        pytest.param(game, marks=[pytest.mark.repetition] * (game not in first)) for game in GAMES
    ]


SIDES = {"hearts": 4}
"""Number of entrants, if it is not 2."""


@pytest.fixture(scope="module")
def author(tmp_path_factory: pytest.TempPathFactory) -> AuthorEnvironment:
    """Install the package with OpenSpiel, and write two bots by lines."""
    dependency = next(each for each in PROJECT["dependencies"] if "open-spiel" in each)
    author = new_environment(tmp_path_factory.mktemp("author"), "openspiel", dependency)
    shutil.copytree(SAMPLE / "bots", author.folder / "bots")
    for name, number in (("first", "0"), ("last", "choices - 1")):
        folder = author.folder / "bots" / name
        folder.mkdir()
        manifest = (
            f'name = "{name}"\ngames = {GAMES}\ntransport = "stdio"\nrun = ["sh", "bot.sh"]\n'
        )
        (folder / "bot.toml").write_text(manifest, encoding="utf-8")
        (folder / "bot.sh").write_text(PROGRAM.format(number=number), encoding="utf-8")
    return author


def test_no_view_depends_on_hidden_information(author: AuthorEnvironment) -> None:
    assert author.run(Path(__file__).with_name("openspiel_secrecy.py")) == ""


@pytest.mark.parametrize("game", each_game(*FIRST))
def test_a_game_passes_the_suite(author: AuthorEnvironment, game: str) -> None:
    assert json.loads(author.cli("game", "test", game, "--json"))["passed"]


@pytest.mark.parametrize("game", each_game("hearts"))
def test_a_game_appears_on_a_ladder(author: AuthorEnvironment, game: str) -> None:
    bots = ENTRANTS[: SIDES.get(game, 2)]
    words = ("-n", "1", "--seed", "7", "--data", game, "--json")
    author.cli("tournament", "run", game, *bots, *words)
    standings = json.loads(author.cli("standings", game, "--data", game, "--json"))
    (ladder,) = standings["ladders"].values()
    assert len(ladder) == len(bots)
    assert not any(row["faults"] for row in ladder)


@pytest.mark.parametrize("game", SEARCHED)
def test_the_search_of_openspiel_sits_at_a_table(author: AuthorEnvironment, game: str) -> None:
    record = f"{game}.jsonl"
    words = ("-n", "1", "--seed", "7", "--record", record)
    author.cli("play", game, "bots/mcts", "sample:random", *words)
    assert '"fault"' not in (author.folder / record).read_text(encoding="utf-8")
    author.cli("verify", record)
    assert author.cli("replay", record, "--game", "0", "--no-pause")


def test_a_replay_page_has_the_board(author: AuthorEnvironment) -> None:
    words = ("-n", "1", "--seed", "7", "--data", "pages")
    author.cli("tournament", "run", "tic_tac_toe", *ENTRANTS[:2], *words)
    (listed,) = author.cli("tournament", "list", "--data", "pages", "--json").splitlines()
    tournament = str(json.loads(listed)["tournament"])
    author.cli("tournament", "export", tournament, "--html", "site", "--data", "pages")
    pages = [path.read_text(encoding="utf-8") for path in (author.folder / "site").rglob("*.html")]
    assert any("last actions" in page for page in pages)
