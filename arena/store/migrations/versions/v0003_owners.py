"""Add the owners of bots with the hashes of their tokens."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the table of owners."""
    op.create_table(
        "owners",
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("token", sa.Text, nullable=False),
        sa.Column("created", sa.Double, nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_owners"),
    )
