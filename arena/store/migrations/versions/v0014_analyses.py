"""Add the analyses of closed matches."""

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the table; idle workers begin with the newest matches."""
    op.create_table(
        "analyses",
        sa.Column(
            "match",
            sa.Text,
            sa.ForeignKey("matches.id", name="fk_analyses_match"),
            primary_key=True,
        ),
        sa.Column("attempts", sa.Integer, nullable=False),
        sa.Column("claimed_until", sa.Double, nullable=False),
        sa.Column("analysis", sa.JSON(none_as_null=True)),
        sa.Column("reason", sa.Text, nullable=False, server_default=""),
        sa.Column("ended", sa.Double),
    )
