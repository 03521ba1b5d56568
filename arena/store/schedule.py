"""The schedule of a tournament as rows of the store."""

import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from arena.pairings import Pairing
from arena.store import keys
from arena.store.schema import MatchState
from arena.store.spec import Plan
from referee import dealing


def numbered(pairings: Iterable[Pairing]) -> list[tuple[int, int, tuple[int, ...]]]:
    """The pairings as (round, number within the round, entrants), in canonical order."""
    numbers: dict[int, int] = {}
    schedule = []
    for pairing in pairings:
        number = numbers.get(pairing.round, 0)
        numbers[pairing.round] = number + 1
        schedule.append((pairing.round, number, pairing.entrants))
    return sorted(schedule)


def rows(
    name: str,
    plan: Plan,
    entrants: Sequence[str],
    contents: Sequence[str],
    schedule: Iterable[tuple[int, int, tuple[int, ...]]],
    seed: bytes | None,
) -> tuple[list[Mapping[str, Any]], list[Mapping[str, Any]]]:
    """The rows of a tournament's matches, and of their entrants.

    Args:
        name: the tournament's id.
        entrants: its versions as ``name@number``.
        contents: their content hashes.
        schedule: its matches as :func:`numbered` gives them.
        seed: the tournament's, if it has one.
    """
    common: dict[str, object] = {
        "game": plan.game,
        "options": dict(plan.options),
        "seats": plan.seats,
        "boards": plan.boards,
        "clock": asdict(plan.clock),
        "policy": plan.policy,
    }
    matches: list[Mapping[str, Any]] = []
    sides: list[Mapping[str, Any]] = []
    for turn, number, table in schedule:
        key = keys.match_key(common, turn, number, [contents[entrant] for entrant in table])
        match_seed = _match_seed(seed, key)
        row = {"id": keys.match_id(name, key), "tournament": name, "round": turn, "key": key}
        matches.append(
            row
            | {
                "number": number,
                "seed": match_seed,
                "commitment": dealing.commitment(match_seed),
                "boards": plan.boards,
                "games": plan.boards * len(table),
                "state": MatchState.PENDING,
                "attempt": 0,
                "failures": 0,
            }
        )
        sides.extend(
            {"match": row["id"], "position": position, "version": entrants[entrant]}
            for position, entrant in enumerate(table)
        )
    return matches, sides


def _match_seed(seed: bytes | None, key: str) -> bytes:
    if seed is None:
        return secrets.token_bytes(dealing.SEED_BYTES)
    return dealing.derive(seed, f"match/{key}", 0)
