"""Store scheduled matches as rows, and the strengths from which they were paired."""

import secrets
from collections.abc import Iterable, Mapping
from typing import Any

from sqlalchemy import Connection, insert, select, update

from arena.formats.contract import Fixture, PairingStrengths
from arena.store import ids, schema
from arena.store.match_settings import TournamentPlan
from arena.store.schema import MatchState
from referee.games.shared import dealing


def store_fixtures(
    connection: Connection,
    tournament: str,
    plan: TournamentPlan,
    fixtures: Iterable[Fixture],
    seed: bytes | None,
) -> tuple[str, ...]:
    """Store matches that are due at once; return their ids in canonical order.

    Args:
        connection: a transaction that has locked the tournament.
        fixtures: the matches; entrants are versions as ``name@number``, in order of their seeds.
        seed: the tournament's random seed, if it has one.
    """
    ordered = sorted(fixtures, key=lambda fixture: (fixture.round, fixture.number))
    if not ordered:
        return ()
    versions = schema.versions
    query = select(versions.c.id, versions.c.content_hash).join(
        schema.entrants, schema.entrants.c.version == versions.c.id
    )
    of_it = query.where(schema.entrants.c.tournament == tournament)
    contents = {row.id: row.content_hash for row in connection.execute(of_it)}
    matches, sides = rows(tournament, plan, contents, ordered, seed)
    connection.execute(insert(schema.matches), matches)
    connection.execute(insert(schema.match_entrants), sides)
    table = schema.tournaments
    more = {"matches": len(matches), "games": sum(match["games"] for match in matches)}
    connection.execute(
        update(table)
        .where(table.c.id == tournament)
        .values({name: table.c[name] + number for name, number in more.items()})
    )
    return tuple(str(match["id"]) for match in matches)


def store_strengths(
    connection: Connection, tournament: str, number: int, strengths: PairingStrengths
) -> None:
    """Store the strengths from which a round was paired, in the transaction of its matches."""
    values = {"tournament": tournament, "round": number, "seq": strengths.seq}
    row = {**values, "strengths": dict(strengths.values)}
    connection.execute(insert(schema.pairing_strengths), row)


def read_strengths(connection: Connection, tournament: str) -> dict[int, PairingStrengths]:
    """Return the strengths from which the rounds of a tournament were paired, by round."""
    table = schema.pairing_strengths
    query = select(table).where(table.c.tournament == tournament).order_by(table.c.round)
    return {
        row.round: PairingStrengths(row.seq, row.strengths) for row in connection.execute(query)
    }


def rows(
    tournament: str,
    plan: TournamentPlan,
    contents: Mapping[str, str],
    fixtures: Iterable[Fixture],
    seed: bytes | None,
) -> tuple[list[Mapping[str, Any]], list[Mapping[str, Any]]]:
    """Return the rows of `matches`, and the rows of `match_entrants`.

    Args:
        contents: the content hash of each version.
        seed: the tournament's random seed, if it has one.
    """
    common = plan.agreed()
    matches: list[Mapping[str, Any]] = []
    sides: list[Mapping[str, Any]] = []
    for fixture in fixtures:
        number, table = fixture.number, fixture.entrants
        table_contents = [contents[entrant] for entrant in table]
        key = ids.match_key(common, fixture.round, number, table_contents)
        match_seed = match_seed_of(seed, key)
        row = {
            "id": ids.match_id(tournament, key),
            "tournament": tournament,
            "round": fixture.round,
        }
        matches.append(
            row
            | {
                "number": number,
                "key": key,
                "why": fixture.why,
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
            {
                "match": row["id"],
                "position": position,
                "version": entrant,
                "tournament": tournament,
            }
            for position, entrant in enumerate(table)
        )
    return matches, sides


def match_seed_of(seed: bytes | None, key: str) -> bytes:
    """Return the seed of a match: derived from the tournament's seed and the key, else random."""
    if seed is None:
        return secrets.token_bytes(dealing.SEED_BYTES)
    return dealing.derive(seed, f"match/{key}", 0)
