"""The tables of the store. Each change here needs a migration (a test checks this).

Times are seconds since 1970 by the database's clock.
"""

from enum import StrEnum
from typing import Final

from sqlalchemy import (
    JSON,
    BigInteger,
    CheckConstraint,
    Column,
    Connection,
    Double,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    UniqueConstraint,
    event,
    text,
)

from arena.store.stored_text import StoredText

metadata = MetaData(
    naming_convention={
        "pk": "pk_%(table_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
    }
)

# Build archives of versions, for other machines that play them
# (`arena.store.bots.version_files`).
crates = Table(
    "crates",
    metadata,
    Column("content_hash", StoredText, primary_key=True),
    # SHA-256 of the packed bytes.
    Column("digest", StoredText, nullable=False),
    # 0: the bytes are an object of the object storage (`stored_objects`).
    Column("pieces", Integer, nullable=False),
    Column("bytes", Integer, nullable=False),
    # 0: all uploads of this content came from submissions, not from the organiser.
    Column("trusted", Integer, nullable=False),
    Column("created", Double, nullable=False),
)

crate_pieces = Table(
    "crate_pieces",
    metadata,
    Column("content_hash", StoredText, primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("data", LargeBinary, nullable=False),
)


class TournamentState(StrEnum):
    """The state of a tournament."""

    RUNNING = "running"
    PAUSED = "paused"
    """No further match begins; running matches are finished."""
    CLOSED = "closed"
    """The format has finished, and every match has ended."""
    CANCELLED = "cancelled"
    """Ended by its organiser before every match was over."""


class MatchState(StrEnum):
    """The state of a match."""

    PENDING = "PENDING"
    RUNNING = "RUNNING"
    """A worker holds its lease, or held it until the lease lapsed."""
    CLOSED = "CLOSED"
    """Every game is over; the match has a result."""
    VOID = "VOID"
    """Abandoned because of failures of the arena; without a result, and not charged to any bot."""
    CANCELLED = "CANCELLED"
    """Cancelled with its tournament, or because an entrant withdrew, before it began; no result."""


class SubmissionState(StrEnum):
    """The state of a submission."""

    WAITING = "waiting"
    RUNNING = "running"
    """It is being checked, built or tested, or was until an interruption."""
    ACCEPTED = "accepted"
    """It has become a version."""
    REFUSED = "refused"
    FAILED = "failed"
    """Abandoned because of failures of the arena."""


class SubmissionStage(StrEnum):
    """The processing stage of a submission."""

    RECEIVED = "received"
    CHECKING = "checking"
    BUILDING = "building"
    TESTING = "testing"
    APPROVING = "approving"
    """It waits for the organiser's approval, if the arena requires one."""
    ENTERING = "entering"


class Approval(StrEnum):
    """The organiser's approval of a submission."""

    NONE = ""
    """None was required so far."""
    WAITING = "waiting"
    APPROVED = "approved"
    REFUSED = "refused"


class TaskKind(StrEnum):
    """The kind of work of a task (`arena.store.tasks`)."""

    ANALYSIS = "analysis"
    """Analyse the play of a match (`arena.records.analysis.stored_form`)."""
    LUCK = "luck"
    """Measure the luck of a match (`arena.records.luck_adjustment.match_luck`)."""
    DELIVERY = "delivery"
    """Deliver an event to a webhook (`arena.store.webhooks`)."""


class ObjectKind(StrEnum):
    """The kind of file in an object of the object storage; the first part of its key."""

    BUILD = "builds"
    """The build archive of a version; the subject is its content hash."""
    RECORDS = "records"
    """The records of a match; the subject is its id."""


class ObjectState(StrEnum):
    """The state of an object (`arena.store.objects.stored_objects`)."""

    WRITING = "writing"
    """It is being written, and nothing refers to it yet."""
    STORED = "stored"
    GARBAGE = "garbage"
    """Nothing refers to it any more; the next sweep deletes it."""


class ClosingKind(StrEnum):
    """The kind of event that a row of `closings` records."""

    MATCH_CLOSED = "match-closed"
    MATCH_VOIDED = "match-voided"
    """The match has no result, or none any more, or is cancelled by a withdrawal."""
    TOURNAMENT_STARTED = "tournament-started"
    TOURNAMENT_ENDED = "tournament-ended"
    ENTERED = "entered"
    """A version entered a tournament."""
    WITHDRAWN = "withdrawn"
    VERSION_ADDED = "version-added"
    OWNER_DELETED = "owner-deleted"


UNDECIDED: Final = (SubmissionState.WAITING, SubmissionState.RUNNING)
"""The states of a submission that is neither accepted, refused nor failed."""

OPEN: Final = (MatchState.PENDING, MatchState.RUNNING)
"""The states of a match that may still be played."""


def _one_of(column: str, states: type[StrEnum]) -> CheckConstraint:
    words = ", ".join(f"'{state}'" for state in states)
    return CheckConstraint(f"{column} IN ({words})", name=column)


_stored_subjects = Index(None, "kind", "subject", unique=True)

# The objects of the object storage.
stored_objects = Table(
    "stored_objects",
    metadata,
    Column("key", StoredText, primary_key=True),
    # `ObjectKind`, and the content hash of the version or the id of the match.
    Column("kind", StoredText, nullable=False),
    Column("subject", StoredText, nullable=False),
    # SHA-256 of its bytes.
    Column("digest", StoredText, nullable=False),
    Column("bytes", Integer, nullable=False),
    Column("state", StoredText, nullable=False),
    # When it got this state.
    Column("changed", Double, nullable=False),
    Index(None, "state", "changed"),
    _stored_subjects,
    _one_of("state", ObjectState),
)


@event.listens_for(stored_objects, "before_create")
def _allow_one_stored_object(table: Table, connection: Connection, **_: object) -> None:
    """Limit the unique index to stored objects: at most one object of a subject is stored.

    As an argument of the index, the condition would import the code of both databases, which takes
    a twentieth of the start of a process.
    """
    options = _stored_subjects.dialect_options[connection.dialect.name]
    options["where"] = text("state = 'stored'")


bots = Table(
    "bots",
    metadata,
    Column("name", StoredText, primary_key=True),
    Column("created", Double, nullable=False),
    # Empty: the bot does not share an owner with other bots.
    Column("owner", StoredText, nullable=False, server_default=""),
    # 1: everybody may read the reasoning of its versions in closed matches.
    Column("publishes_reasoning", Integer, nullable=False, server_default="0"),
)

owners = Table(
    "owners",
    metadata,
    Column("name", StoredText, primary_key=True),
    # SHA-256 of the token, in hexadecimal (`arena.store.access.tokens`).
    Column("token", StoredText, nullable=False),
    Column("created", Double, nullable=False),
)

# Tokens of owners for agents, which may only play and read.
agents = Table(
    "agents",
    metadata,
    # Name of the owner.
    Column("name", StoredText, primary_key=True),
    # SHA-256 of the token, in hexadecimal (`arena.store.access.tokens`).
    Column("token", StoredText, nullable=False),
    Column("created", Double, nullable=False),
)

organisers = Table(
    "organisers",
    metadata,
    Column("name", StoredText, primary_key=True),
    # SHA-256 of the token, in hexadecimal (`arena.store.access.tokens`).
    Column("token", StoredText, nullable=False),
    Column("created", Double, nullable=False),
)

sessions = Table(
    "sessions",
    metadata,
    # SHA-256 of the cookie's value, in hexadecimal.
    Column("id", StoredText, primary_key=True),
    # `arena.store.access.sessions.Role`, and the name of the organiser or owner.
    Column("role", StoredText, nullable=False),
    Column("name", StoredText, nullable=False),
    # SHA-256 of the token that opened it. The session ends when the token is replaced.
    Column("token", StoredText, nullable=False),
    Column("created", Double, nullable=False),
    Column("expires", Double, nullable=False),
)

audit_log = Table(
    "audit_log",
    metadata,
    Column("id", StoredText, primary_key=True),
    Column("at", Double, nullable=False, index=True),
    # Name of the organiser or owner; empty on the command line.
    Column("actor", StoredText, nullable=False),
    Column("role", StoredText, nullable=False),
    # "pages", "api" or "command"
    Column("origin", StoredText, nullable=False),
    # For example "tournament.pause", and the id or name of the changed object.
    Column("action", StoredText, nullable=False),
    Column("subject", StoredText, nullable=False, index=True),
    Column("reason", StoredText, nullable=False),
    Column("details", JSON, nullable=False),
)

versions = Table(
    "versions",
    metadata,
    # "name@number"
    Column("id", StoredText, primary_key=True),
    Column("name", StoredText, ForeignKey("bots.name"), nullable=False),
    Column("number", StoredText, nullable=False),
    Column("content_hash", StoredText, nullable=False),
    Column("folder", StoredText, nullable=False),
    Column("manifest", JSON, nullable=False),
    Column("created", Double, nullable=False),
    Column("retired", Double),
    # When and why the version was quarantined: matches with it failed repeatedly.
    Column("quarantined", Double),
    Column("quarantine_reason", StoredText),
    UniqueConstraint("name", "number"),
)

submissions = Table(
    "submissions",
    metadata,
    Column("id", StoredText, primary_key=True),
    # Its sender, and the bot that gets the new version.
    Column("owner", StoredText, nullable=False),
    Column("name", StoredText, nullable=False),
    # As stated by the sender; it is checked.
    Column("content_hash", StoredText, nullable=False),
    # Size of the upload archive.
    Column("bytes", Integer, nullable=False),
    Column("state", StoredText, nullable=False),
    Column("stage", StoredText, nullable=False),
    # [[stage, start time], ...]
    Column("steps", JSON, nullable=False),
    # Number of times that processing has started.
    Column("attempts", Integer, nullable=False),
    # The decision as a sentence, and the equivalent HTTP status.
    Column("sentence", StoredText, nullable=False, server_default=""),
    Column("status", Integer),
    # The tail of the output of a failed build or test.
    Column("output", StoredText, nullable=False, server_default=""),
    Column("version", StoredText, ForeignKey("versions.id")),
    # The tournaments that the version entered.
    Column("ladders", JSON, nullable=False),
    # `Approval`, and the organiser's reason for it.
    Column("approval", StoredText, nullable=False, server_default=""),
    Column("approval_reason", StoredText, nullable=False, server_default=""),
    Column("created", Double, nullable=False),
    Column("changed", Double, nullable=False),
    Column("ended", Double),
    Index(None, "state", "created"),
    Index(None, "owner", "created"),
    _one_of("state", SubmissionState),
)

# The columns `desk`, `way` and `room` keep the names of the first migrations, because a new name
# would need a migration; the code uses their keys.
remotes = Table(
    "remotes",
    metadata,
    Column("version", StoredText, ForeignKey("versions.id"), primary_key=True),
    # SHA-256 of the token, in hexadecimal; null for a bot with its own address.
    Column("token", StoredText, index=True),
    Column("made", Double),
    # Address of the control API of the relay to which the bot connects.
    Column("desk", StoredText, nullable=False, server_default="", key="control_address"),
    # Endpoint of that relay for workers on other machines, if it has one
    # (`arena.system.tunnel.endpoint.TunnelEndpoint`).
    Column("way", JSON(none_as_null=True), key="tunnel_endpoint"),
    # When it connected or disconnected last, and the time until which it counts as connected.
    Column("since", Double),
    Column("until", Double, nullable=False, server_default="0"),
    # How many more tables it can join now.
    Column("room", Integer, nullable=False, server_default="0", key="free_tables"),
    # Refused connections with its token, and the reason of the last refusal.
    Column("refusals", Integer, nullable=False, server_default="0"),
    Column("refused", Double),
    Column("refusal", StoredText),
)

tournaments = Table(
    "tournaments",
    metadata,
    Column("id", StoredText, primary_key=True),
    Column("name", StoredText, nullable=False),
    Column("game", StoredText, nullable=False),
    Column("options", JSON, nullable=False),
    Column("seats", Integer, nullable=False),
    Column("boards", Integer, nullable=False),
    Column("format", StoredText, nullable=False),
    # The format's settings that differ from their defaults.
    Column("settings", JSON, nullable=False, server_default="{}"),
    Column("start_ms", Integer, nullable=False),
    Column("allowance_ms", Integer, nullable=False),
    Column("bank_ms", Integer, nullable=False),
    Column("policy", StoredText, nullable=False),
    Column("corrections", Integer, nullable=False, server_default="0"),
    # Secret until the tournament is closed: all its deals are derived from it.
    Column("seed", LargeBinary),
    Column("state", StoredText, nullable=False),
    Column("created", Double, nullable=False),
    Column("ended", Double),
    # Totals over all matches. Counting millions of closed matches for each request is too slow.
    Column("matches", Integer, nullable=False, server_default="0"),
    Column("games", Integer, nullable=False, server_default="0"),
    _one_of("state", TournamentState),
)

entrants = Table(
    "entrants",
    metadata,
    Column("tournament", StoredText, ForeignKey("tournaments.id"), primary_key=True),
    Column("position", Integer, primary_key=True),
    Column("version", StoredText, ForeignKey("versions.id"), nullable=False),
    # The owner at the time of entry.
    Column("owner", StoredText, nullable=False, server_default=""),
    # The first round in which it can be paired, and the first in which it cannot any more.
    Column("joined", Integer, nullable=False, server_default="0"),
    Column("withdrawn", Integer),
    UniqueConstraint("tournament", "version"),
)

matches = Table(
    "matches",
    metadata,
    Column("id", StoredText, primary_key=True),
    Column("tournament", StoredText, ForeignKey("tournaments.id"), nullable=False),
    Column("round", Integer, nullable=False),
    Column("number", Integer, nullable=False),
    Column("key", StoredText, nullable=False),
    # Why the format made this pairing.
    Column("why", StoredText, nullable=False, server_default=""),
    # Secret until the match is closed.
    Column("seed", LargeBinary, nullable=False),
    Column("commitment", StoredText, nullable=False),
    Column("boards", Integer, nullable=False),
    # Number of games to play: boards times tables.
    Column("games", Integer, nullable=False),
    Column("state", StoredText, nullable=False),
    # Number of leases granted so far. Only the newest lease may write (fencing token).
    Column("attempt", Integer, nullable=False),
    Column("owner", StoredText),
    Column("leased", Double),
    Column("lease_until", Double),
    Column("failures", Integer, nullable=False),
    # The last failure of the arena.
    Column("reason", StoredText),
    Column("ended", Double),
    # When the match stopped waiting for an absent remote bot.
    Column("unawaited", Double),
    # When the next attempt may begin, after a failure of the arena.
    Column("retry_at", Double),
    # The version that loses a void match by an organiser's decision.
    Column("forfeited_by", StoredText),
    UniqueConstraint("tournament", "round", "number"),
    # Covers all columns that are counted, so that counting reads only the index; the matches of a
    # tournament are found in the order of their ends.
    Index(None, "state", "tournament", "ended", "games"),
    _one_of("state", MatchState),
)

match_entrants = Table(
    "match_entrants",
    metadata,
    Column("match", StoredText, ForeignKey("matches.id"), primary_key=True),
    Column("position", Integer, primary_key=True),
    Column("version", StoredText, ForeignKey("versions.id"), nullable=False),
    # Copy of `results.closed`, indexed to find a version's latest matches.
    Column("closed", Double),
    # Copy of `matches.tournament`, indexed to find a version's latest matches of a tournament.
    Column("tournament", StoredText, nullable=False, server_default=""),
    UniqueConstraint("match", "version"),
    Index(None, "version", "closed"),
    Index(None, "version", "tournament", "closed"),
)

games = Table(
    "games",
    metadata,
    Column("match", StoredText, ForeignKey("matches.id"), primary_key=True),
    Column("game", Integer, primary_key=True),
    Column("table_number", Integer, nullable=False),
    Column("board", Integer, nullable=False),
    Column("attempt", Integer, nullable=False),
    # In order of the match's entrants.
    Column("places", JSON, nullable=False),
    Column("scores", JSON(none_as_null=True)),
    Column("verdicts", JSON, nullable=False),
    Column("faults", JSON, nullable=False),
    # Numbers of corrections and of default actions of the entrants; null if all are 0.
    Column("corrections", JSON(none_as_null=True)),
    Column("defaults", JSON(none_as_null=True)),
    # The remaining fields of the record's result line, by seat: banks, slowest answers, crashes.
    Column("tally", JSON, nullable=False),
    Column("committed", Double, nullable=False),
    # After the columns that are read without it: SQLite reads through it to reach later columns.
    # Empty: the records of the match are an object of the object storage (`stored_objects`).
    Column("record", StoredText, nullable=False),
    # Decision times of the entrants (`arena.ratings.decision_histogram`); null if not counted.
    Column("thinking", JSON(none_as_null=True)),
)

failures = Table(
    "failures",
    metadata,
    Column("match", StoredText, ForeignKey("matches.id"), primary_key=True),
    # The attempt that the arena itself ended.
    Column("attempt", Integer, primary_key=True),
    Column("at", Double, nullable=False),
    Column("reason", StoredText, nullable=False),
    # Host name of the worker's machine; empty for a lost worker.
    Column("machine", StoredText, nullable=False, server_default=""),
    # 1 if it counts towards the void match, else 0.
    Column("counted", Integer, nullable=False, server_default="1"),
)

faults = Table(
    "faults",
    metadata,
    Column("match", StoredText, primary_key=True),
    Column("game", Integer, primary_key=True),
    # Their order within the game.
    Column("number", Integer, primary_key=True),
    Column("decision", Integer, nullable=False),
    Column("seat", Integer, nullable=False),
    Column("version", StoredText, ForeignKey("versions.id"), nullable=False, index=True),
    Column("verdict", StoredText, nullable=False),
    Column("sentence", StoredText, nullable=False),
    Column("ended", StoredText, nullable=False),
    Column("output", StoredText, nullable=False),
    ForeignKeyConstraint(["match", "game"], ["games.match", "games.game"]),
)

# The reasoning and usage that bots sent (`arena.store.matches.match_reasoning`): private, so apart
# from the records, which contain the hashes.
reasoning = Table(
    "reasoning",
    metadata,
    Column("match", StoredText, primary_key=True),
    Column("game", Integer, primary_key=True),
    Column("seat", Integer, primary_key=True),
    Column("version", StoredText, ForeignKey("versions.id"), nullable=False, index=True),
    # The line of the seat (`referee.reasoning`), compressed with gzip.
    Column("line", LargeBinary, nullable=False),
    ForeignKeyConstraint(["match", "game"], ["games.match", "games.game"]),
)

results = Table(
    "results",
    metadata,
    # The primary key ensures that a match closes only once.
    Column("match", StoredText, ForeignKey("matches.id"), primary_key=True),
    Column("attempt", Integer, nullable=False),
    Column("closed", Double, nullable=False, index=True),
)


# The tags in the tallies of the games of closed matches, to find the matches by them.
match_tags = Table(
    "match_tags",
    metadata,
    Column("match", StoredText, ForeignKey("results.match"), primary_key=True),
    Column("tag", StoredText, primary_key=True),
    # Copy of `results.closed`.
    Column("closed", Double, nullable=False),
    Index(None, "tag", "closed"),
)


# Work that one process at a time does, and what is stored of it (`arena.store.tasks`).
tasks = Table(
    "tasks",
    metadata,
    Column("kind", StoredText, primary_key=True),
    Column("key", StoredText, primary_key=True),
    # Id of the match or webhook: its tasks are worked on one after another, the oldest first.
    Column("queue", StoredText, nullable=False),
    Column("created", Double, nullable=False),
    # Number of claims so far. Only the newest may write (fencing token).
    Column("attempt", Integer, nullable=False),
    # Until then no task of the queue is claimed: the end of a claim, or of the pause after it.
    Column("held_until", Double, nullable=False),
    # When it was finished.
    Column("ended", Double),
    # The result of the last attempt, or why it failed. Results contain numbers of seats and
    # entrants and no names, so nothing is left of a deleted owner.
    Column("result", JSON(none_as_null=True)),
    Column("reason", StoredText, nullable=False, server_default=""),
    Index(None, "kind", "ended", "queue", "created"),
    Index(None, "kind", "queue", "held_until"),
    _one_of("kind", TaskKind),
)

# The strengths from which a round of a ladder was paired (`arena.formats.pairing_strengths`).
pairing_strengths = Table(
    "pairing_strengths",
    metadata,
    Column("tournament", StoredText, ForeignKey("tournaments.id"), primary_key=True),
    Column("round", Integer, primary_key=True),
    # The event up to which corrections of results are included.
    Column("seq", Integer, nullable=False),
    # Whole Elo points by version, of all that had results.
    Column("strengths", JSON, nullable=False),
)

# The sequence of all events that change a standing or a page, in the order in which they became
# visible (`arena.store.closings`). A follower reads the rows after its position.
closings = Table(
    "closings",
    metadata,
    Column("seq", Integer, primary_key=True, autoincrement=False),
    # `ClosingKind`, and what it concerns: the others are empty.
    Column("kind", StoredText, nullable=False),
    Column("match", StoredText, nullable=False, server_default=""),
    Column("tournament", StoredText, nullable=False, server_default=""),
    Column("version", StoredText, nullable=False, server_default=""),
    Column("at", Double, nullable=False),
    Index(None, "tournament", "seq"),
    Index(None, "match", "seq"),
    _one_of("kind", ClosingKind),
)

# The position of a follower in the sequence.
followers = Table(
    "followers",
    metadata,
    Column("name", StoredText, primary_key=True),
    Column("seq", Integer, nullable=False),
)

# The results of a tournament as whole numbers, up to the position of the rater
# (`arena.ladders.result_sums`): for each line-up, all that the fit of strengths requires
# (`arena.ratings.line_ups`), and ...
line_ups = Table(
    "line_ups",
    metadata,
    Column("tournament", StoredText, ForeignKey("tournaments.id"), primary_key=True),
    # The versions as a JSON array, sorted by name.
    Column("entrants", StoredText, primary_key=True),
    Column("games", Integer, primary_key=True),
    # The two versions of a line-up of two; else null.
    Column("first", StoredText),
    Column("second", StoredText),
    Column("matches", Integer, nullable=False),
    # JSON arrays as text: a fit reads a hundred thousand of them.
    Column("halves", StoredText, nullable=False),
    Column("products", StoredText, nullable=False),
    Index(None, "tournament", "first"),
    Index(None, "tournament", "second"),
)

# ... for each entrant, its counts (`arena.ratings.entrant_sums`).
entrant_sums = Table(
    "entrant_sums",
    metadata,
    Column("tournament", StoredText, ForeignKey("tournaments.id"), primary_key=True),
    Column("version", StoredText, primary_key=True),
    Column("matches", Integer, nullable=False),
    Column("games", Integer, nullable=False),
    Column("wins", Integer, nullable=False),
    Column("draws", Integer, nullable=False),
    Column("points", BigInteger, nullable=False),
    Column("shares", JSON, nullable=False),
    Column("margins", JSON, nullable=False),
    Column("verdicts", JSON, nullable=False),
    Column("corrections", Integer, nullable=False),
    Column("defaults", Integer, nullable=False),
    Column("thinking", JSON, nullable=False),
    # When its last match closed.
    Column("seen", Double, nullable=False),
)

# The rounds that are over, with the event that ended them.
round_ends = Table(
    "round_ends",
    metadata,
    Column("tournament", StoredText, ForeignKey("tournaments.id"), primary_key=True),
    Column("round", Integer, primary_key=True),
    Column("seq", Integer, nullable=False, index=True),
    Column("at", Double, nullable=False),
)

# The newest event of each tournament that has been added to the sums.
rated_tournaments = Table(
    "rated_tournaments",
    metadata,
    Column("tournament", StoredText, ForeignKey("tournaments.id"), primary_key=True),
    Column("seq", Integer, nullable=False),
)

# What is stated about a ladder or the standings of a tournament (`LadderKey.id`) as a whole.
ladder_fits = Table(
    "ladder_fits",
    metadata,
    Column("ladder", StoredText, primary_key=True),
    # The clock class of all its matches.
    Column("clock_class", StoredText, nullable=False),
    # The event up to which results are included.
    Column("seq", Integer, nullable=False),
    # What else the rows depend on: tournaments, entrants and anchors.
    Column("facts", JSON, nullable=False),
    Column("matches", Integer, nullable=False),
    Column("groups", JSON, nullable=False),
    Column("lack_of_fit", JSON(none_as_null=True)),
    Column("pair_deviation", Double),
    # The code of the reason why the strengths are older than the results; null: they are not.
    Column("unfitted", StoredText),
    # Relative variance of matches within all pairs (`arena.ratings.crosstable`).
    Column("match_variance", Double, nullable=False),
    # The last round, by tournament and number, whose Elo is settled.
    Column("settled", JSON(none_as_null=True)),
    Column("at", Double, nullable=False),
    # CPU time of the fit.
    Column("seconds", Double, nullable=False),
)

# The ladders, one row for each line.
standings = Table(
    "standings",
    metadata,
    Column("ladder", StoredText, ForeignKey("ladder_fits.ladder"), primary_key=True),
    Column("version", StoredText, primary_key=True),
    # Its position in the order of strength, from 1.
    Column("place", Integer, nullable=False),
    Column("strength", Double, nullable=False),
    Column("elo", Double, nullable=False),
    # Its Elo after the settled rounds; null before its first one.
    Column("settled_elo", Double),
    Column("matches", Integer, nullable=False),
    # The further values of the line (`arena.ladders.ladder_rows`).
    Column("line", JSON, nullable=False),
    Column("thinking", JSON, nullable=False),
    Column("seen", Double),
    Index(None, "ladder", "place"),
)

# The history of a ladder: strengths after some of its rounds.
rating_points = Table(
    "rating_points",
    metadata,
    Column("ladder", StoredText, primary_key=True),
    # Number of rounds that were over.
    Column("round", Integer, primary_key=True),
    Column("version", StoredText, primary_key=True),
    Column("seq", Integer, nullable=False),
    Column("at", Double, nullable=False),
    Column("matches", Integer, nullable=False),
    Column("strength", Double, nullable=False),
    Column("error", Double, nullable=False),
)

# Who may use which models of `models.toml` through the arena's proxy.
model_grants = Table(
    "model_grants",
    metadata,
    # "owner" or "version" (`arena.store.bots.model_grants`), and its name.
    Column("kind", StoredText, primary_key=True),
    Column("name", StoredText, primary_key=True),
    Column("model", StoredText, primary_key=True),
    Column("created", Double, nullable=False),
)

# A row while the organiser has stopped all calls of models.
model_stops = Table(
    "model_stops",
    metadata,
    Column("since", Double, primary_key=True),
)

# Calls of models by hosted bots. The figures are the worst case until the reply has arrived, and
# stay so if it is lost. A row without a model contains the tokens that are reserved for a running
# match (`arena.store.matches.model_calls`).
model_calls = Table(
    "model_calls",
    metadata,
    Column("id", StoredText, primary_key=True),
    # The owner of the version; the name of the bot if it has none.
    Column("owner", StoredText, nullable=False),
    Column("version", StoredText, nullable=False),
    Column("match", StoredText, nullable=False, index=True),
    Column("attempt", Integer, nullable=False),
    Column("table", Integer, nullable=False),
    Column("seat", Integer, nullable=False),
    # Not set for a call outside of a decision or during several ones.
    Column("game", Integer),
    Column("decision", Integer),
    Column("model", StoredText, nullable=False),
    Column("at", Double, nullable=False),
    Column("input_tokens", Integer, nullable=False),
    Column("output_tokens", Integer, nullable=False),
    Column("cost", Double, nullable=False),
    # 1: the figures are those of the endpoint.
    Column("measured", Integer, nullable=False),
    Index(None, "owner", "at"),
)

webhooks = Table(
    "webhooks",
    metadata,
    Column("id", StoredText, primary_key=True),
    Column("url", StoredText, nullable=False),
    Column("format", StoredText, nullable=False),
    # Types of announcements (`arena.services.announcements`).
    Column("events", JSON, nullable=False),
    # {"tournament", "game", "form", "bot"}: only announcements of these; omitted: of all.
    Column("scope", JSON, nullable=False),
    # Signs the deliveries, so it cannot be stored as a hash.
    Column("secret", StoredText, nullable=False),
    # 1: private addresses and HTTP are allowed.
    Column("private", Integer, nullable=False),
    Column("created", Double, nullable=False),
    # Deliveries of all events up to this row of `closings` have been planned.
    Column("planned", Integer, nullable=False),
    # Failed attempts since the last successful one.
    Column("failures", Integer, nullable=False, server_default="0"),
    # When and why deliveries stopped.
    Column("disabled", Double),
    Column("reason", StoredText, nullable=False, server_default=""),
)
