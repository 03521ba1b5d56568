"""Store closed matches that random bots have played in this process."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from pokearena.v1 import bot_pb2

from arena.cli.workspace import Workspace
from arena.ratings.closed_match import PlayedGame
from arena.store.bots import versions
from arena.store.match_settings import TournamentPlan
from arena.store.matches import games, match_leases
from arena.tournaments import scheduler
from referee.game_checks.recorded_matches import match_record
from referee.game_checks.tables import Table
from referee.reasoning import SeatReasoning, digests
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
    reasoning: str = "",
) -> StoredMatch:
    """Play a match at a table and store it; without `close` its last game is not played.

    With `reasoning`, each bot sends this text and its name with its first decision of each game.
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
    lease = match_leases.lease(workspace.store, match_leases.due(workspace.store)[0], "w", 600)
    assert lease is not None
    record = list(read_games(match_record(played, lease.spec.seed, boards)))
    for game in record if close else record[:-1]:
        text = change(game.text)
        stored = games.read(text, lease.spec.versions)
        if reasoning:
            stored = with_reasoning(stored, reasoning, lease.spec.versions)
        match_leases.commit_game(workspace.store, lease, stored)
    scheduler.Scheduler(workspace.store).advance()
    return StoredMatch(begun_tournament.id, lease.spec.id)


def with_reasoning(game: PlayedGame, text: str, entrants: Sequence[str]) -> PlayedGame:
    """Return a game in which each bot has sent this text and its name, with its first decision."""
    (record,) = read_games(game.record)
    lines = []
    for seat, name in enumerate(record.game["seating"]):
        kept = SeatReasoning(1 << 20)
        decision = next(line["decision"] for line in record.actions if line["seat"] == seat)
        usage = bot_pb2.Usage(model="small-1", tokens_in=900, tokens_out=80, cost=0.01)
        kept.add(decision, bot_pb2.ActResponse(reasoning=f"{text} {name}", usage=usage))
        lines.append(kept.line(game.game, seat))
    result = record.result | {"reasoning": digests(lines)}
    changed = games.read(replace(record, result=result).text, entrants)
    return replace(changed, reasoning=tuple(lines))
