"""The tables. A change here needs a migration beside it (a test holds this).

Times are seconds since 1970 by the database's clock.
"""

from enum import StrEnum
from typing import Final

from sqlalchemy import (
    JSON,
    CheckConstraint,
    Column,
    Double,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
)


class TournamentState(StrEnum):
    """Where a tournament stands."""

    RUNNING = "running"
    PAUSED = "paused"
    """No match is begun; those that are being played are finished."""
    CLOSED = "closed"
    """Its format says that it is over, and every match has ended."""
    CANCELLED = "cancelled"
    """Ended by its organiser before every match was over."""


class MatchState(StrEnum):
    """Where a match stands."""

    PENDING = "PENDING"
    RUNNING = "RUNNING"
    """A worker holds it, or held it until its lease lapsed."""
    CLOSED = "CLOSED"
    """Every game is over; it has a result."""
    VOID = "VOID"
    """Given up because of failures of the arena; it has no result and nobody is charged."""
    CANCELLED = "CANCELLED"
    """It had not begun when its tournament was cancelled or an entrant withdrawn; no result."""


OPEN: Final = (MatchState.PENDING, MatchState.RUNNING)
"""The states of a match that may still be played."""

metadata = MetaData(
    naming_convention={
        "pk": "pk_%(table_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
    }
)


def _one_of(column: str, states: type[StrEnum]) -> CheckConstraint:
    words = ", ".join(f"'{state}'" for state in states)
    return CheckConstraint(f"{column} IN ({words})", name=column)


bots = Table(
    "bots",
    metadata,
    Column("name", Text, primary_key=True),
    Column("created", Double, nullable=False),
    # Empty: nobody it shares with other bots.
    Column("owner", Text, nullable=False, server_default=""),
)

owners = Table(
    "owners",
    metadata,
    Column("name", Text, primary_key=True),
    # SHA-256 of the token, in hexadecimal (arena.store.owners).
    Column("token", Text, nullable=False),
    Column("created", Double, nullable=False),
)

versions = Table(
    "versions",
    metadata,
    # "name@number"
    Column("id", Text, primary_key=True),
    Column("name", Text, ForeignKey("bots.name"), nullable=False),
    Column("number", Text, nullable=False),
    Column("content_hash", Text, nullable=False),
    Column("folder", Text, nullable=False),
    Column("manifest", JSON, nullable=False),
    Column("created", Double, nullable=False),
    Column("retired", Double),
    # When it was kept from further play because the arena kept failing with it, and why.
    Column("quarantined", Double),
    Column("quarantine_reason", Text),
    UniqueConstraint("name", "number"),
)

tournaments = Table(
    "tournaments",
    metadata,
    Column("id", Text, primary_key=True),
    Column("name", Text, nullable=False),
    Column("game", Text, nullable=False),
    Column("options", JSON, nullable=False),
    Column("seats", Integer, nullable=False),
    Column("boards", Integer, nullable=False),
    Column("format", Text, nullable=False),
    # Those of the format that are not the usual ones.
    Column("settings", JSON, nullable=False, server_default="{}"),
    Column("start_ms", Integer, nullable=False),
    Column("allowance_ms", Integer, nullable=False),
    Column("bank_ms", Integer, nullable=False),
    Column("policy", Text, nullable=False),
    # Secret while the tournament is not closed: all its deals follow from it.
    Column("seed", LargeBinary),
    Column("state", Text, nullable=False),
    Column("created", Double, nullable=False),
    Column("ended", Double),
    _one_of("state", TournamentState),
)

entrants = Table(
    "entrants",
    metadata,
    Column("tournament", Text, ForeignKey("tournaments.id"), primary_key=True),
    Column("position", Integer, primary_key=True),
    Column("version", Text, ForeignKey("versions.id"), nullable=False),
    # As it was when it entered.
    Column("owner", Text, nullable=False, server_default=""),
    # The first round it can be paired in, and the first it is not paired in any more.
    Column("joined", Integer, nullable=False, server_default="0"),
    Column("withdrawn", Integer),
    UniqueConstraint("tournament", "version"),
)

