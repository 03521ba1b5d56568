"""The bench command measures, compares with peers, and lists omitted parts."""

import importlib
import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from arena.ratings.scale import gap_of
from arena.ratings.sprt import SprtSettings
from bench import compare
from bench.compare import Comparison
from bench.figure import Figure, FigureTarget, figure_text
from bench.mirroring import factors, pair_scores, rotations
from bench.session import PARTS, measured, run
from bench.strength import MeasuredForm, sequential_test
from referee.games.registry import find
from tests.arena.cli.terminal import in_own_process


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
def test_a_part_is_measured_with_its_peers_and_printed(tmp_path: Path) -> None:
    words = ("bench", "evaluator", "--rounds", "1", "--json", "--no-history")
    output = in_own_process(tmp_path, words)
    assert output.status == 0, output.err
    lines = [json.loads(line) for line in output.out.splitlines()]
    beside = [line for line in lines if line["peer"] == "phevaluator"]
    assert [line["name"] for line in beside] == ["best of 5 cards", "best of 7 cards"]
    for line in beside:
        assert line["ratio"] == line["values"][0] / line["beside"][0] > 0
    missing = [line for line in lines if not line["values"]]
    assert all(line["note"].endswith("is not installed") for line in missing)


def test_a_failed_part_is_reported_and_the_next_is_measured(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def breaks(rounds: int) -> Iterator[Figure]:
        yield Figure("a", "us", (1.0,) * rounds)
        raise SystemExit("a bot faulted")

    monkeypatch.setattr("bench.queue.figures", breaks)
    monkeypatch.setattr("bench.games.figures", lambda rounds: iter([Figure("b", "us", (2.0,))]))
    lines, whole = run(["queue", "games"], 2, as_json=False)
    assert not whole
    assert [line["name"] for line in lines] == ["a", "the rest of queue", "b"]
    assert "the rest of queue: left out: SystemExit: a bot faulted" in capsys.readouterr().out


def test_an_unknown_part_is_refused(tmp_path: Path) -> None:
    output = in_own_process(tmp_path, ("bench", "sprinting"))
    assert output.status == 2
    assert "unknown part 'sprinting'; the parts are decisions," in output.err


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
def test_two_commits_are_measured_in_their_own_checkouts(tmp_path: Path) -> None:
    words = ("bench", "compare", "HEAD", "HEAD", "evaluator", "--rounds", "1", "--json")
    output = in_own_process(tmp_path, words)
    assert output.status == 0, output.err
    lines = [json.loads(line) for line in output.out.splitlines()]
    assert {line["part"] for line in lines} == {"evaluator"}
    for line in lines:
        assert line["interval"][0] <= line["ratio"] <= line["interval"][1]
        assert line["verdict"] == "too few rounds"
    listed = ["git", "-C", str(compare.ROOT), "worktree", "list"]
    assert "bench-compare" not in subprocess.run(listed, capture_output=True, text=True).stdout


@pytest.mark.parametrize(
    ("words", "status"), [(("HEAD",), 2), (("no-such-commit", "HEAD", "rules"), 1)]
)
def test_commits_that_cannot_be_compared_are_refused(
    tmp_path: Path, words: tuple[str, ...], status: int
) -> None:
    output = in_own_process(tmp_path, ("bench", "compare", *words))
    assert output.status == status
    assert output.err.startswith("error")


def test_games_that_repeat_each_other_count_as_one() -> None:
    once = np.random.default_rng(1).normal(size=(40, 1, 2))
    for factor in factors([np.repeat(once, 4, axis=1)]):
        assert factor.value == pytest.approx(1 / 4)
        assert factor.low <= factor.value <= factor.high


def test_luck_that_the_seats_exchange_saves_games() -> None:
    dice = np.random.default_rng(1)
    luck, rest = dice.normal(size=(400, 1, 2)), dice.normal(size=(400, 2, 2)) / 2
    score, points = factors([np.concatenate([luck, -luck], axis=1) + rest])
    assert score.low > 3
    assert points.low > 3


def test_seatings_that_exchange_the_bots_exchange_their_scores() -> None:
    form = MeasuredForm(find("saint_poker"), 2)
    assert rotations(form) == ["AB", "BA"]
    (as_a,), (as_b,) = (list(pair_scores(form, 0, [seating] * 2, 1)) for seating in ("AB", "BA"))
    assert as_a[0] == as_a[1]
    assert as_b[0] == as_b[1]
    assert 0 <= as_a[0][0] <= 1


@pytest.mark.parametrize(("first", "verdict"), [("greedy", "high"), ("random", "low")])
def test_a_sequential_test_accepts_the_nearer_of_two_mean_scores(first: str, verdict: str) -> None:
    form = MeasuredForm(find("poke"), 2)
    settings = SprtSettings(gap_of(0.58), gap_of(0.65))
    result = sequential_test(form, first, "random", settings, range(60))
    assert result.verdict == verdict
    assert result.boards < 60


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
        ("strength --sprt 0.65 0.58", "argument --sprt: 0.65 0.58 is not valid: use two scores"),
        ("strength --sprt 0.5 1", "argument --sprt: 0.5 1 is not valid: use two scores between"),
        ("poke_deals champion walrus", "argument second: unknown bot 'walrus'; the bots are"),
        ("luck_adjustment poke-2 --pair greedy%x bold", "argument --pair: 'greedy%x' is not valid"),
        ("mirroring poke-2 --seating ABA", "argument --seating: 'ABA' is not valid for poke-2"),
        ("scale --stored missing", "argument --stored: missing has no file arena.db; name the"),
        ("season --bots 19", "argument --bots: '19' is not valid: use an integer of at least 20"),
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
