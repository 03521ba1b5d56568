"""Run the migrations on the connection that `arena.store.database.upgrade` provides."""

from alembic import context

from arena.store.schema import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    # SQLite cannot alter a table in place: Alembic copies it.
    render_as_batch=True,
)
with context.begin_transaction():
    context.run_migrations()
