"""The query plans by which SQLite executes the statements of a function."""

from collections.abc import Callable
from typing import Any

from sqlalchemy import Engine, event


def query_plans(
    engine: Engine, run: Callable[[], object], text: str
) -> list[tuple[str, list[str]]]:
    """Run a function; return its queries that contain a text, each with the steps of its plan."""
    queries: list[tuple[str, Any]] = []

    @event.listens_for(engine, "before_cursor_execute")
    def note(connection: Any, cursor: Any, query: str, values: Any, *_: Any) -> None:
        if text in query:
            queries.append((query, values))

    run()
    event.remove(engine, "before_cursor_execute", note)
    plans = []
    with engine.connect() as connection:
        for query, values in queries:
            plan = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {query}", values).all()
            plans.append((query, [step[3] for step in plan]))
    return plans
