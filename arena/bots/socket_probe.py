"""Whether anybody listens at a gRPC address, and who is asked for there."""

import socket
import time
from typing import Any, Final

from referee.rpc.sockets import connected

# How the arena connects to a bot it asks itself: as the referee does (referee/bot_client.py).


ANSWER_BYTES: Final = 1 << 20
"""The largest message a bot may send, as at home with the referee."""
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
"""How often a bot that may have gone is looked for."""
BETWEEN = 0.05
"""Seconds between two looks."""


def goes_on_listening(address: str) -> bool:
    """Whether somebody listens there, looked at for a moment: a process dies bit by bit."""
    for look in range(LOOKS):
        if look:
            time.sleep(BETWEEN)
        if not listens(address):
            return False
    return True


def listens(address: str, patience: float = 0.3) -> bool:
    """Whether a connection to "unix:/path" or "host:port" is taken, within `patience` seconds."""
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
    """The options of a channel that name the host at this address.

    At a socket gRPC names its path otherwise, which strict servers (Rust's tonic, .NET's Kestrel)
    refuse for the "%" in it.
    """
    return [("grpc.default_authority", "localhost")] if address.startswith(UNIX) else []
