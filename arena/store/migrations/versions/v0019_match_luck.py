"""Add the luck of closed matches."""

import sqlalchemy as sa
from alembic import op

revision = "0019"
down_revision = "0018"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the table; idle workers begin with the newest matches."""
    op.create_table(
        "match_luck",
        sa.Column(
            "match",
            sa.Text,
            sa.ForeignKey("matches.id", name="fk_match_luck_match"),
            primary_key=True,
        ),
        sa.Column("attempts", sa.Integer, nullable=False),
        sa.Column("claimed_until", sa.Double, nullable=False),
        sa.Column("luck", sa.JSON(none_as_null=True)),
        sa.Column("reason", sa.Text, nullable=False, server_default=""),
        sa.Column("ended", sa.Double),
    )
