"""Check whether a gRPC server responds at an address, without the gRPC library."""

import socket
from typing import Final

_PREFACE: Final = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
_NO_SETTINGS: Final = bytes((0, 0, 0, 4, 0, 0, 0, 0, 0))
_SETTINGS: Final = 4


def answers(address: str, seconds: float = 1.0) -> bool:
    """Return whether the server at a gRPC address ("unix:/path" or "host:port") responds in HTTP/2.

    An accepted connection is not sufficient: the kernel accepts it for a frozen process too. Other
    kinds of addresses, which only gRPC can resolve, are assumed to respond. Each step has this time
    limit.
    """
    if address.startswith("unix:"):
        client = socket.socket(socket.AF_UNIX)
        where: str | None = address.removeprefix("unix:").removeprefix("//")
    else:
        host, colon, port = address.rpartition(":")
        if not colon or not port.isdigit() or "/" in host:
            return True
        try:
            client = socket.create_connection((host.strip("[]"), int(port)), seconds)
        except OSError:
            return False
        where = None
    with client:
        client.settimeout(seconds)
        try:
            if where is not None:
                client.connect(where)
            return _speaks(client)
        except OSError:
            return False


def _speaks(client: socket.socket) -> bool:
    """Return whether the server's first frame is SETTINGS (RFC 9113, section 3.4)."""
    client.sendall(_PREFACE + _NO_SETTINGS)
    head = b""
    while len(head) < len(_NO_SETTINGS):
        more = client.recv(len(_NO_SETTINGS) - len(head))
        if not more:
            return False
        head += more
    return head[3] == _SETTINGS