matches = Table(
    "matches",
    metadata,
    Column("id", Text, primary_key=True),
    Column("tournament", Text, ForeignKey("tournaments.id"), nullable=False),
    Column("round", Integer, nullable=False),
    Column("number", Integer, nullable=False),
    Column("key", Text, nullable=False),
    # Why the format paired these.
    Column("why", Text, nullable=False, server_default=""),
    # Secret while the match is not closed.
    Column("seed", LargeBinary, nullable=False),
    Column("commitment", Text, nullable=False),
    Column("boards", Integer, nullable=False),
    # How many games there are to play: one a board and table.
    Column("games", Integer, nullable=False),
    Column("state", Text, nullable=False),
    # Counts the leases ever given; the newest one is the only one that may write.
    Column("attempt", Integer, nullable=False),
    Column("owner", Text),
    Column("leased", Double),
    Column("lease_until", Double),
    Column("failures", Integer, nullable=False),
    # The last failure of the arena.
    Column("reason", Text),
    Column("ended", Double),
    UniqueConstraint("tournament", "round", "number"),
    Index(None, "state", "tournament"),
    _one_of("state", MatchState),
)

match_entrants = Table(
    "match_entrants",
    metadata,
    Column("match", Text, ForeignKey("matches.id"), primary_key=True),
    Column("position", Integer, primary_key=True),
    Column("version", Text, ForeignKey("versions.id"), nullable=False, index=True),
    UniqueConstraint("match", "version"),
)

games = Table(
    "games",
    metadata,
    Column("match", Text, ForeignKey("matches.id"), primary_key=True),
    Column("game", Integer, primary_key=True),
    Column("table_number", Integer, nullable=False),
    Column("board", Integer, nullable=False),
    Column("attempt", Integer, nullable=False),
    # By entrant of the match.
    Column("places", JSON, nullable=False),
    Column("scores", JSON(none_as_null=True)),
    Column("verdicts", JSON, nullable=False),
    Column("faults", JSON, nullable=False),
    # What else the result line of the record says, by seat: banks, slowest answers, crashes.
    Column("tally", JSON, nullable=False),
    Column("committed", Double, nullable=False),
    # Behind what is read without it, because SQLite has to read through it to what comes after.
    Column("record", Text, nullable=False),
    # How long the entrants thought (arena.thinking); None if it was never counted.
    Column("thinking", JSON(none_as_null=True)),
)

failures = Table(
    "failures",
    metadata,
    Column("match", Text, ForeignKey("matches.id"), primary_key=True),
    # The attempt that the arena itself ended.
    Column("attempt", Integer, primary_key=True),
    Column("at", Double, nullable=False),
    Column("reason", Text, nullable=False),
)

faults = Table(
    "faults",
    metadata,
    Column("match", Text, primary_key=True),
    Column("game", Integer, primary_key=True),
    # Their order within the game.
    Column("number", Integer, primary_key=True),
    Column("decision", Integer, nullable=False),
    Column("seat", Integer, nullable=False),
    Column("version", Text, ForeignKey("versions.id"), nullable=False, index=True),
    Column("verdict", Text, nullable=False),
    Column("sentence", Text, nullable=False),
    Column("ended", Text, nullable=False),
    Column("output", Text, nullable=False),
    ForeignKeyConstraint(["match", "game"], ["games.match", "games.game"]),
)

results = Table(
    "results",
    metadata,
    # The primary key is what makes a match close once.
    Column("match", Text, ForeignKey("matches.id"), primary_key=True),
    Column("attempt", Integer, nullable=False),
    # {"entrants": [...], "games": [{"game", "places", "scores", "verdicts", "faults"}, ...]}
    Column("outcome", JSON, nullable=False),
    Column("closed", Double, nullable=False, index=True),
    # The same summed up for ladders (arena.digest), and how long the entrants thought. They follow
    # from the games: `ladder rebuild` makes them anew. None in results of older databases.
    Column("digest", Text),
    Column("thinking", JSON(none_as_null=True)),
)
