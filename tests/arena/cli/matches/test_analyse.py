"""`analyse` of a played match, as text and as JSON."""

import pytest

from arena.cli.matches.analyse import sparkline
from tests.arena.cli.terminal import Cli


def test_a_sparkline_goes_from_a_loss_to_a_win() -> None:
    assert sparkline([0.0, 0.5, 1.0]) == "▁▅█"
    assert len(sparkline([0.5] * 500)) == 60
    assert sparkline([0.5]) == "▅"


@pytest.mark.long
def test_analyse_finds_the_mistakes_of_a_random_bot(cli: Cli) -> None:
    cli("play", "pouku", "sample:greedy", "sample:random", "sample:random", "-n", 1, "--seed", 3)
    document = cli("analyse", "last", "--json").json
    assert document["engine"]["name"] == "strong"
    assert document["costliest"]
    assert all(each["mistake"] for each in document["costliest"])
    assert document["analysed"] == len(document["decisions"])
    assert cli("analyse", "last").status == 0


@pytest.mark.long
@pytest.mark.repetition
def test_analyse_compares_with_another_engine(cli: Cli) -> None:
    cli("play", "pouku", "sample:greedy", "sample:random", "sample:random", "-n", 1, "--seed", 3)
    document = cli("analyse", "last", "--engine", "champion", "--json").json
    assert document["engine"]["name"] == "champion"
    assert document["analysed"] == len(document["decisions"])
