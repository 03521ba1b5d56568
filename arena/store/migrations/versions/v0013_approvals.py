"""Add the organiser's approval of submissions."""

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the columns; earlier submissions need no approval."""
    for name in ("approval", "approval_reason"):
        op.add_column("submissions", sa.Column(name, sa.Text, nullable=False, server_default=""))
