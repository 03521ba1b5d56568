"""Events that a transaction causes, which its commit publishes.

A transaction announces its events. After the commit the listeners of the store receive them; after
a rollback nobody does. If the process is killed in between, they are lost, as any event may be.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine

    from arena.events.messages import Event

Listener = Callable[["Event"], None]
"""Receives an event in the thread of the transaction. It must neither raise nor wait."""

OPTION: Final = "pokearena_events"
"""Execution option of a connection: the list of events that its transaction has announced."""
_listeners: Final[WeakKeyDictionary[Engine, list[Listener]]] = WeakKeyDictionary()


def announce(connection: Connection, event: Event) -> None:
    """Have an event published when the transaction of this connection is committed."""
    connection.get_execution_options()[OPTION].append(event)


@contextmanager
def listening(engine: Engine, listener: Listener) -> Iterator[None]:
    """Pass the events of all transactions that this process commits in the block to `listener`."""
    listeners = _listeners.setdefault(engine, [])
    listeners.append(listener)
    try:
        yield
    finally:
        listeners.remove(listener)


def publish(engine: Engine, events: list[Event]) -> None:
    """Pass the events of a committed transaction to the listeners of the store."""
    for event in events:
        for listener in _listeners.get(engine, ()):
            listener(event)
