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

# The tables of what is sent from one machine to another, and how all tables name their parts.


metadata = MetaData(
    naming_convention={
        "pk": "pk_%(table_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
    }
)

# The files of versions, where other machines may have to play them
# (arena.store.bots.version_files).
crates = Table(
    "crates",
    metadata,
    Column("content_hash", Text, primary_key=True),
    # SHA-256 of the packed bytes.
    Column("digest", Text, nullable=False),
    Column("pieces", Integer, nullable=False),
    Column("bytes", Integer, nullable=False),
    # 0: only strangers have sent it.
    Column("trusted", Integer, nullable=False),
    Column("created", Double, nullable=False),
)

crate_pieces = Table(
    "crate_pieces",
    metadata,
    Column("content_hash", Text, primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("data", LargeBinary, nullable=False),
)


__all__ = ["crate_pieces", "crates", "metadata"]


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


class SubmissionState(StrEnum):
    """Where what an owner has sent over the network stands."""

    WAITING = "waiting"
    RUNNING = "running"
    """It is being checked, built or tested, or was until that was interrupted."""
    ACCEPTED = "accepted"
    """It is a version."""
    REFUSED = "refused"
    FAILED = "failed"
    """Given up because of failures of the arena."""


class Stage(StrEnum):
    """The way of a submission."""

    RECEIVED = "received"
    CHECKING = "checking"
    BUILDING = "building"
    TESTING = "testing"
    ENTERING = "entering"


UNDECIDED: Final = (SubmissionState.WAITING, SubmissionState.RUNNING)
"""The states of a submission of which nobody knows yet what becomes of it."""

OPEN: Final = (MatchState.PENDING, MatchState.RUNNING)
"""The states of a match that may still be played."""


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
    # SHA-256 of the token, in hexadecimal (arena.store.bots.owners).
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

submissions = Table(
    "submissions",
    metadata,
    Column("id", Text, primary_key=True),
    # Who sent it, and of which bot it is to be a version.
    Column("owner", Text, nullable=False),
    Column("name", Text, nullable=False),
    # As its sender says; it is checked.
    Column("content_hash", Text, nullable=False),
    # Of the parcel it came in.
    Column("bytes", Integer, nullable=False),
    Column("state", Text, nullable=False),
    Column("stage", Text, nullable=False),
    # [[stage, when it began], ...]
    Column("steps", JSON, nullable=False),
    # How often it was taken up.
    Column("attempts", Integer, nullable=False),
    # What became of it, in a sentence, with the HTTP status that would say so.
    Column("sentence", Text, nullable=False, server_default=""),
    Column("status", Integer),
    # The end of what a build or a test that failed has written.
    Column("output", Text, nullable=False, server_default=""),
    Column("version", Text, ForeignKey("versions.id")),
    # The tournaments it was let into.
    Column("ladders", JSON, nullable=False),
    Column("created", Double, nullable=False),
    Column("changed", Double, nullable=False),
    Column("ended", Double),
    Index(None, "state", "created"),
    Index(None, "owner", "created"),
    _one_of("state", SubmissionState),
)

remotes = Table(
    "remotes",
    metadata,
    Column("version", Text, ForeignKey("versions.id"), primary_key=True),
    # SHA-256 of the token, in hexadecimal; none for a bot with an address of its own.
    Column("token", Text, index=True),
    Column("made", Double),
    # Where the relay that has it takes orders for seats.
    Column("desk", Text, nullable=False, server_default=""),
    # How workers on other machines reach that, if they can (arena.remote.tunnel.streams.Way).
    Column("way", JSON(none_as_null=True)),
    # When it came, or went; and until when it is taken to be there.
    Column("since", Double),
    Column("until", Double, nullable=False, server_default="0"),
    # At how many more tables it can sit now.
    Column("room", Integer, nullable=False, server_default="0"),
    # Connections with its token that were not let in, and why not the last one.
    Column("refusals", Integer, nullable=False, server_default="0"),
    Column("refused", Double),
    Column("refusal", Text),
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
    # In all of its matches: those that have closed are too many to be counted for each who asks.
    Column("matches", Integer, nullable=False, server_default="0"),
    Column("games", Integer, nullable=False, server_default="0"),
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
    # When a remote bot that is not there was waited for no longer.
    Column("unawaited", Double),
    UniqueConstraint("tournament", "round", "number"),
    # With all that is counted of them, so that no match is read for it.
    Index(None, "state", "tournament", "games"),
    _one_of("state", MatchState),
)

match_entrants = Table(
    "match_entrants",
    metadata,
    Column("match", Text, ForeignKey("matches.id"), primary_key=True),
    Column("position", Integer, primary_key=True),
    Column("version", Text, ForeignKey("versions.id"), nullable=False),
    # As the result has it: what a version played last is found by it.
    Column("closed", Double),
    UniqueConstraint("match", "version"),
    Index(None, "version", "closed"),
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
    # How long the entrants thought (arena.ratings.decision_histogram); None if it was never
    # counted.
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
    # The same summed up for ladders (arena.ratings.match_digest), and how long the entrants
    # thought. They follow from the games: `ladder rebuild` makes them anew. None in results of
    # older databases.
    Column("digest", Text),
    Column("thinking", JSON(none_as_null=True)),
)
