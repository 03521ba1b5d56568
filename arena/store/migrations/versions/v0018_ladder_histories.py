"""Add the table of stored rating histories of ladders."""

import sqlalchemy as sa
from alembic import op

revision = "0018"
down_revision = "0017"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the table; web servers fill it."""
    op.create_table(
        "ladder_histories",
        sa.Column("tournament", sa.Text, nullable=False),
        sa.Column("part", sa.Integer, nullable=False),
        sa.Column("matches", sa.Integer, nullable=False),
        sa.Column("corrections", sa.Integer, nullable=False),
        sa.Column("stored", sa.Double, nullable=False),
        sa.Column("data", sa.LargeBinary, nullable=False),
        sa.ForeignKeyConstraint(
            ["tournament"], ["tournaments.id"], name="fk_ladder_histories_tournament"
        ),
        sa.PrimaryKeyConstraint("tournament", "part", name="pk_ladder_histories"),
    )
