"""Ports for servers that tests start in other processes."""

import socket


def reserved_port() -> int:
    """Return a port of 127.0.0.1 that the system gives to nobody else for a minute.

    A connection that this side closed first keeps the port in the state TIME_WAIT; servers may
    listen at it, because they set SO_REUSEADDR.
    """
    with (
        socket.create_server(("127.0.0.1", 0)) as listening,
        socket.create_connection(listening.getsockname()),
        listening.accept()[0],
    ):
        return int(listening.getsockname()[1])
