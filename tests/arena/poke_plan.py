"""The plan of a small tournament of Poke."""

from typing import Any

from arena.store.match_settings import TournamentPlan


def poke_plan(**changes: Any) -> TournamentPlan:
    """Return a round robin of two seats, one board and the default options, with changes."""
    poke: dict[str, Any] = {
        "name": "cup",
        "game": "poke",
        "options": {"must_beat": True},
        "seats": 2,
        "boards": 1,
    }
    return TournamentPlan(**poke | changes)
