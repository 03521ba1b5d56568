"""The outcome of a match, as the relay sends it to the remote bots that played it."""

from __future__ import annotations

from pokearena.v1 import relay_pb2
from sqlalchemy import Engine

from arena.errors import NotFound
from arena.store.matches import listing, results
from arena.store.schema import MatchState


def outcome_of(engine: Engine, match: str, version: str) -> relay_pb2.Outcome | None:
    """Return the outcome of a match for one entrant; None if it is open or unknown."""
    try:
        record = listing.find_match(engine, match)
    except NotFound:
        return None
    others = [name for name in record.entrants if name != version]
    outcome = relay_pb2.Outcome(match=match, opponents=others)
    if record.state in (MatchState.VOID, MatchState.CANCELLED):
        outcome.void_reason = record.reason or f"the match was {record.state.lower()}."
        return outcome
    if record.state != MatchState.CLOSED:
        return None
    closed = results.of_match(engine, match)
    entrant = closed.entrants.index(version)
    for game in closed.games:
        outcome.games += 1
        outcome.wins += game.is_won(entrant)
        outcome.draws += game.is_drawn(entrant)
        outcome.faults += game.faults[entrant]
    scores = [game.scores for game in closed.games if game.scores is not None]
    totals = [sum(column) for column in zip(*scores, strict=True)] or [0] * len(closed.entrants)
    outcome.points = totals[entrant]
    outcome.others.extend(total for n, total in enumerate(totals) if n != entrant)
    return outcome
