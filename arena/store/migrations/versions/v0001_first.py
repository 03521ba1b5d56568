"""Create the first tables: bots, tournaments, matches with leases, games, faults, results."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create all tables."""
    _bots()
    _tournaments()
    _matches()
    _games()


def _bots() -> None:
    op.create_table(
        "bots",
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("created", sa.Double, nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_bots"),
    )
    op.create_table(
        "versions",
        sa.Column("id", sa.Text, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("number", sa.Text, nullable=False),
        sa.Column("content_hash", sa.Text, nullable=False),
        sa.Column("folder", sa.Text, nullable=False),
        sa.Column("manifest", sa.JSON, nullable=False),
        sa.Column("created", sa.Double, nullable=False),
        sa.Column("retired", sa.Double),
        sa.PrimaryKeyConstraint("id", name="pk_versions"),
        sa.ForeignKeyConstraint(["name"], ["bots.name"], name="fk_versions_name"),
        sa.UniqueConstraint("name", "number", name="uq_versions_name_number"),
    )


def _tournaments() -> None:
    op.create_table(
        "tournaments",
        sa.Column("id", sa.Text, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("game", sa.Text, nullable=False),
        sa.Column("options", sa.JSON, nullable=False),
        sa.Column("seats", sa.Integer, nullable=False),
        sa.Column("boards", sa.Integer, nullable=False),
        sa.Column("cycles", sa.Integer, nullable=False),
        sa.Column("format", sa.Text, nullable=False),
        sa.Column("start_ms", sa.Integer, nullable=False),
        sa.Column("allowance_ms", sa.Integer, nullable=False),
        sa.Column("bank_ms", sa.Integer, nullable=False),
        sa.Column("policy", sa.Text, nullable=False),
        sa.Column("seed", sa.LargeBinary),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("created", sa.Double, nullable=False),
        sa.Column("ended", sa.Double),
        sa.PrimaryKeyConstraint("id", name="pk_tournaments"),
        sa.CheckConstraint(
            "state IN ('running', 'paused', 'closed', 'cancelled')",
            name=op.f("ck_tournaments_state"),
        ),
    )
    op.create_table(
        "entrants",
        sa.Column("tournament", sa.Text, nullable=False),
        sa.Column("position", sa.Integer, nullable=False),
        sa.Column("version", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("tournament", "position", name="pk_entrants"),
        sa.ForeignKeyConstraint(["tournament"], ["tournaments.id"], name="fk_entrants_tournament"),
        sa.ForeignKeyConstraint(["version"], ["versions.id"], name="fk_entrants_version"),
        sa.UniqueConstraint("tournament", "version", name="uq_entrants_tournament_version"),
    )


def _matches() -> None:
    op.create_table(
        "matches",
        sa.Column("id", sa.Text, nullable=False),
        sa.Column("tournament", sa.Text, nullable=False),
        sa.Column("round", sa.Integer, nullable=False),
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("key", sa.Text, nullable=False),
        sa.Column("seed", sa.LargeBinary, nullable=False),
        sa.Column("commitment", sa.Text, nullable=False),
        sa.Column("boards", sa.Integer, nullable=False),
        sa.Column("games", sa.Integer, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("attempt", sa.Integer, nullable=False),
        sa.Column("owner", sa.Text),
        sa.Column("leased", sa.Double),
        sa.Column("lease_until", sa.Double),
        sa.Column("failures", sa.Integer, nullable=False),
        sa.Column("reason", sa.Text),
        sa.Column("ended", sa.Double),
        sa.PrimaryKeyConstraint("id", name="pk_matches"),
        sa.ForeignKeyConstraint(["tournament"], ["tournaments.id"], name="fk_matches_tournament"),
        sa.UniqueConstraint(
            "tournament", "round", "number", name="uq_matches_tournament_round_number"
        ),
        sa.CheckConstraint(
            "state IN ('PENDING', 'RUNNING', 'CLOSED', 'VOID', 'CANCELLED')",
            name=op.f("ck_matches_state"),
        ),
    )
    op.create_index("ix_matches_state_tournament", "matches", ["state", "tournament"])
    op.create_table(
        "match_entrants",
        sa.Column("match", sa.Text, nullable=False),
        sa.Column("position", sa.Integer, nullable=False),
        sa.Column("version", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("match", "position", name="pk_match_entrants"),
        sa.ForeignKeyConstraint(["match"], ["matches.id"], name="fk_match_entrants_match"),
        sa.ForeignKeyConstraint(["version"], ["versions.id"], name="fk_match_entrants_version"),
        sa.UniqueConstraint("match", "version", name="uq_match_entrants_match_version"),
    )
    op.create_index("ix_match_entrants_version", "match_entrants", ["version"])


def _games() -> None:
    op.create_table(
        "games",
        sa.Column("match", sa.Text, nullable=False),
        sa.Column("game", sa.Integer, nullable=False),
        sa.Column("table_number", sa.Integer, nullable=False),
        sa.Column("board", sa.Integer, nullable=False),
        sa.Column("attempt", sa.Integer, nullable=False),
        sa.Column("places", sa.JSON, nullable=False),
        sa.Column("scores", sa.JSON),
        sa.Column("verdicts", sa.JSON, nullable=False),
        sa.Column("faults", sa.JSON, nullable=False),
        sa.Column("tally", sa.JSON, nullable=False),
        sa.Column("committed", sa.Double, nullable=False),
        sa.Column("record", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("match", "game", name="pk_games"),
        sa.ForeignKeyConstraint(["match"], ["matches.id"], name="fk_games_match"),
    )
    op.create_table(
        "faults",
        sa.Column("match", sa.Text, nullable=False),
        sa.Column("game", sa.Integer, nullable=False),
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("decision", sa.Integer, nullable=False),
        sa.Column("seat", sa.Integer, nullable=False),
        sa.Column("version", sa.Text, nullable=False),
        sa.Column("verdict", sa.Text, nullable=False),
        sa.Column("sentence", sa.Text, nullable=False),
        sa.Column("ended", sa.Text, nullable=False),
        sa.Column("output", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("match", "game", "number", name="pk_faults"),
        sa.ForeignKeyConstraint(
            ["match", "game"], ["games.match", "games.game"], name="fk_faults_match_game"
        ),
        sa.ForeignKeyConstraint(["version"], ["versions.id"], name="fk_faults_version"),
    )
    op.create_index("ix_faults_version", "faults", ["version"])
    op.create_table(
        "results",
        sa.Column("match", sa.Text, nullable=False),
        sa.Column("attempt", sa.Integer, nullable=False),
        sa.Column("outcome", sa.JSON, nullable=False),
        sa.Column("closed", sa.Double, nullable=False),
        sa.PrimaryKeyConstraint("match", name="pk_results"),
        sa.ForeignKeyConstraint(["match"], ["matches.id"], name="fk_results_match"),
    )
