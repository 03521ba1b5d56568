"""Add the table of stored sums and standings of ladders."""

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the table; web servers fill it."""
    op.create_table(
        "ladder_folds",
        sa.Column("tournament", sa.Text, nullable=False),
        sa.Column("part", sa.Integer, nullable=False),
        sa.Column("matches", sa.Integer, nullable=False),
        sa.Column("corrections", sa.Integer, nullable=False),
        sa.Column("stored", sa.Double, nullable=False),
        sa.Column("data", sa.LargeBinary, nullable=False),
        sa.ForeignKeyConstraint(
            ["tournament"], ["tournaments.id"], name="fk_ladder_folds_tournament"
        ),
        sa.PrimaryKeyConstraint("tournament", "part", name="pk_ladder_folds"),
    )
