"""Extend the index of matches by `games`, so that counting reads only the index."""

from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Replace the index on state and tournament by one that also covers `games`."""
    columns = ["state", "tournament", "games"]
    op.create_index("ix_matches_state_tournament_games", "matches", columns)
    op.drop_index("ix_matches_state_tournament", table_name="matches")
