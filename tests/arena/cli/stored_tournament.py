"""Store tournaments with given results, as workers do, without playing them."""

import json
import sqlite3
from collections.abc import Callable, Mapping, Sequence

from sqlalchemy import Engine

from arena.cli.workspace import Workspace
from arena.formats.round_robin import round_robin
from arena.ladders import rater
from arena.store.bots import versions
from arena.store.match_settings import TournamentPlan
from arena.store.matches import games, match_leases
from arena.tournaments import scheduler
from referee.games.registry import find_game

Scores = Mapping[frozenset[str], Sequence[tuple[str, ...]]]
"""The placings in the games of each line-up, from first to last, repeated in this order."""
StoreTournament = Callable[[Sequence[str], Scores, int], str]
"""Store a round robin of bots with these results and number of cycles; return its id."""

_STORED: dict[str, tuple[bytes, str]] = {}
"""Databases that contain one stored tournament, and its id, by the arguments."""


def record(number: int, boards: int, entrants: Sequence[str], order: Sequence[str]) -> str:
    """Return the record of a game with this order of places; a place is worth ten points."""
    table, board = divmod(number, boards)
    seating = [entrants[(seat + table) % len(entrants)] for seat in range(len(entrants))]
    places = [1 + order.index(name) for name in seating]
    lines: list[dict[str, object]] = [
        {"type": "game", "game": number, "table": table, "board": board, "seating": list(seating)},
        *(
            {"type": "action", "game": number, "decision": seat, "seat": seat, "ms": 2.0 + seat}
            for seat in range(len(seating))
        ),
        {
            "type": "result",
            "game": number,
            "places": places,
            "scores": [10 * (len(order) - place) for place in places],
            "verdicts": ["finished"] * len(places),
            "bank_ms": [0] * len(places),
            "crashes": [0] * len(places),
            "faults": [0] * len(places),
        },
    ]
    return "".join(json.dumps(line) + "\n" for line in lines)


def play_match(engine: Engine, match: str) -> None:
    """Play a due match, whose first entrant wins every game."""
    lease = match_leases.lease(engine, match, "w")
    assert lease is not None
    entrants = lease.spec.versions
    for number in range(lease.spec.games):
        text = record(number, lease.spec.boards, entrants, entrants)
        match_leases.commit_game(engine, lease, games.read(text, entrants))


def store_tournament(
    workspace: Workspace,
    bots: Sequence[str],
    results: Scores,
    *,
    game: str = "poke",
    seats: int = 2,
    boards: int = 1,
    cycles: int = 1,
) -> str:
    """Store a round robin of bots (by name, version 1) with given results; return its id.

    The first-named bot wins a pair without a given result. A new arena receives a copy of the
    database that an earlier call with equal arguments has made.
    """
    plan = TournamentPlan(
        name="cup",
        game=game,
        options=find_game(game).settle({}),
        seats=seats,
        boards=boards,
        settings={"cycles": cycles},
    )
    if workspace.has_store:
        return _play(workspace, bots, results, plan)
    key = repr((bots, results, plan))
    if key not in _STORED:
        tournament = _play(workspace, bots, results, plan)
        with sqlite3.connect(workspace.folder.database) as stored:
            _STORED[key] = stored.serialize(), tournament
        stored.close()
    else:
        workspace.folder.create()
        workspace.folder.database.write_bytes(_STORED[key][0])
    return _STORED[key][1]


def _play(workspace: Workspace, bots: Sequence[str], results: Scores, plan: TournamentPlan) -> str:
    for number, name in enumerate(bots):
        versions.add_version(
            workspace.store, name, "1", f"{number:064x}", f"/bots/{name}", {"run": ["x"]}
        )
    names = [f"{name}@1" for name in bots]
    sides = len(set(find_game(plan.game).sides(plan.seats, plan.options)))
    rounds = 1 + max(pairing.round for pairing in round_robin(len(names), sides, 1))
    tournament = scheduler.begin(workspace.store, plan, names)
    while due := match_leases.due(workspace.store):
        lease = match_leases.lease(workspace.store, due[0], "w")
        assert lease is not None
        sitting = lease.spec.versions
        given = results.get(frozenset(name.partition("@")[0] for name in sitting), ())
        for number in range(lease.spec.games):
            at = lease.spec.round // rounds * lease.spec.games + number
            order = given[at % len(given)] if given else ()
            entrants = [f"{name}@1" for name in order] or sorted(sitting, key=names.index)
            text = record(number, plan.boards, sitting, entrants)
            match_leases.commit_game(workspace.store, lease, games.read(text, sitting))
    scheduler.Scheduler(workspace.store).advance()
    rater.advance(workspace.store)
    return tournament.id
