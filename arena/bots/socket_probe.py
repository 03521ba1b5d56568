"""Check whether a server listens at a gRPC address, and build gRPC channel options for it."""

import socket
import time
from typing import Any, Final

from referee.rpc.sockets import connected

# The arena connects to bots with the same settings as the referee (referee/tables/bot_client.py).
ANSWER_BYTES: Final = 1 << 20
"""Maximum size in bytes of a bot's message, as in the referee."""
OPTIONS: Final[list[tuple[str, Any]]] = [
    ("grpc.max_receive_message_length", ANSWER_BYTES),
    ("grpc.max_send_message_length", -1),
    ("grpc.initial_reconnect_backoff_ms", 20),
    ("grpc.min_reconnect_backoff_ms", 20),
    ("grpc.max_reconnect_backoff_ms", 200),
    ("grpc.use_local_subchannel_pool", 1),
    ("grpc.enable_retries", 0),
    ("grpc.enable_http_proxy", 0),
]


UNIX = "unix:"
LOOKS = 4
"""Number of probes before a bot counts as listening."""
BETWEEN = 0.05
"""Seconds between two probes."""


def goes_on_listening(address: str) -> bool:
    """Return whether a server still listens at the address after several probes.

    One probe is not enough: a process that ends may accept connections for a moment.
    """
    for look in range(LOOKS):
        if look:
            time.sleep(BETWEEN)
        if not listens(address):
            return False
    return True


def listens(address: str, patience: float = 0.3) -> bool:
    """Return whether "unix:/path" or "host:port" accepts a connection within `patience` seconds."""
    try:
        if address.startswith(UNIX):
            connected(address.removeprefix(UNIX), patience).close()
        else:
            host, _, port = address.rpartition(":")
            socket.create_connection((host.strip("[]"), int(port)), patience).close()
    except OSError:
        return False
    return True


def authority(address: str) -> list[tuple[str, Any]]:
    """Return channel options that set the authority for this address.

    For a socket gRPC sends the path as authority. Strict servers (Rust's tonic, .NET's Kestrel)
    reject the "%" in it.
    """
    return [("grpc.default_authority", "localhost")] if address.startswith(UNIX) else []
