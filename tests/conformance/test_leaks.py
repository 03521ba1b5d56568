"""Messages to a seat do not depend on information hidden from it.

The tests re-deal the hidden information in accordance with all that the seat has seen, and compare
the messages byte by byte. They must also detect deliberate leaks and incorrect re-deals.
"""

import os
from collections.abc import Iterable
from itertools import product
from typing import Any

import pytest

from referee.game_checks.tables import Table
from tests.conformance.dealing_again import (
    Check,
    Dealer,
    changed,
    false_dealing,
    false_end,
    first_problem,
    leak,
)
from tests.conformance.false_dealers import (
    changes_what_the_seat_holds,
    deals_a_card_twice,
    deals_a_domino_twice,
    forgets_that_one_must_beat,
    forgets_what_was_picked_up,
    leaves_everything,
    leaves_the_cards,
    leaves_the_dominoes,
    leaves_the_hands,
    leaves_what_is_to_come,
    loses_a_card,
    takes_what_was_played,
)
from tests.conformance.leaks import LEAKS, Leak
from tests.conformance.tables import (
    TABLES,
    every_table,
    every_table_of_extremes,
    is_extreme,
    is_plainest,
    share,
    tables,
)
from tests.examples import examples


def name(thing: object) -> str:
    """Return the name of a table, a leak or a dealer in the list of tests."""
    return getattr(thing, "__name__", str(thing))


QUICK = examples(600, 100)
LONG = int(os.environ.get("POKEARENA_REDEALS", "10000"))
"""Number of cases of the long test, from other games than the quick cases."""
TO_CATCH = 400
TO_MEASURE = examples(400, 100)
MOST = 0.7


def tables_of(*games: str) -> list[Table]:
    """Return the tables of games; of the many of Pokino a sample."""
    chosen = [table for table in TABLES if table.game.id in games]
    return [
        table
        for number, table in enumerate(chosen)
        if table.game.id != "pokino" or number % 8 == 0 or is_extreme(table)
    ]


every = tables_of("poke", "pokex", "pokino", "pouku", "saint_poker")
false_dealers = [
    *product(every, [changes_what_the_seat_holds, deals_a_card_twice]),
    *product(every, [loses_a_card, takes_what_was_played]),
    *product([t for t in every if t.options.get("must_beat")], [forgets_that_one_must_beat]),
    *product(tables_of("saint_poker", "pokino"), [forgets_what_was_picked_up]),
    *product(tables_of("pokino"), [deals_a_domino_twice]),
]
lazy_dealers = [
    *product(every, [leaves_everything, leaves_the_hands, leaves_the_cards]),
    *product(tables_of("poke", "pokex", "pouku", "saint_poker"), [leaves_what_is_to_come]),
    *product(tables_of("pokino"), [leaves_the_dominoes]),
]


def at_tables(dealers: Iterable[tuple[Table, Dealer]]) -> list[Any]:
    """Return parameters of a test; those beyond the quick suite are long, most are repetitions."""
    repeated = [pytest.mark.long, pytest.mark.repetition]
    return [
        pytest.param(
            *(table, deal),
            marks=[] if is_plainest(table) else repeated[: 1 if is_extreme(table) else 2],
        )
        for table, deal in dealers
    ]


@every_table_of_extremes
def test_questions_do_not_depend_on_hidden_information(table: Table) -> None:
    assert first_problem(table, share(table, QUICK), leak) is None


@every_table
def test_a_redealt_position_is_reachable(table: Table) -> None:
    """A game with legal actions must lead to it, and the seat must see and do the same in it."""
    assert first_problem(table, share(table, QUICK // 2), false_dealing) is None


@every_table
def test_a_redealt_position_agrees_with_the_information_of_the_seat(table: Table) -> None:
    assert first_problem(table, share(table, QUICK // 8), false_end) is None


@every_table
def test_a_redeal_changes_most_hidden_information(table: Table) -> None:
    how_often = changed(table, share(table, examples(150, 100)))
    assert how_often
    assert min(how_often.values()) > MOST, how_often


@pytest.mark.long
@pytest.mark.timeout(600)
@every_table
@pytest.mark.parametrize("check", [leak, false_dealing], ids=["leak", "dealing"])
def test_no_leak_is_found_in_many_cases(table: Table, check: Check) -> None:
    assert first_problem(table, share(table, LONG), check, first=600) is None


@pytest.mark.parametrize("mutant", LEAKS, ids=name)
def test_a_leaking_game_is_found(mutant: Leak) -> None:
    viewers = (None,) if mutant.public else ()
    for table in filter(is_plainest, tables({mutant.game.id: mutant.leaking()})):
        assert first_problem(table, TO_CATCH, leak, viewers=viewers) is not None, table


@pytest.mark.parametrize(("table", "deal"), at_tables(false_dealers), ids=name)
def test_a_wrong_redeal_is_found(table: Table, deal: Dealer) -> None:
    assert first_problem(table, TO_CATCH, false_dealing, deal) is not None


@pytest.mark.parametrize(("table", "deal"), at_tables(lazy_dealers), ids=name)
def test_an_incomplete_redeal_is_found(table: Table, deal: Dealer) -> None:
    assert min(changed(table, TO_MEASURE, deal).values()) < MOST
