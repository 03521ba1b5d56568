"""Use a store from a separate process: `store_contender.py URL TASK ...`.

Tasks: `upgrade`; `register` (one version); `work OWNER` (play due matches until none is open).
"""

import json
import sys
from collections.abc import Sequence

from sqlalchemy import Engine

from arena.ratings.closed_match import PlayedGame
from arena.store import database
from arena.store.bots import versions
from arena.store.matches import games, listing, match_leases
from arena.store.matches.match_leases import Lease
from arena.store.matches.spec import MatchSpec


def played_game(
    spec: MatchSpec,
    number: int,
    places: tuple[int, ...] | None = None,
    fault: str | None = None,
    padding: int = 0,
    tags: Sequence[Sequence[str]] = (),
) -> PlayedGame:
    """Return a game as the referee could have recorded it; `fault`: verdict of the last seat."""
    seats = range(len(spec.versions))
    table, board = divmod(number, spec.boards)
    seating = [spec.versions[(seat + table) % len(seats)] for seat in seats]
    first = {"type": "game", "game": number, "table": table, "board": board, "seating": seating}
    action = {"type": "action", "game": number, "decision": 0, "seat": 0, "note": "x" * padding}
    lines: list[dict[str, object]] = [first, action]
    verdicts = ["finished"] * len(seats)
    if fault is not None:
        verdicts[-1] = fault
        words = {"verdict": fault, "sentence": f"It was a {fault}.", "output": "last words"}
        lines.append({"type": "fault", "game": number, "decision": 1, "seat": seats[-1]} | words)
    lines.append(
        {
            "type": "result",
            "game": number,
            "places": list(places or (seat + 1 for seat in seats)),
            "scores": None if fault else [10 * (len(seats) - seat) for seat in seats],
            "verdicts": verdicts,
            "bank_ms": [0 for _ in seats],
            "crashes": [0 for _ in seats],
            "faults": [int(verdict != "finished") for verdict in verdicts],
            **({"tags": tags} if tags else {}),
        }
    )
    return games.read("".join(json.dumps(line) + "\n" for line in lines), spec.versions)


def play(engine: Engine, lease: Lease) -> None:
    done = {game.game for game in lease.committed}
    for number in range(lease.spec.games):
        if number not in done:
            fault = "timeout" if number % 2 else None
            match_leases.commit_game(engine, lease, played_game(lease.spec, number, fault=fault))


def work(engine: Engine, owner: str) -> None:
    while any(match.ended is None for match in listing.matches(engine)):
        for match in match_leases.due(engine):
            lease = match_leases.lease(engine, match, owner)
            if lease is not None:
                print("took", match, flush=True)
                play(engine, lease)


def main(url: str, task: str, *words: str) -> None:
    engine = database.open(url)
    if task == "upgrade":
        database.upgrade(engine)
    elif task == "register":
        versions.add_version(engine, "same", "1", "0" * 64, "/same", {})
    elif task == "work":
        work(engine, *words)


if __name__ == "__main__":
    main(*sys.argv[1:])
