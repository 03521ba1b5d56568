"""Add remote bots: tokens, presence, and matches that no longer wait for them."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the table of remote bots and the column `matches.unawaited`."""
    op.create_table(
        "remotes",
        sa.Column("version", sa.Text, nullable=False),
        sa.Column("token", sa.Text),
        sa.Column("made", sa.Double),
        sa.Column("desk", sa.Text, nullable=False, server_default=""),
        sa.Column("since", sa.Double),
        sa.Column("until", sa.Double, nullable=False, server_default="0"),
        sa.Column("room", sa.Integer, nullable=False, server_default="0"),
        sa.Column("refusals", sa.Integer, nullable=False, server_default="0"),
        sa.Column("refused", sa.Double),
        sa.Column("refusal", sa.Text),
        sa.PrimaryKeyConstraint("version", name="pk_remotes"),
        sa.ForeignKeyConstraint(["version"], ["versions.id"], name="fk_remotes_version"),
    )
    op.create_index("ix_remotes_token", "remotes", ["token"])
    op.add_column("matches", sa.Column("unawaited", sa.Double))
