"""Find the latest matches of a tournament, and those of a version in a tournament, by an index."""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the tournaments of entrants' matches, and order a tournament's matches by their ends."""
    op.add_column(
        "match_entrants", sa.Column("tournament", sa.Text, nullable=False, server_default="")
    )
    op.execute(
        "UPDATE match_entrants SET tournament = "
        "(SELECT tournament FROM matches WHERE matches.id = match_entrants.match)"
    )
    columns = ["version", "tournament", "closed"]
    op.create_index("ix_match_entrants_version_tournament_closed", "match_entrants", columns)
    columns = ["state", "tournament", "ended", "games"]
    op.create_index("ix_matches_state_tournament_ended_games", "matches", columns)
    op.drop_index("ix_matches_state_tournament_games", table_name="matches")
