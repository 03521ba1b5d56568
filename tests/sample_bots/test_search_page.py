"""Test the bot of docs/how-to/search.md: it has sixty lines, plays every game, and beats random."""

import json
import re
from pathlib import Path

import pytest
from pokearena.v1 import bot_pb2

from bench.strength import MeasuredForm, load
from referee.game_codec import GameCodec
from referee.games.registry import GAMES
from referee.games.shared.dealing import Seeded, board_seed
from tests.arena.cli.terminal import in_own_process

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "search.md"
LINES = 60
POSITIONS = 4
PATIENCE = "3600000"
"""Milliseconds for every decision: one hour, so that no machine is too slow."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    text = PAGE.read_text(encoding="utf-8")
    ((manifest, program),) = re.findall(
        r"^```toml\n# bot\.toml\n(.*?)^```\n\n^```python\n(.*?)^```$",
        text,
        re.DOTALL | re.MULTILINE,
    )
    search_folder = tmp_path / "search"
    search_folder.mkdir()
    (search_folder / "bot.toml").write_text(manifest, encoding="utf-8")
    (search_folder / "bot.py").write_text(program, encoding="utf-8")
    return search_folder


def test_the_search_bot_has_the_stated_length(folder: Path) -> None:
    assert "Sixty lines" in PAGE.read_text(encoding="utf-8")
    assert len((folder / "bot.py").read_text(encoding="utf-8").splitlines()) <= LINES


@pytest.mark.parametrize(
    "game_id",
    [
        pytest.param(name, marks=[pytest.mark.long] * (name in ("pokino", "pouku")))
        for name in GAMES
    ],
)
def test_the_search_bot_plays_every_game_legally_and_deterministically(
    folder: Path, game_id: str
) -> None:
    game = GAMES[game_id]
    form, codec = MeasuredForm(game, game.seats[0]), GameCodec(game)
    choose, again = (load(folder, form.start(0)) for _ in range(2))
    state = game.start(Seeded(board_seed(bytes(32), 1)))
    for luck in range(POSITIONS):
        moves = {}
        for seat in state.actors:
            head = bot_pb2.ActRequest(seat=seat, luck=luck)
            data = codec.question(head, state.view(seat), ())
            question = bot_pb2.ActRequest.FromString(data)
            action, note = choose(question)
            assert again(question) == (action, note)
            moves[seat] = codec.decode(action)
        state = state.play(moves)


@pytest.mark.long
def test_the_search_bot_beats_random_in_a_match(folder: Path) -> None:
    """The seed determines bots and boards, so each run plays the same three mirrored boards."""
    match = ("play", "saint_poker", str(folder), "sample:random", "-n", "3", "--seed", "7")
    clock = ("--start", PATIENCE, "--allowance", PATIENCE)
    result = in_own_process(folder.parent, (*match, *clock, "--json"))
    assert result.status == 0, result.err
    document = json.loads(result.out)
    assert {word for game in document["games"] for word in game["verdicts"]} == {"finished"}
    search, random = document["bots"]
    assert search["wins"] > random["wins"]
