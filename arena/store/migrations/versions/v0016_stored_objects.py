"""Add the table of objects in the object storage."""

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the table; without object storage it stays empty."""
    op.create_table(
        "stored_objects",
        sa.Column("key", sa.Text, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("subject", sa.Text, nullable=False),
        sa.Column("digest", sa.Text, nullable=False),
        sa.Column("bytes", sa.Integer, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("changed", sa.Double, nullable=False),
        sa.CheckConstraint("state IN ('writing', 'stored', 'garbage')", name="state"),
        sa.PrimaryKeyConstraint("key", name="pk_stored_objects"),
    )
    op.create_index("ix_stored_objects_state_changed", "stored_objects", ["state", "changed"])
    op.create_index(
        "ix_stored_objects_kind_subject",
        "stored_objects",
        ["kind", "subject"],
        unique=True,
        sqlite_where=sa.text("state = 'stored'"),
        postgresql_where=sa.text("state = 'stored'"),
    )
