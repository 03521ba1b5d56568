"""`pokearena matrix` and `pokearena compare`."""

from pathlib import Path

import pytest

from arena.cli.workspace import Workspace
from tests.arena.cli.stored_tournament import StoreTournament, store_tournament
from tests.arena.cli.terminal import Cli

BOTS = ("ace", "bee", "cat")
# Bee wins three of four games against cat.
THREE_OF_FOUR = {frozenset(("bee", "cat")): [*[("bee", "cat")] * 3, ("cat", "bee")]}


@pytest.fixture
def tournament(cwd: Path, stored_tournament: StoreTournament) -> str:
    """Store a tournament of twenty rounds; ace wins every game."""
    return stored_tournament(BOTS, THREE_OF_FOUR, 20)


def test_the_matrix_shows_score_interval_and_meetings_in_the_order_of_strength(
    cli: Cli, tournament: str
) -> None:
    result = cli("matrix", "poke")
    head, columns, *rows = result.out.splitlines()
    assert (result.status, head, columns.split()) == (0, "poke", ["#", "bot", "1", "2", "3"])
    assert [row.split()[1] for row in rows] == ["ace@1", "bee@1", "cat@1"]
    assert (" 75 " in rows[1], " 25 " in rows[2]) == (True, True)
    assert result.last == "next  pokearena matrix poke --los"


def test_the_json_matrix_is_antisymmetric(cli: Cli, tournament: str) -> None:
    crosstable = cli("matrix", "--tournament", tournament, "--json").json["matrices"]["poke"]
    assert crosstable["entrants"] == ["ace@1", "bee@1", "cat@1"]
    cell, mirror = crosstable["cells"][1][2], crosstable["cells"][2][1]
    assert (cell["matches"], cell["score"], mirror["score"]) == (20, 0.75, 0.25)
    assert cell["interval"][0] < 0.75 < cell["interval"][1]
    assert crosstable["cells"][0][0] is None
    assert crosstable["gifts"] == []


def test_likelihoods_of_superiority_of_two_add_up_to_one(cli: Cli, tournament: str) -> None:
    assert cli("matrix", "--los").status == 0
    superiority = cli("matrix", "--json").json["matrices"]["poke"]["superiority"]
    assert superiority[0][1] > 0.975
    assert superiority[1][2] + superiority[2][1] == pytest.approx(1)


def test_without_matches_the_matrix_is_empty(cli: Cli, cwd: Path) -> None:
    assert Workspace().store is not None
    result = cli("matrix")
    assert (result.status, result.out) == (0, "")
    assert "no match is closed yet" in result.err


def test_point_giving_at_tables_of_three_is_reported(cli: Cli, cwd: Path) -> None:
    # With dog at the table, ace beats the third bot; without dog, ace is last; one game in six
    # differs.
    def mostly(*order: str) -> list[tuple[str, ...]]:
        return [*[order] * 5, (order[1], order[0], order[2])]

    orders = {
        frozenset(order): mostly(*order)
        for order in (
            ("ace", "bee", "dog"),
            ("ace", "cat", "dog"),
            ("bee", "cat", "ace"),
            ("bee", "cat", "dog"),
        )
    }
    tournament = store_tournament(
        Workspace(), (*BOTS, "dog"), orders, game="saint_poker", seats=3, cycles=12
    )
    gifts = cli("matrix", "--json").json["matrices"]["saint_poker-3"]["gifts"]
    assert len(gifts) == 12
    first = next(gift for gift in gifts if (gift["giver"], gift["taker"]) == ("dog@1", "ace@1"))
    assert first["chance"] < 0.01
    assert (first["together"], first["apart"]) == (24, 12)
    for words in (("matrix",), ("tournament", "show", tournament)):
        output = cli(*words).err
        assert "ace@1 scores" in output
        assert "more against others while dog@1 is at the table" in output


