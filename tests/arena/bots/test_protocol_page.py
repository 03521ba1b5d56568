"""Test that the examples in docs/reference/protocol.md match the actual behaviour."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from arena.bots.bot import Bot
from arena.bots.manifest import Manifest
from arena.bots.processes import Processes
from arena.bots.sandbox import available_levels
from arena.cli.bots.new import copy_kit
from referee.faults import Verdict
from referee.game_codec import GameCodec
from referee.games.registry import GAMES
from tests.arena.bots import transcript
from tests.conformance.tables import TABLES
from tests.referee.authors import Author, play

PAGE = transcript.PAGE.read_text(encoding="utf-8")
ROOT = transcript.PAGE.parents[2]
NO_FAULTS = {Verdict.FINISHED, Verdict.FORFEIT, Verdict.INFRASTRUCTURE}
A_MINUTE = 60


def section(heading: str) -> str:
    pattern_match = re.search(rf"^## {heading}\n(.*?)(?=^## |\Z)", PAGE, re.DOTALL | re.MULTILINE)
    assert pattern_match is not None
    return pattern_match[1]


def shell(heading: str) -> list[str]:
    return re.findall(r"^```sh\n(.*?)^```$", section(heading), re.DOTALL | re.MULTILINE)


def test_the_transcript_is_a_game_of_the_bot_on_the_page() -> None:
    played, transcript_lines = transcript.played()
    assert transcript.with_transcript(PAGE, played) == PAGE, "write it anew: scripts/transcript"
    assert transcript_lines.verdicts == [["finished"] * 3]
    assert transcript_lines.games[0].result["scores"] == [16, 10, 3]
    assert "won, with 16 points to 10 and 3." in PAGE


def test_the_example_of_a_question_as_text_is_a_golden_text() -> None:
    shown = section("A question as text")
    (path,) = re.findall(r"\[example\]\((.*?)\)", shown)
    (text,) = re.findall(r"^```text\n(.*?)^```$", shown, re.DOTALL | re.MULTILINE)
    assert text in (transcript.PAGE.parent / path).read_text(encoding="utf-8")


def test_the_bot_of_one_line_plays(tmp_path: Path) -> None:
    (line,) = shell("By lines")
    with Processes(level=available_levels.best_level()) as processes:
        line_manifest = Manifest("line", ("sh", "-c", line), transport="stdio")
        address = processes.start(0, Bot("line", line_manifest, tmp_path))
        played = play([address, Author()], start_ms=1000 * A_MINUTE, allowance_ms=1000 * A_MINUTE)
    assert played.verdicts == [["finished", "finished"]]


def test_every_action_type_has_a_json_example() -> None:
    rows = re.findall(r"^\| (Poke|Pokex|Pouku|Saint Poker|Pokino) \| (.*) \|$", PAGE, re.MULTILINE)
    assert len(rows) == len(GAMES)
    for name, cell in rows:
        game = GAMES[name.lower().replace(" ", "_")]
        codec = GameCodec(game)
        shown = [codec.decode_json(json.loads(text)) for text in re.findall("`(.*?)`", cell)]
        assert {type(action) for action in shown} == set(game.action_types)


def test_listed_games_seats_and_options_match_the_registry() -> None:
    rows = re.findall(
        r"^\| `(\w+)` \| ([2-6, ]+) \|(.*)\|$", section("What will be played"), re.MULTILINE
    )
    documented = {game: (seats, re.findall(r"`(\w+)`", options)) for game, seats, options in rows}
    assert documented == {
        game.id: (", ".join(map(str, sorted(game.seats))), list(game.options))
        for game in GAMES.values()
    }
    assert {table.game.id for table in TABLES} == documented.keys()


def test_every_verdict_on_a_fault_is_explained() -> None:
    rows = re.findall(r"^\| `(\w+)` \|", section("Faults"), re.MULTILINE)
    assert rows == [verdict for verdict in Verdict if verdict not in NO_FAULTS]


@pytest.fixture(scope="module")
def grpcurl(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of grpcurl; build it if it is not installed."""
    program_path = shutil.which("grpcurl")
    if program_path is not None:
        return Path(program_path).parent
    go = shutil.which("go") or shutil.which("go", path="/usr/local/go/bin")
    if go is None and not os.environ.get("CI"):
        pytest.skip("there is neither grpcurl nor go here")
    assert go is not None
    folder = tmp_path_factory.mktemp("go")
    (command,) = re.findall(r"go install ([\w./@-]+)", PAGE)
    environment = {**os.environ, "GOBIN": str(folder), "GOFLAGS": "-modcacherw"}
    subprocess.run([go, "install", command], check=True, env=environment)
    return folder


def objects(text: str) -> Iterator[dict[str, Any]]:
    while text := text.strip():
        document, end = json.JSONDecoder().raw_decode(text)
        text = text[end:]
        yield document


@pytest.mark.long
def test_the_shell_commands_question_a_bot(grpcurl: Path, tmp_path: Path) -> None:
    copy_kit("python", tmp_path)
    shutil.copy(ROOT / "sample_bots" / "shell" / "bot.sh", tmp_path)
    with_kit, by_lines, asks = shell("By hand")
    path = f"{Path(sys.executable).parent}:{grpcurl}:{os.environ['PATH']}"
    for start in (with_kit, by_lines):
        wait = "until [ -S /tmp/mybot.sock ]; do sleep 0.05; done\n"
        script = f"set -e\n{start}trap 'kill $! || true' EXIT\n{wait}{asks}"
        done = subprocess.run(
            ["bash", "-c", script.replace("/tmp/mybot.sock", str(tmp_path / "sock"))],
            cwd=tmp_path,
            env={**os.environ, "PATH": path},
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        _, answer, end = objects(done.stdout)
        action = GameCodec(GAMES["poke"]).decode_json(answer["action"])
        assert type(action).__name__ in ("Stand", "Draw")
        assert end == {}
        (tmp_path / "sock").unlink(missing_ok=True)
