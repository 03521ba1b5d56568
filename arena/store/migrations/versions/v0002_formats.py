"""Add formats with settings, owners, joins and withdrawals, failures, quarantine and digests."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the columns and the table of failures, and convert cycles to format settings."""
    _formats()
    op.add_column("bots", sa.Column("owner", sa.Text, nullable=False, server_default=""))
    op.add_column("versions", sa.Column("quarantined", sa.Double))
    op.add_column("versions", sa.Column("quarantine_reason", sa.Text))
    op.add_column("entrants", sa.Column("owner", sa.Text, nullable=False, server_default=""))
    op.add_column("entrants", sa.Column("joined", sa.Integer, nullable=False, server_default="0"))
    op.add_column("entrants", sa.Column("withdrawn", sa.Integer))
    op.add_column("matches", sa.Column("why", sa.Text, nullable=False, server_default=""))
    op.create_table(
        "failures",
        sa.Column("match", sa.Text, nullable=False),
        sa.Column("attempt", sa.Integer, nullable=False),
        sa.Column("at", sa.Double, nullable=False),
        sa.Column("reason", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("match", "attempt", name="pk_failures"),
        sa.ForeignKeyConstraint(["match"], ["matches.id"], name="fk_failures_match"),
    )
    _digests()


def _digests() -> None:
    op.add_column("games", sa.Column("thinking", sa.JSON(none_as_null=True)))
    op.add_column("results", sa.Column("digest", sa.Text))
    op.add_column("results", sa.Column("thinking", sa.JSON(none_as_null=True)))
    op.create_index("ix_results_closed", "results", ["closed"])


def _formats() -> None:
    op.add_column(
        "tournaments", sa.Column("settings", sa.JSON, nullable=False, server_default="{}")
    )
    table = sa.table(
        "tournaments", sa.column("id"), sa.column("cycles"), sa.column("settings", sa.JSON)
    )
    connection = op.get_bind()
    for row in connection.execute(sa.select(*table.c["id", "cycles"])).all():
        change = sa.update(table).where(table.c.id == row.id)
        connection.execute(change.values(settings={"cycles": row.cycles}))
    op.drop_column("tournaments", "cycles")
