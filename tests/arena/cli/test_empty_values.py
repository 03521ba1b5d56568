"""Empty, contradictory and misspelt values on the command line."""

import pytest

from arena.cli.errors import FAILED, USAGE
from arena.cli.matches.play_progress import MatchProgress
from tests.arena.cli.terminal import Cli


@pytest.mark.parametrize(
    "words",
    [
        ("play", "poke", "sample:meek", "sample:bold", "--seed", ""),
        ("test", "sample:meek", "--seed", " "),
        ("demo", "--seed", ""),
        ("tournament", "run", "poke", "--seed", ""),
        ("tournament", "run", "poke", "--name", ""),
        ("replay", ""),
        ("why", " "),
        ("verify", "m-"),
        ("sprt", "--alpha", "much"),
    ],
)
def test_an_empty_or_misspelt_value_is_a_usage_error(cli: Cli, words: tuple[str, ...]) -> None:
    result = cli(*words)
    assert result.status == USAGE
    assert " float" not in result.err
    assert "several matches" not in result.err


def test_an_empty_name_of_a_bot_is_not_the_current_folder(cli: Cli) -> None:
    assert cli("new", ".", "--lang", "python").status == 0
    assert cli("play", "poke", "sample:meek", "").code == "unknown-bot"
    assert cli("test", "").code == "unknown-bot"


def test_options_that_contradict_each_other_are_refused(cli: Cli) -> None:
    bots = ("sample:meek", "sample:bold")
    options = ("--option", "must_beat=true", "--option", "must_beat=false")
    assert cli("play", "poke", *bots, *options).code == "option-twice"
    result = cli("tournament", "run", "poke", *bots, *options)
    assert (result.status, result.code) == (USAGE, "option-twice")


def test_only_a_similar_name_is_suggested(cli: Cli) -> None:
    assert "did you mean" not in cli("play", "poke", "nobody", "sample:bold").err
    assert 'did you mean "poke"' in cli("rules", "poker").err
    assert 'did you mean "bold"' in cli("play", "poke", "sample:bolt", "sample:meek").err


def test_a_missing_folder_of_an_output_has_one_status(cli: Cli) -> None:
    assert cli("db", "upgrade").status == 0
    for words in (
        ("db", "backup", "nowhere/kept.db"),
        ("play", "poke", "sample:meek", "sample:bold", "--record", "nowhere/match.jsonl"),
    ):
        result = cli(*words)
        assert (result.status, type(result.error)) == (FAILED, FileNotFoundError)


def test_progress_has_no_margin_of_nothing_and_counts_decisions() -> None:
    assert "Elo" not in MatchProgress(("ace", "bee"), 4, [(1, 1)], 1.0).text
    assert "17 decisions" in MatchProgress(("ace", "bee"), 4, [], 1.0, 17).text
