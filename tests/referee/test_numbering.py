"""People count games, decisions and seats from 1; records count them from 0."""

import pytest

from referee.numbering import counted_from_one, decision_text


@pytest.mark.parametrize(
    ("stored", "shown"),
    [
        ("game 0, decision 11: seat 1: it exited", "game 1, decision 12: seat 2: it exited"),
        (
            "game 9, decision 0: seat 0: it answered game 9, decision 99, which was not asked",
            "game 10, decision 1: seat 1: it answered game 10, decision 100, which was not asked",
        ),
        ("seat 0: it did not start within 10 s", "seat 1: it did not start within 10 s"),
        ("it played in seat 0: twice", "it played in seat 0: twice"),
    ],
)
def test_a_stored_sentence_is_shown_with_numbers_from_1(stored: str, shown: str) -> None:
    assert counted_from_one(stored) == shown


def test_a_number_of_another_type_stays() -> None:
    assert decision_text(None, "x") == "game None, decision x"
