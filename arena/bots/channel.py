"""How the arena connects to a bot it asks itself: as the referee does (referee/bot.py)."""

from typing import Any, Final

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
