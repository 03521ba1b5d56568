"""A double-12 set of dominoes (rules README)."""

import pytest

from referee.games.shared.dominoes import (
    DOMINOES,
    NUMBERS,
    domino,
    dominoes,
    pile_of,
    tiles_in_order,
)
from tests.errors import has_code


def test_a_set_has_91_dominoes_and_13_doubles() -> None:
    """K-1.3."""
    assert len(DOMINOES) == len(set(DOMINOES)) == 91
    assert DOMINOES[:3] == ("0-0", "0-1", "0-2")
    assert sum(low == high for low, high in NUMBERS.values()) == 13
    assert all(low <= high for low, high in NUMBERS.values())
    assert NUMBERS[domino("3-12")] == (3, 12)


@pytest.mark.parametrize("text", ["12-3", "3-13", "3", "", "3-", "03-12", "3 12", "-1-3"])
def test_text_that_is_not_a_domino_is_refused(text: str) -> None:
    with pytest.raises(ValueError, check=has_code("not-a-domino")):
        domino(text)


def test_dominoes_have_an_order_and_a_pile_has_each_once() -> None:
    assert tiles_in_order(dominoes("10-11 2-3 0-12")) == ("0-12", "2-3", "10-11")
    pile = pile_of(dominoes("3-12 0-0"))
    assert pile[:3] == ("3-12", "0-0", "0-1")
    assert sorted(pile) == sorted(DOMINOES)
    with pytest.raises(ValueError, check=has_code("domino-twice")):
        pile_of(dominoes("3-12 3-12"))
