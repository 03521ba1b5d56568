"""The tables on the rules pages equal those of the recounts."""

import re
from pathlib import Path

from tests.recount import poke, pokex, pokino

RULES = Path(__file__).parents[2] / "docs" / "rules"


def rows(page: str) -> list[list[str]]:
    lines = re.findall(r"^ *\| (.*) \|$", (RULES / f"{page}.md").read_text(), flags=re.MULTILINE)
    return [row.split(" | ") for row in lines]


def test_values_of_poke_hands_match_the_page() -> None:
    table = {hand.split(" (")[0]: points for hand, points in rows("poke") if points.isdecimal()}
    worth = {hand.replace("high card", "no pair"): str(p) for hand, p in poke.BONUS.items()}
    assert table == worth


def test_scores_of_the_pokex_declarer_match_the_page() -> None:
    table = [[int(points) for points in row[1:]] for row in rows("pokex") if row[0].isdecimal()]
    assert table == [[pokex.declarers(bid, took) for bid in range(1, 7)] for took in range(7)]


def test_values_of_pokino_runs_match_the_page() -> None:
    text = " ".join((RULES / "pokino.md").read_text().split())
    (rule,) = re.findall(r"\*\*K-7\.1\*\* A run of (.*?)\. The score", text)
    assert rule == (
        "2, 3 or 4 cards scores 5; of 5 cards 10; of 6 cards 15; of 7 cards 20; of 8 cards 35; "
        "of 9 cards 55; of 10 or more 90"
    )
    worth = [pokino.run_points(length) for length in range(2, 13)]
    assert worth == [5, 5, 5, 10, 15, 20, 35, 55, 90, 90, 90]
