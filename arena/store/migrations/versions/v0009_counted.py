"""Store counts that grow with every match: when it is scheduled, and when it closes."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the totals of tournaments, and the closing times of entrants' matches."""
    for name, counted in (("matches", "count(*)"), ("games", "coalesce(sum(games), 0)")):
        op.add_column(
            "tournaments", sa.Column(name, sa.Integer, nullable=False, server_default="0")
        )
        op.execute(
            f"UPDATE tournaments SET {name} = "
            f"(SELECT {counted} FROM matches WHERE matches.tournament = tournaments.id)"
        )
    op.add_column("match_entrants", sa.Column("closed", sa.Double))
    op.execute(
        "UPDATE match_entrants SET closed = "
        "(SELECT closed FROM results WHERE results.match = match_entrants.match)"
    )
    op.create_index("ix_match_entrants_version_closed", "match_entrants", ["version", "closed"])
    op.drop_index("ix_match_entrants_version", table_name="match_entrants")
