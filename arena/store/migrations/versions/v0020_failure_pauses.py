"""Add pauses after failures of the arena, and the machine of each failure."""

import sqlalchemy as sa
from alembic import op

revision = "0020"
down_revision = "0019"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the columns; earlier failures count, on one unknown machine."""
    op.add_column("matches", sa.Column("retry_at", sa.Double))
    op.add_column("failures", sa.Column("machine", sa.Text, nullable=False, server_default=""))
    op.add_column("failures", sa.Column("counted", sa.Integer, nullable=False, server_default="1"))
