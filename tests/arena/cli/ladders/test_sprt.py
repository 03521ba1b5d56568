"""Test `pokearena sprt`."""

import json

import pytest
from click.testing import CliRunner

from arena.cli.root import pokearena


def run(*arguments: str) -> dict[str, object]:
    result = CliRunner().invoke(pokearena, ["sprt", *arguments, "--json"], catch_exceptions=False)
    assert result.exit_code == 0
    values: dict[str, object] = json.loads(result.stdout)
    return values


def test_the_calculator_prints_a_line_for_each_difference() -> None:
    values = run("--low", "0", "--high", "10", "--elo", "0", "--elo", "10")
    lines = values["lines"]
    assert isinstance(lines, list)
    assert [line["elo"] for line in lines] == [0, 10]
    assert [line["passes"] for line in lines] == pytest.approx([0.05, 0.95], abs=1e-3)
    assert [line["games"] for line in lines] == [2 * line["boards"] for line in lines]


def test_the_default_differences_surround_the_bounds() -> None:
    lines = run("--low", "-1.75", "--high", "0.25", "--model", "normalized")["lines"]
    assert isinstance(lines, list)
    assert [line["normalized"] for line in lines] == pytest.approx(
        [-2.75, -1.75, -1.25, -0.75, -0.25, 0.25, 1.25]
    )


def test_a_test_that_cannot_decide_is_refused() -> None:
    result = CliRunner().invoke(pokearena, ["sprt", "--low", "5", "--high", "0"])
    assert result.exit_code != 0
