"""Summaries of matches."""

import pytest

from arena.store.matches.games import summarize

GAME = {
    "game": 0,
    "places": [1, 2],
    "scores": [1, 0],
    "verdicts": ["finished", "finished"],
    "faults": [0, 0],
}


@pytest.mark.parametrize("thinking", [[], [None], [[]]], ids=["no games", "none", "empty"])
def test_a_match_whose_decision_times_were_not_counted_is_summarized_without_them(
    thinking: list[list[list[int]] | None],
) -> None:
    assert summarize("poke", "m-1", ["a@1", "b@1"], [GAME], thinking).thinking is None
