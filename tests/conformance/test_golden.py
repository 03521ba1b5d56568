"""Golden records: deals, rules, scores and the format of records do not change.

A difference means that earlier records no longer replay to the same result. If the change is
intended, ``scripts/golden`` writes the records again; a decision record must state the reason.
"""

import json

import pytest

from referee.game_checks.tables import Table
from referee.games.contract import SetupError
from referee.games.registry import GAMES, form_of
from referee.record import read
from referee.replay import verify
from tests.conformance import perft
from tests.conformance.golden import FOLDER, path, record
from tests.conformance.tables import (
    TABLES,
    at_each_table,
    every_table,
    every_table_of_extremes,
)
from tests.errors import has_code


@every_table_of_extremes
def test_a_match_equals_its_golden_record(table: Table) -> None:
    assert path(table).read_text() == record(table)


@every_table
def test_a_golden_record_verifies(table: Table) -> None:
    kept = read(path(table).read_text())
    assert verify(kept) == []
    assert [game.number for game in kept.games] == list(range(len(kept.match["entrants"])))


def test_a_record_with_an_option_that_new_matches_may_not_have_verifies() -> None:
    """U-1.3: three seats with `reference=left`, written before the option `points` existed."""
    table = "pouku-3-teams=false-reference=left"
    kept = read((FOLDER / "refused" / f"{table}.jsonl").read_text())
    match = kept.match
    assert verify(kept) == []
    assert form_of(match["game"], match["seats"], match["options"]) == "pouku-3-reference=left"
    with pytest.raises(SetupError, check=has_code("no-effect")):
        GAMES["pouku"].check_new(match["seats"], match["options"])


def test_every_golden_record_belongs_to_a_table() -> None:
    assert {file.name for file in FOLDER.glob("*.jsonl")} == {path(table).name for table in TABLES}


@pytest.mark.parametrize("game_id", sorted(GAMES))
def test_legal_sequences_of_every_table_are_stored(game_id: str) -> None:
    kept = json.loads(perft.path(game_id).read_text())
    assert set(kept) == {str(table) for table in TABLES if table.game.id == game_id}


# The sequences of Pokino take as much time as those of all other games together.
@at_each_table(lambda table: table.game.id != "pokino")
def test_numbers_of_legal_sequences_match_the_stored_ones(table: Table) -> None:
    kept = json.loads(perft.path(table.game.id).read_text())
    assert perft.of_table(table) == kept[str(table)]
