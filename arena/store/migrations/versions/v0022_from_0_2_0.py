"""Upgrade the tables of release 0.2.0 to those of `arena.store.schema`."""

import sqlalchemy as sa
from alembic import op

from arena.store import schema

revision = "0022"
down_revision = "0009"
branch_labels = None
depends_on = None

# What happened before, in the order of its times.
_CLOSINGS = """
INSERT INTO closings (seq, kind, match, tournament, version, at)
SELECT row_number() OVER (ORDER BY at, kind, match, tournament, version), happened.* FROM (
    SELECT 'version-added' AS kind, '' AS match, '' AS tournament, id AS version, created AS at
    FROM versions
    UNION ALL SELECT 'tournament-started', '', id, '', created FROM tournaments
    UNION ALL SELECT 'tournament-ended', '', id, '', ended FROM tournaments WHERE ended IS NOT NULL
    UNION ALL
    SELECT 'entered', '', tournament, version, created
    FROM entrants JOIN tournaments ON tournaments.id = entrants.tournament
    UNION ALL
    SELECT 'match-closed', match, tournament, '', closed
    FROM results JOIN matches ON matches.id = results.match
    UNION ALL
    SELECT 'match-voided', id, tournament, '', coalesce(ended, 0) FROM matches
    WHERE state = 'VOID'
) AS happened
"""


def upgrade() -> None:
    """Change the tables of 0.2.0, and create those that it did not have."""
    _change_match_entrants()
    _change_matches()
    for name in ("approval", "approval_reason"):
        op.add_column("submissions", sa.Column(name, sa.Text, nullable=False, server_default=""))
    corrections = sa.Column("corrections", sa.Integer, nullable=False, server_default="0")
    op.add_column("tournaments", corrections)
    for name in ("corrections", "defaults"):
        op.add_column("games", sa.Column(name, sa.JSON(none_as_null=True)))
    publishes = sa.Column("publishes_reasoning", sa.Integer, nullable=False, server_default="0")
    op.add_column("bots", publishes)
    # They follow from the games.
    for name in ("outcome", "digest", "thinking"):
        op.drop_column("results", name)
    schema.metadata.create_all(op.get_bind())
    op.execute(_CLOSINGS)


def _change_match_entrants() -> None:
    op.add_column(
        "match_entrants", sa.Column("tournament", sa.Text, nullable=False, server_default="")
    )
    op.execute(
        "UPDATE match_entrants SET tournament = "
        "(SELECT tournament FROM matches WHERE matches.id = match_entrants.match)"
    )
    columns = ["version", "tournament", "closed"]
    op.create_index("ix_match_entrants_version_tournament_closed", "match_entrants", columns)


def _change_matches() -> None:
    columns = ["state", "tournament", "ended", "games"]
    op.create_index("ix_matches_state_tournament_ended_games", "matches", columns)
    op.drop_index("ix_matches_state_tournament_games", table_name="matches")
    # Earlier failures count, on one unknown machine.
    op.add_column("matches", sa.Column("retry_at", sa.Double))
    op.add_column("matches", sa.Column("forfeited_by", sa.Text))
    op.add_column("failures", sa.Column("machine", sa.Text, nullable=False, server_default=""))
    op.add_column("failures", sa.Column("counted", sa.Integer, nullable=False, server_default="1"))
