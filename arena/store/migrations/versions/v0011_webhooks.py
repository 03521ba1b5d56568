"""Store webhooks and the log of their deliveries."""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the tables `webhooks` and `webhook_deliveries`."""
    op.create_table(
        "webhooks",
        sa.Column("id", sa.Text, nullable=False),
        sa.Column("url", sa.Text, nullable=False),
        sa.Column("format", sa.Text, nullable=False),
        sa.Column("events", sa.JSON, nullable=False),
        sa.Column("scope", sa.JSON, nullable=False),
        sa.Column("secret", sa.Text, nullable=False),
        sa.Column("private", sa.Integer, nullable=False),
        sa.Column("created", sa.Double, nullable=False),
        sa.Column("planned", sa.Double, nullable=False),
        sa.Column("failures", sa.Integer, nullable=False, server_default="0"),
        sa.Column("due", sa.Double, nullable=False),
        sa.Column("disabled", sa.Double),
        sa.Column("reason", sa.Text, nullable=False, server_default=""),
        sa.PrimaryKeyConstraint("id", name="pk_webhooks"),
    )
    op.create_table(
        "webhook_deliveries",
        sa.Column("webhook", sa.Text, nullable=False),
        sa.Column("event", sa.Text, nullable=False),
        sa.Column("subject", sa.Text, nullable=False),
        sa.Column("at", sa.Double, nullable=False),
        sa.Column("attempts", sa.Integer, nullable=False, server_default="0"),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("status", sa.Integer),
        sa.Column("error", sa.Text, nullable=False, server_default=""),
        sa.Column("ended", sa.Double),
        sa.PrimaryKeyConstraint("webhook", "event", "subject", name="pk_webhook_deliveries"),
        sa.ForeignKeyConstraint(["webhook"], ["webhooks.id"], name="fk_webhook_deliveries_webhook"),
        sa.CheckConstraint("state IN ('waiting', 'delivered', 'failed')", name="state"),
    )
    op.create_index(
        "ix_webhook_deliveries_webhook_state_at",
        "webhook_deliveries",
        ["webhook", "state", "at"],
    )
