"""Matches are counted by an index alone, with how many games they are of."""

from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Makes the index that has the games too, in place of the one that does not."""
    columns = ["state", "tournament", "games"]
    op.create_index("ix_matches_state_tournament_games", "matches", columns)
    op.drop_index("ix_matches_state_tournament", table_name="matches")
