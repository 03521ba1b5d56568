"""The bench command measures, compares with peers, and lists omitted parts."""

import importlib
import json
import subprocess
import sys
from collections.abc import Iterator

import pytest

from bench import compare, ladder
from bench.compare import Comparison
from bench.figure import Figure, FigureTarget, figure_text
from bench.session import PARTS, measured, run


def test_a_ratio_is_computed_per_round() -> None:
    figure = Figure("a", "us", (10.0, 40.0, 30.0), "b", (5.0, 10.0, 30.0))
    assert figure.ratios == [2.0, 4.0, 1.0]
    assert figure.ratio == 2.0
    assert "2.00 x that (1.00 to 4.00)" in figure_text(figure)


def test_the_spread_is_the_median_distance_from_the_median() -> None:
    assert Figure("a", "us", (8.0, 10.0, 13.0)).spread == 20.0


@pytest.mark.parametrize(
    ("target", "reached"),
    [
        (FigureTarget(10.0), True),
        (FigureTarget(10.1), False),
        (FigureTarget(9.9, at_most=True), False),
        (FigureTarget(2.0, of_ratio=True), True),
        (FigureTarget(1.9, at_most=True, of_ratio=True), False),
    ],
)
def test_a_target_is_of_the_median_or_of_the_ratio(target: FigureTarget, reached: bool) -> None:
    figure = Figure("a", "us", (10.0,), "b", (5.0,), target)
    assert figure.reached is reached
    assert ("reached" if reached else "MISSED") in figure_text(figure)


@pytest.mark.long
def test_every_part_can_be_measured() -> None:
    for part in PARTS:
        assert callable(measured(part))


@pytest.mark.long
def test_a_ladder_can_be_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, small in (("BOTS", 5), ("MATCHES", 50), ("IDLE_BOTS", 4), ("CLOSINGS", 2)):
        monkeypatch.setattr(ladder, name, small)
    found = ladder.measure()
    assert found.keys() == {"rate CPU", "standings CPU", "page CPU", "row p95"}
    assert all(value > 0 for value in found.values())


def test_a_failed_part_is_reported_and_the_next_is_measured(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def breaks(rounds: int) -> Iterator[Figure]:
        yield Figure("a", "us", (1.0,) * rounds)
        raise SystemExit("a bot faulted")

    monkeypatch.setattr("bench.queue.figures", breaks)
    monkeypatch.setattr("bench.rules.figures", lambda rounds: iter([Figure("b", "us", (2.0,))]))
    lines, whole = run(["queue", "rules"], 2, as_json=False)
    assert not whole
    assert [line["name"] for line in lines] == ["a", "the rest of queue", "b"]
    assert "the rest of queue: left out: SystemExit: a bot faulted" in capsys.readouterr().out


def started(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "bench", *words]
    return subprocess.run(command, cwd=compare.ROOT, capture_output=True, text=True, check=False)


def test_an_unknown_part_is_refused() -> None:
    output = started("sprinting")
    assert output.returncode == 2
    assert "unknown part 'sprinting'; the parts are decisions," in output.stderr


@pytest.mark.parametrize(
    ("ratios", "verdict"),
    [
        ((1.1, 1.2, 1.01, 1.3, 1.1, 1.2), "changed"),
        ((0.9, 0.8, 0.99, 0.7, 0.9, 0.8), "changed"),
        ((1.1, 1.2, 0.99, 1.3, 1.1, 1.2), "within noise"),
        ((1.1, 1.2, 1.3, 1.1, 1.2), "too few rounds"),
    ],
)
def test_a_figure_has_changed_if_all_of_six_rounds_agree(
    ratios: tuple[float, ...], verdict: str
) -> None:
    after = [10 * ratio for ratio in ratios]
    assert Comparison("rules", "a", "us", [10.0] * len(ratios), after).verdict == verdict


@pytest.mark.long
@pytest.mark.repetition
def test_two_commits_are_measured_in_their_own_checkouts() -> None:
    output = started("compare", "HEAD", "HEAD", "queue", "--rounds", "1", "--json")
    assert output.returncode == 0, output.stderr
    lines = [json.loads(line) for line in output.stdout.splitlines()]
    assert {line["part"] for line in lines} == {"queue"}
    for line in lines:
        assert line["interval"][0] <= line["ratio"] <= line["interval"][1]
        assert line["verdict"] == "too few rounds"
    listed = ["git", "-C", str(compare.ROOT), "worktree", "list"]
    assert "bench-compare" not in subprocess.run(listed, capture_output=True, text=True).stdout


@pytest.mark.parametrize(
    ("words", "status"), [(("HEAD",), 2), (("no-such-commit", "HEAD", "rules"), 1)]
)
def test_commits_that_cannot_be_compared_are_refused(words: tuple[str, ...], status: int) -> None:
    output = started("compare", *words)
    assert output.returncode == status
    assert "compare" in output.stderr if status == 2 else output.stderr.startswith("error")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("strength --boards 0", "argument --boards: '0' is not valid: use an integer of at least"),
        ("strength --skip -1", "argument --skip: '-1' is not valid: use an integer of at least 0"),
        ("strength --pair champion", "argument --pair: expected 2 arguments"),
        ("strength --pair champion walrus", "argument --pair: unknown bot 'walrus'; the bots are"),
        ("strength --pair champion:x bold", "argument --pair: 'champion:x' is not valid: only"),
        (
            "strength --pair greedy:4 bold",
            "argument --pair: 'greedy:4' is not valid: only",
        ),
    ],
)
def test_an_invalid_argument_of_a_measurement_is_refused(
    words: str,
    message: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    module, *arguments = words.split()
    monkeypatch.setattr("sys.argv", [module, *arguments])
    with pytest.raises(SystemExit) as ended:
        importlib.import_module(f"bench.{module}").main()
    assert ended.value.code == 2
    assert message in capsys.readouterr().err