def test_boards_are_compared_as_pairs_of_games(cli: Cli, tournament: str) -> None:
    document = cli("compare", "bee", "cat@1", "--json").json
    assert (document["form"], document["entrants"], document["unit"]) == (
        "poke",
        ["bee@1", "cat@1"],
        "board",
    )
    assert (document["matches"], document["wins"], document["draws"], document["losses"]) == (
        20,
        30,
        0,
        10,
    )
    # Matches have two games: bee wins every other match twice, and the rest once.
    assert document["pairs"] == [0, 0, 10, 0, 0, 10]
    assert document["elo"]["value"] == pytest.approx(190.85, abs=0.01)
    assert document["elo"]["low"] < document["elo"]["value"] < document["elo"]["high"]
    assert document["superiority"] > 0.99
    assert document["points_per_board"]["mean"] == 5
    facts = {line[:14].strip(): line[14:] for line in cli("compare", "bee", "cat").out.splitlines()}
    low, high = (f"{document['elo'][end]:+.2f}".replace("-", "−") for end in ("low", "high"))
    assert facts["Elo"] == f"+190.85 ({low} to {high})"
    low, high = (f"{end:+.2f}" for end in document["points_per_board"]["interval"])
    assert facts["points/board"] == f"+5.00 ({low} to {high})"


def test_swapping_the_bots_reverses_the_comparison(cli: Cli, tournament: str) -> None:
    first, other = (
        cli("compare", *pair, "--json").json for pair in (("bee", "cat"), ("cat", "bee"))
    )
    assert other["pairs"] == [10, 0, 10, 0, 0, 0]
    assert other["elo"]["value"] == pytest.approx(-first["elo"]["value"])
    assert (other["wins"], other["losses"]) == (first["losses"], first["wins"])


def test_a_sequential_test_reports_when_it_was_decided(cli: Cli, tournament: str) -> None:
    sprt = cli("compare", "bee", "cat", "--sprt", 0, 200, "--json").json["sprt"]
    assert sprt["bounds"] == pytest.approx([-2.944, 2.944], abs=0.001)
    assert sprt["verdict"] == "high"
    assert sprt["decided_after_matches"] <= 20
    assert sprt["decided_with_llr"] >= 2.944
    result = cli("compare", "bee", "cat", "--sprt", 0, 200)
    assert (
        f"at least 200 better, decided after {sprt['decided_after_matches']} matches" in result.out
    )
    small = cli("compare", "bee", "cat", "--sprt", 0, 2, "--model", "normalized")
    assert "for 2 against 0 points, normalized: open" in small.out


def test_equal_results_have_no_interval(cli: Cli, tournament: str) -> None:
    result = cli("compare", "ace", "bee")
    assert "+∞" in result.out
    document = cli("compare", "ace", "bee", "--json").json
    assert document["superiority"] is None
    assert document["elo"] == {"value": None, "low": None, "high": None}


@pytest.mark.parametrize(
    ("words", "status", "code"),
    [
        (("ace", "ace"), 2, "same-version"),
        (("ace", "dog"), 2, "unknown-bot"),
        (("ace", "bee", "--sprt", 25, 0), 2, "invalid-sprt"),
        (("ace", "bee", "--sprt", 0, 5, "--alpha", 2), 2, "invalid-sprt"),
        (("ace", "bee", "saint_poker"), 1, "never-met"),
    ],
)
def test_an_invalid_comparison_is_refused(
    cli: Cli, tournament: str, words: tuple[object, ...], status: int, code: str
) -> None:
    result = cli("compare", *words)
    assert (result.status, result.code, result.out) == (status, code, "")


def test_a_comparison_of_bots_with_two_games_requires_a_game(cli: Cli, tournament: str) -> None:
    store_tournament(Workspace(), BOTS, {}, game="saint_poker", seats=3)
    result = cli("compare", "ace", "bee")
    assert result.status == 2
    assert result.code == "several-forms"
    document = cli("compare", "ace", "bee", "saint_poker", "--json").json
    assert (document["unit"], document["pairs"], document["wins"]) == ("match", None, 3)
    boards = cli("compare", "ace", "bee", "saint_poker", "--by", "board")
    assert boards.status == 2
    assert boards.code == "no-boards"
