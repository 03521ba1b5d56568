"""Test renderings as text: all visible cards, and a placeholder for hidden ones."""

from referee.game_checks.random_games import walk
from referee.game_checks.tables import Table
from referee.presentation.text import BACK, lines
from tests.arena.presentation.test_table_rendering import rendered
from tests.conformance.tables import every_table


@every_table
def test_face_down_cards_are_shown_as_a_pattern(table: Table) -> None:
    (first, *_) = walk(table, 0)
    closed = "\n".join(lines(rendered(table, first.state, ())))
    opened = "\n".join(lines(rendered(table, first.state, range(table.seats))))
    assert BACK in closed
    assert closed.count(BACK) > opened.count(BACK)
