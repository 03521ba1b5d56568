"""Mark the tables of release 0.2.0, the oldest that can be upgraded."""

revision = "0009"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Do nothing: new databases get the present tables directly (`arena.store.database`)."""
