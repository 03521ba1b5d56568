"""Test SPSA on objectives with noise, and tuning runs with real bots."""

import json
import math
import os
import re
import signal
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from random import Random

import pytest

from arena.errors import BotError
from arena.matches.tuning import tuning_file
from arena.matches.tuning.spsa import Parameter, gains, signs
from arena.matches.tuning.tuning_file import TuningFileError, with_arguments
from arena.matches.tuning.tuning_run import Play, Result, StoredResultsError, Tuning
from tests.arena.cli.terminal import POKEARENA, in_own_process
from tests.errors import has_code
from tests.examples import quick_cases
from tests.waiting import wait_until

SEED = bytes(31) + b"\7"
PARAMETERS = (
    Parameter("depth", 3, 1, 20, c_end=1, r_end=0.02, integer=True),
    Parameter("weight", 0.1, -1, 1, c_end=0.1, r_end=0.02),
)
BEST = {"depth": 12.0, "weight": -0.4}


def noisy(iteration: int, first: Mapping[str, str], second: Mapping[str, str]) -> Result:
    """Play two games whose win probability is the logistic of the difference in quality."""
    chance = Random(iteration)

    def quality(values: Mapping[str, str]) -> float:
        scales = {"depth": 4.0, "weight": 0.4}
        return -sum(((float(values[n]) - BEST[n]) / scale) ** 2 for n, scale in scales.items())

    ahead = 1 / (1 + math.exp(quality(second) - quality(first)))
    wins = sum(chance.random() < ahead for _ in range(2))
    return Result(wins, 0, 2 - wins)


def tuned(iterations: int, seed: bytes = SEED, path: Path | None = None) -> Tuning:
    return Tuning(PARAMETERS, iterations, 4, seed, "key", path)


@pytest.mark.parametrize("seed", quick_cases(range(5), 2))
def test_noisy_results_lead_to_the_best_values(seed: int) -> None:
    tuning = tuned(5000, bytes(31) + bytes([seed]))
    tuning.run(noisy)
    assert abs(tuning.values["depth"] - BEST["depth"]) < 2
    assert abs(tuning.values["weight"] - BEST["weight"]) < 0.2


def test_the_last_iteration_has_the_declared_gains() -> None:
    for parameter in PARAMETERS:
        last = gains(parameter, 999, 1000)
        assert last.step == pytest.approx(parameter.c_end)
        assert last.rate == pytest.approx(parameter.r_end)
        first = gains(parameter, 0, 1000)
        assert first.step == pytest.approx(parameter.c_end * 1000**0.101)
        learning = parameter.r_end * parameter.c_end**2 * (1100 / 101) ** 0.602
        assert first.rate * first.step**2 == pytest.approx(learning)


def test_signs_are_balanced_and_independent() -> None:
    drawn = [signs(PARAMETERS, SEED, k) for k in range(2000)]
    for name in ("depth", "weight"):
        assert abs(sum(row[name] for row in drawn)) < 4 * math.sqrt(2000)
    assert abs(sum(row["depth"] * row["weight"] for row in drawn)) < 4 * math.sqrt(2000)


def test_equal_seeds_have_equal_values() -> None:
    first, second, other = tuned(40), tuned(40), tuned(40, bytes(32))
    for tuning in (first, second, other):
        tuning.run(noisy)
    assert first.values == second.values
    assert first.values != other.values


def interrupted_at(number: int, error: type[BaseException]) -> Play:
    def play(iteration: int, first: Mapping[str, str], second: Mapping[str, str]) -> Result:
        if iteration == number:
            raise error
        return noisy(iteration, first, second)

    return play


