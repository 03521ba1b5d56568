"""Add build archives of hosted versions, for machines that have only the database."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the tables of build archives and their pieces."""
    op.create_table(
        "crates",
        sa.Column("content_hash", sa.Text, nullable=False),
        sa.Column("digest", sa.Text, nullable=False),
        sa.Column("pieces", sa.Integer, nullable=False),
        sa.Column("bytes", sa.Integer, nullable=False),
        sa.Column("trusted", sa.Integer, nullable=False),
        sa.Column("created", sa.Double, nullable=False),
        sa.PrimaryKeyConstraint("content_hash", name="pk_crates"),
    )
    op.create_table(
        "crate_pieces",
        sa.Column("content_hash", sa.Text, nullable=False),
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("data", sa.LargeBinary, nullable=False),
        sa.PrimaryKeyConstraint("content_hash", "number", name="pk_crate_pieces"),
    )
