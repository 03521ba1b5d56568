"""Whether somebody listens at an address, asked without speaking to them."""

import socket


def answers(address: str, seconds: float = 1.0) -> bool:
    """Whether a gRPC address ("unix:/path" or "host:port") takes a connection.

    Of other kinds of addresses, which only gRPC can resolve, it is taken for granted.
    """
    if address.startswith("unix:"):
        return _connects(socket.AF_UNIX, address.removeprefix("unix:").removeprefix("//"), seconds)
    host, colon, port = address.rpartition(":")
    if not colon or not port.isdigit() or "/" in host:
        return True
    try:
        socket.create_connection((host.strip("[]"), int(port)), seconds).close()
    except OSError:
        return False
    return True


def _connects(family: socket.AddressFamily, address: str, seconds: float) -> bool:
    with socket.socket(family) as client:
        client.settimeout(seconds)
        try:
            client.connect(address)
        except OSError:
            return False
    return True