@pytest.mark.parametrize("number", [0, 5, 18, 39])
def test_a_continued_tuning_equals_an_uninterrupted_one(number: int, tmp_path: Path) -> None:
    file = tmp_path / "results.json"
    whole = tuned(40)
    whole.run(noisy)
    stopped: list[str] = []
    with pytest.raises(KeyboardInterrupt):
        tuned(40, path=file).run(
            interrupted_at(number, KeyboardInterrupt), stop=lambda: stopped.append("")
        )
    assert stopped
    continued = tuned(40, path=file)
    assert len(continued.results) == number // 4 * 4
    continued.run(noisy)
    assert (continued.values, continued.results) == (whole.values, whole.results)
    assert json.loads(file.read_text("utf-8"))["values"] == whole.values


def test_values_stay_in_their_ranges() -> None:
    seen: list[float] = []

    def play(iteration: int, first: Mapping[str, str], second: Mapping[str, str]) -> Result:
        seen.extend(float(values["depth"]) for values in (first, second))
        return (
            Result(2, 0, 0) if float(first["depth"]) < float(second["depth"]) else Result(0, 0, 2)
        )

    tuning = tuned(300)
    tuning.run(play)
    assert min(seen) == 1
    assert tuning.values["depth"] == pytest.approx(1, abs=1)


def test_results_of_another_tuning_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "results.json"
    tuned(8, path=file).run(noisy)
    with pytest.raises(StoredResultsError, check=has_code("other-tuning")):
        Tuning(PARAMETERS, 8, 4, SEED, "other key", file)
    file.write_text("[", encoding="utf-8")
    with pytest.raises(StoredResultsError, check=has_code("damaged-results")):
        tuned(8, path=file)


def test_a_bot_that_always_has_a_fault_ends_the_tuning() -> None:
    with pytest.raises(BotError, check=has_code("every-game-faulted")):
        tuned(8).run(lambda iteration, first, second: Result(1, 0, 1, 2))


def test_arguments_replace_those_of_the_same_name() -> None:
    run = ("./bot", "--depth", "3", "--fast")
    values = {"depth": "5", "weight": "0.1"}
    assert with_arguments(run, values) == ("./bot", "--depth", "5", "--fast", "--weight", "0.1")


HEAD = 'bot = "./mybot"\ngame = "saint_poker"\niterations = 4\nboards = 1\nparallel = 2\n'
CAUTION = "[parameters.caution]\nstart = 0.5\nminimum = 0.0\nmaximum = 1.0\nc_end = 0.2\n"


@pytest.mark.parametrize(
    ("text", "key"),
    [
        (HEAD, "parameters"),
        (HEAD + CAUTION.replace("start = 0.5", "start = 2.0"), "parameters.caution.start"),
        (HEAD + CAUTION.replace("maximum = 1.0", "maximum = 0.0"), "parameters.caution.maximum"),
        (HEAD + CAUTION.replace("c_end = 0.2", "c_end = 0.0"), "parameters.caution.c_end"),
        (HEAD + CAUTION.replace("c_end = 0.2", "c_end = inf"), "parameters.caution.c_end"),
        (HEAD + CAUTION + "integer = true\n", "parameters.caution.c_end"),
        (HEAD + CAUTION.replace("0.2", "1.0") + "integer = true\n", "parameters.caution.start"),
        (HEAD + CAUTION.replace("caution", "Caution"), "parameters.Caution"),
        (HEAD + CAUTION + "steps = 2\n", "parameters.caution.steps"),
        (HEAD.replace("iterations = 4", "iterations = 0") + CAUTION, "iterations"),
    ],
)
def test_an_invalid_file_is_refused_with_its_key(text: str, key: str, tmp_path: Path) -> None:
    file = tmp_path / "tuning.toml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(TuningFileError) as refused:
        tuning_file.read(file)
    assert refused.value.key == key


BOT = """
import random, sys
from pokearena_bot import run

CAUTION = float(sys.argv[sys.argv.index("--caution") + 1])

def choose(turn):
    return turn.legal[0] if random.random() < CAUTION else turn.legal[-1]

run(choose)
"""


