"""Store closed matches that random bots have played in this process."""

from collections.abc import Callable
from dataclasses import dataclass

from arena.cli.workspace import Workspace
from arena.store.bots import versions
from arena.store.match_settings import TournamentPlan
from arena.store.matches import games, transitions
from arena.tournaments import scheduler
from referee.game_checks.recorded_matches import match_record
from referee.game_checks.tables import Table
from referee.record import read_games
from tests.conformance.tables import TABLES

RecordChange = Callable[[str], str]
"""RecordChange the record of a game before it is committed."""


def table(name: str) -> Table:
    """Return the table with this name, for example "poke-2-must_beat=true"."""
    (named_table,) = (form for form in TABLES if str(form) == name)
    return named_table


@dataclass(frozen=True)
class StoredMatch:
    """Ids of a match and of the tournament that consists of it."""

    tournament: str
    match: str


def play(
    workspace: Workspace,
    played: Table,
    *,
    boards: int = 1,
    change: RecordChange = str,
    close: bool = True,
    seed: bytes = bytes(range(64, 96)),
) -> StoredMatch:
    """Play a match at a table and store it; without `close` its last game is not played.

    The deals follow from `seed`, so that a test plays the same games in every run.
    """
    sides = len(set(played.game.sides(played.seats, played.options)))
    names = [f"luck{number}" for number in range(sides)]
    for number, name in enumerate(names):
        versions.add_version(
            workspace.store, name, "1", f"{number:064x}", f"/bots/{name}", {"run": ["x"]}
        )
    plan = TournamentPlan(
        name="cup", game=played.game.id, options=played.options, seats=played.seats, boards=boards
    )
    entrants = [f"{name}@1" for name in names]
    begun_tournament = scheduler.begin(workspace.store, plan, entrants, seed)
    lease = transitions.lease(workspace.store, transitions.due(workspace.store)[0], "w", 600)
    assert lease is not None
    record = list(read_games(match_record(played, lease.spec.seed, boards)))
    for game in record if close else record[:-1]:
        text = change(game.text)
        transitions.commit_game(workspace.store, lease, games.read(text, lease.spec.versions))
    scheduler.Scheduler(workspace.store).advance()
    return StoredMatch(begun_tournament.id, lease.spec.id)
