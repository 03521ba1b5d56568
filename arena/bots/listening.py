"""Whether anybody listens at a gRPC address."""

import socket

UNIX = "unix:"


def listens(address: str, patience: float = 0.3) -> bool:
    """Whether a connection to "unix:/path" or "host:port" is taken, within `patience` seconds."""
    try:
        if address.startswith(UNIX):
            with socket.socket(socket.AF_UNIX) as client:
                client.settimeout(patience)
                client.connect(address.removeprefix(UNIX))
        else:
            host, _, port = address.rpartition(":")
            socket.create_connection((host.strip("[]"), int(port)), patience).close()
    except OSError:
        return False
    return True
