"""Ids of tournaments, matches and submissions, and their prefixes.

Match ids are pure functions of their arguments; the other ids are random.
"""

import hashlib
import json
import secrets
from collections.abc import Mapping, Sequence
from typing import Any, Final

from sqlalchemy import Column, Engine, select

from arena.store import schema
from arena.store.database import read_rows

# Crockford's base 32, which omits i, l, o and u because they are easily misread or misheard.
_LETTERS: Final = "0123456789abcdefghjkmnpqrstvwxyz"
_MATCH_LETTERS: Final = 10


def tournament_id() -> str:
    """Return a random id such as ``t-7f3k9q``; the caller checks that it is unused."""
    return _random("t-", 6)


def submission_id() -> str:
    """Return a random id such as ``s-7f3k9q2xwd``; its 50 random bits cannot be guessed."""
    return _random("s-", 10)


def webhook_id() -> str:
    """Return a random id such as ``w-7f3k9q2x``."""
    return _random("w-", 8)


def audit_id() -> str:
    """Return a random id of an entry of the audit log, such as ``a-7f3k9q2xwd``."""
    return _random("a-", 16)


def model_call_id() -> str:
    """Return a random id of a call of a model, such as ``c-7f3k9q2xwd``."""
    return _random("c-", 16)


def _random(prefix: str, letters: int) -> str:
    return prefix + "".join(secrets.choice(_LETTERS) for _ in range(letters))


def match_key(what: Mapping[str, object], round: int, number: int, contents: Sequence[str]) -> str:  # noqa: A002
    """Return the hash that identifies a match by its content, in hexadecimal.

    The same match in another tournament with the same settings has the same key.

    Args:
        what: the settings that all matches of the tournament share, as JSON values.
        round: its round, from 0.
        number: its number within the round, from 0.
        contents: the content hashes of its entrants, in order.
    """
    words = {**what, "round": round, "number": number, "entrants": list(contents)}
    text = json.dumps(words, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def match_id(tournament: str, key: str) -> str:
    """Return the id of the match with this key in this tournament, such as ``m-7f3k9q2xwd``."""
    digest = hashlib.sha256((tournament + key).encode()).digest()
    bits = int.from_bytes(digest, "big") >> (8 * len(digest) - 5 * _MATCH_LETTERS)
    places = range(5 * (_MATCH_LETTERS - 1), -1, -5)
    return "m-" + "".join(_LETTERS[bits >> place & 31] for place in places)


def matches(engine: Engine, prefix: str, limit: int = 10) -> tuple[str, ...]:
    """Return the match ids with this prefix in ascending order, at most `limit`."""
    return _beginning(engine, schema.matches.c.id, prefix, limit)


def tournaments(engine: Engine, prefix: str, limit: int = 10) -> tuple[str, ...]:
    """Return the tournament ids with this prefix in ascending order, at most `limit`."""
    return _beginning(engine, schema.tournaments.c.id, prefix, limit)


def _beginning(engine: Engine, column: Column[Any], prefix: str, limit: int) -> tuple[str, ...]:
    query = (
        select(column)
        .where(column.startswith(prefix, autoescape=True))
        .order_by(column)
        .limit(limit)
    )
    return tuple(read_rows(engine, query).scalars())
