"""`ladder verify` and `ladder rebuild` find and correct changed results."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Table, event, select, update

from arena.cli import lookup
from arena.cli.ladders import rebuilt_ladder
from arena.cli.workspace import Workspace
from arena.store import database, schema
from arena.store.bots import versions
from arena.store.matches import games, match_leases
from arena.tournaments import scheduler
from tests.arena.cli.stored_tournament import record, store_tournament
from tests.arena.cli.terminal import Cli
from tests.arena.poke_plan import poke_plan
from tests.examples import quick_cases

BOTS = ("ace", "bee", "cat")


@pytest.fixture
def tournament(cwd: Path) -> str:
    """Play a tournament of two rounds."""
    return store_tournament(Workspace(), BOTS, {}, cycles=2)


def tamper(table: Table, column: str, change: Callable[[Any], Any]) -> str:
    """Change a value of one match in the store; return the match id."""
    engine = Workspace().store
    with database.writing(engine) as connection:
        match, value = connection.execute(select(table.c.match, table.c[column])).first() or ("", 0)
        connection.execute(
            update(table).where(table.c.match == match).values(**{column: change(value)})
        )
    return str(match)


def test_stored_results_match_the_records(cli: Cli, tournament: str) -> None:
    result = cli("ladder", "verify")
    assert (result.status, result.out.count("match the records")) == (0, 1)
    assert "6 matches, 12 games" in result.out
    document = cli("ladder", "verify", "--tournament", tournament, "--json").json
    assert document["verified"] is True
    assert document["ladders"]["poke"]["differences"] == []


@pytest.mark.parametrize(
    ("table", "column", "change", "what"),
    [
        (schema.games, "places", lambda places: places[::-1], "places of game 1"),
        (schema.games, "scores", lambda scores: [7, 7], "scores of game 1"),
    ],
)
def test_altered_results_are_found_and_corrected(
    cli: Cli, tournament: str, table: Table, column: str, change: Callable[[Any], Any], what: str
) -> None:
    before = cli("standings", "--json").json
    match = tamper(table, column, change)
    result = cli("ladder", "verify")
    assert (result.status, result.out) == (1, "")
    assert f"match {match}: {what} are not those of the record" in result.err
    assert result.last == "next  pokearena ladder rebuild"
    document = cli("ladder", "verify", "--json").json
    assert (document["verified"], len(document["ladders"]["poke"]["differences"]) > 0) == (
        False,
        True,
    )
    again = cli("ladder", "rebuild")
    assert again.status == 0
    assert f"match {match}: {what}" in again.err
    assert cli("ladder", "verify").status == 0
    assert cli("standings", "--json").json == before


def test_rebuilding_does_not_change_a_correct_ladder(cli: Cli, tournament: str) -> None:
    rebuilt = cli("ladder", "rebuild", "poke")
    assert rebuilt.out.rstrip() == cli("standings", "poke").out.rstrip()
    assert "12 records of 6 matches" in rebuilt.err
    document = cli("ladder", "rebuild", "--json").json
    assert document["ladders"] == cli("standings", "--json").json["ladders"]


@pytest.mark.parametrize(
    ("table", "values"),
    [
        (schema.standings, {"elo": 1300.0}),
        (schema.standings, {"place": 9}),
        (schema.ladder_fits, {"matches": 7}),
        (schema.entrant_sums, {"wins": 77}),
        (schema.line_ups, {"halves": "[0]"}),
    ],
)
def test_an_altered_ladder_is_found_and_computed_again(
    cli: Cli, tournament: str, table: Table, values: dict[str, Any]
) -> None:
    before = cli("standings", "--json").json
    with database.writing(Workspace().store) as connection:
        connection.execute(update(table).values(**values))
    if "place" not in values:
        result = cli("ladder", "verify")
        assert (result.status, result.last) == (1, "next  pokearena ladder rebuild")
    assert cli("ladder", "rebuild").status == 0
    assert cli("ladder", "verify").status == 0
    assert cli("standings", "--json").json == before


def test_an_unreadable_record_is_reported_and_left(cli: Cli, tournament: str) -> None:
    match = tamper(schema.games, "record", lambda text: text[: len(text) // 2])
    assert f"match {match} cannot be made anew" in cli("ladder", "verify").err
    rebuilt = cli("ladder", "rebuild", "--json")
    assert rebuilt.status == 1
    assert rebuilt.json["ladders"] == cli("standings", "--json").json["ladders"]


def test_an_empty_ladder_verifies_and_rebuilds(cli: Cli, cwd: Path) -> None:
    assert Workspace().store is not None
    for words in (("ladder", "verify"), ("ladder", "rebuild")):
        result = cli(*words)
        assert (result.status, result.out) == (0, "")


def close_next_match() -> None:
    store = Workspace().store
    lease = match_leases.lease(store, match_leases.due(store)[0], "w")
    assert lease is not None
    entrants = lease.spec.versions
    for number in range(lease.spec.games):
        text = record(number, lease.spec.boards, entrants, sorted(entrants))
        match_leases.commit_game(store, lease, games.read(text, entrants))


@pytest.mark.parametrize("statement", quick_cases(range(8), 3))
def test_a_match_that_closes_meanwhile_is_no_difference(cwd: Path, statement: int) -> None:
    workspace = Workspace()
    names = [f"{bot}@1" for bot in BOTS]
    for number, bot in enumerate(BOTS):
        versions.add_version(
            workspace.store, bot, "1", f"{number:064x}", f"/bots/{bot}", {"run": ["x"]}
        )
    plan = poke_plan()
    tournament = scheduler.begin(workspace.store, plan, names)
    close_next_match()
    (scope,) = lookup.scopes_of(workspace, None, tournament.id)
    executed = 0

    @event.listens_for(workspace.store, "after_cursor_execute")
    def close(connection: object, cursor: object, text: str, *rest: object) -> None:
        nonlocal executed
        executed += 1
        if executed == statement + 1:
            close_next_match()

    checked = rebuilt_ladder.verify(workspace.store, scope)
    assert executed > statement
    assert checked.differences == ()