@pytest.fixture
def bot(tmp_path: Path) -> Callable[[str], None]:
    """Write a bot with a parameter, and its tuning file."""

    def write(head: str) -> None:
        (tmp_path / "mybot").mkdir()
        (tmp_path / "mybot" / "bot.py").write_text(BOT, encoding="utf-8")
        manifest = 'name = "mybot"\nrun = ["python", "bot.py", "--caution", "0.5"]\n'
        (tmp_path / "mybot" / "bot.toml").write_text(manifest, encoding="utf-8")
        (tmp_path / "tuning.toml").write_text(head + CAUTION, encoding="utf-8")

    return write


@pytest.mark.long
def test_the_command_tunes_a_bot_with_two_processes(
    bot: Callable[[str], None], tmp_path: Path
) -> None:
    bot(HEAD)
    result = in_own_process(tmp_path, ("tune", "tuning.toml", "--json", "--data", "data"))
    assert result.status == 0, result.err
    document = json.loads(result.out)
    assert (document["iterations"], document["games"], document["faults"]) == (4, 8, 0)
    (caution,) = document["parameters"]
    assert document["run"] == ["python", "bot.py", "--caution", caution["argument"]]
    again = in_own_process(tmp_path, ("tune", "tuning.toml", "--data", "data"))
    assert (
        f'bot.toml: run = ["python", "bot.py", "--caution", "{caution["argument"]}"]' in again.out
    )
    restarted = in_own_process(
        tmp_path, ("tune", "tuning.toml", "--json", "--restart", "--data", "data")
    )
    assert json.loads(restarted.out) == document


@pytest.mark.long
def test_ctrl_c_leaves_results_that_the_same_command_continues(
    bot: Callable[[str], None], tmp_path: Path
) -> None:
    bot(HEAD.replace("iterations = 4", "iterations = 8"))
    words = ("tune", "tuning.toml", "--json", "--data", "data")
    whole = in_own_process(tmp_path, words)
    results = tmp_path / "tuning.toml.results.json"
    results.unlink()
    process = subprocess.Popen(
        [POKEARENA, *words], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    wait_until(results.exists)
    os.kill(process.pid, signal.SIGINT)
    _, err = process.communicate()
    assert process.returncode == 130
    assert "the same command continues" in err
    assert len(json.loads(results.read_text("utf-8"))["results"]) < 8
    continued = in_own_process(tmp_path, words)
    assert json.loads(continued.out) == json.loads(whole.out)


def test_a_bot_that_plays_no_such_game_is_refused(
    bot: Callable[[str], None], tmp_path: Path
) -> None:
    bot(HEAD.replace("saint_poker", "saint_pokr"))
    result = in_own_process(tmp_path, ("tune", "tuning.toml", "--data", "data"))
    assert result.status == 2
    assert "saint_poker" in result.err


@pytest.mark.long
def test_the_files_of_the_page_are_those_of_a_tuning(tmp_path: Path) -> None:
    page = Path(__file__).parents[4] / "docs" / "how-to" / "tune.md"
    text = page.read_text(encoding="utf-8")
    blocks = dict(re.findall(r"^```(toml\n# \S+|py)\n(.*?)^```$", text, re.DOTALL | re.MULTILINE))
    (tmp_path / "mybot").mkdir()
    (tmp_path / "mybot" / "bot.toml").write_text(blocks["toml\n# mybot/bot.toml"], "utf-8")
    choose = "run(lambda turn: turn.legal[0 if turn.decision % 2 < CAUTION else -1])\n"
    (tmp_path / "mybot" / "bot.py").write_text(blocks["py"] + choose, "utf-8")
    tuning = blocks["toml\n# tuning.toml"].replace("iterations = 1000", "iterations = 1")
    (tmp_path / "tuning.toml").write_text(tuning, "utf-8")
    result = in_own_process(tmp_path, ("tune", "tuning.toml", "--data", "data"))
    assert result.status == 0, result.err
    assert "1 iteration of 1, 4 games, 0 with a fault" in result.out
