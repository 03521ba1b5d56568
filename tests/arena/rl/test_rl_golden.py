"""Test that observations and masks stay the same, byte by byte: trained policies depend on them."""

import json

from referee.game_checks.tables import Table
from tests.arena.rl.golden_observations import FILE, observation_hash
from tests.conformance.tables import every_table


@every_table
def test_observations_of_a_seeded_game_do_not_change(table: Table) -> None:
    assert observation_hash(table) == json.loads(FILE.read_text(encoding="utf-8"))[str(table)]
