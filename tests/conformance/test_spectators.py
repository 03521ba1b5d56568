"""A spectator sees public information only.

The tests re-deal everything that is not public in accordance with the public information, and
compare the spectator's view byte by byte.
"""

import os
from dataclasses import replace
from typing import Any

import pytest

from referee.game_checks.random_games import walk
from referee.game_checks.tables import Table
from referee.games.contract import State
from referee.games.shared.dealing import Chance
from tests.conformance.dealing_again import (
    Check,
    Dealer,
    changed,
    false_dealing,
    false_end,
    first_problem,
    leak,
)
from tests.conformance.false_dealers import leaves_everything, leaves_the_cards
from tests.conformance.tables import (
    TABLES,
    every_table,
    is_plainest,
    share,
)
from tests.examples import examples

SPECTATOR = (None,)
QUICK = examples(300, 60)
LONG = int(os.environ.get("POKEARENA_REDEALS", "10000")) // 5
"""Number of cases of the long test, from other games than the quick cases."""
TO_MEASURE = examples(200, 80)
MOST = 0.7

OWN: dict[str, dict[str, Any]] = {
    "poke": {"hand": (), "discards": ()},
    "pokex": {"hand": ()},
    "pokino": {"hand": (), "dominoes": ()},
    "pouku": {"reference": (), "hand": (), "drawn": "", "worth": 0, "may_keep": False},
    "saint_poker": {"hand": ()},
}
"""The fields of each game's view that are private to a seat, with the spectator's values."""


@every_table
def test_a_public_view_is_a_seat_view_without_private_fields(table: Table) -> None:
    for step in walk(table, 0):
        for seat in range(table.seats):
            hidden = OWN[table.game.id]
            assert step.state.public() == replace(step.state.view(seat), **hidden)


@every_table
def test_public_views_do_not_depend_on_hidden_information(table: Table) -> None:
    assert first_problem(table, share(table, QUICK), leak, viewers=SPECTATOR) is None


@every_table
def test_a_position_redealt_for_a_spectator_is_reachable(table: Table) -> None:
    """A game with legal actions must lead to it, with the same public information."""
    assert first_problem(table, share(table, QUICK // 2), false_dealing, viewers=SPECTATOR) is None


@every_table
def test_a_position_redealt_for_a_spectator_agrees_with_public_information(table: Table) -> None:
    assert first_problem(table, share(table, QUICK // 8), false_end, viewers=SPECTATOR) is None


@every_table
def test_a_redeal_for_a_spectator_changes_most_hidden_information(table: Table) -> None:
    how_often = changed(table, share(table, examples(150, 80)), viewers=SPECTATOR)
    assert how_often
    assert min(how_often.values()) > MOST, how_often


@pytest.mark.long
@pytest.mark.timeout(600)
@every_table
@pytest.mark.parametrize("check", [leak, false_dealing], ids=["leak", "dealing"])
def test_no_leak_to_spectators_is_found_in_many_cases(table: Table, check: Check) -> None:
    assert first_problem(table, share(table, LONG), check, viewers=SPECTATOR, first=300) is None


def sees_one_hand(state: State, seat: None, luck: Chance) -> State:
    """Keep everything that the first seat has seen, as for a view of that seat."""
    return state.redeal(0, luck)


@pytest.mark.parametrize(
    "deal",
    [sees_one_hand, leaves_everything, leaves_the_cards],
    ids=lambda deal: str(deal.__name__),
)
@pytest.mark.parametrize("table", [t for t in TABLES if is_plainest(t)], ids=str)
def test_an_incomplete_redeal_is_found(table: Table, deal: Dealer) -> None:
    assert min(changed(table, TO_MEASURE, deal, SPECTATOR).values()) < MOST
