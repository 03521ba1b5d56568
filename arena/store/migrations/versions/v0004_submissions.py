"""Add submissions of bot owners over the network."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

STATES = "state IN ('waiting', 'running', 'accepted', 'refused', 'failed')"


def upgrade() -> None:
    """Create the table of submissions."""
    op.create_table(
        "submissions",
        sa.Column("id", sa.Text, nullable=False),
        sa.Column("owner", sa.Text, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("content_hash", sa.Text, nullable=False),
        sa.Column("bytes", sa.Integer, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("stage", sa.Text, nullable=False),
        sa.Column("steps", sa.JSON, nullable=False),
        sa.Column("attempts", sa.Integer, nullable=False),
        sa.Column("sentence", sa.Text, nullable=False, server_default=""),
        sa.Column("status", sa.Integer),
        sa.Column("output", sa.Text, nullable=False, server_default=""),
        sa.Column("version", sa.Text),
        sa.Column("ladders", sa.JSON, nullable=False),
        sa.Column("created", sa.Double, nullable=False),
        sa.Column("changed", sa.Double, nullable=False),
        sa.Column("ended", sa.Double),
        sa.PrimaryKeyConstraint("id", name="pk_submissions"),
        sa.ForeignKeyConstraint(["version"], ["versions.id"], name="fk_submissions_version"),
        sa.CheckConstraint(STATES, name="state"),
    )
    op.create_index("ix_submissions_state_created", "submissions", ["state", "created"])
    op.create_index("ix_submissions_owner_created", "submissions", ["owner", "created"])
