"""Add the endpoints of relays for workers on other machines."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column `remotes.way`."""
    op.add_column("remotes", sa.Column("way", sa.JSON(none_as_null=True)))
