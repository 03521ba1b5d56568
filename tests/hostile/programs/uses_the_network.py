"""Tries to connect by TCP, UDP, DNS, vsock, netlink, raw packets and abstract sockets."""

import json
import socket
from pathlib import Path

from honest import attempt, once, play

targets = json.loads(Path("targets.json").read_text())


def tcp(host: str, port: int) -> object:
    with socket.create_connection((host, port), timeout=2) as connection:
        return connection.recv(100)


def udp(host: str, port: int) -> object:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as channel:
        channel.settimeout(2)
        channel.sendto(b"hello", (host, port))
        return channel.recv(100)


def vsock() -> object:
    with socket.socket(socket.AF_VSOCK) as channel:
        channel.settimeout(2)
        return channel.connect((2, 1234)) or "connected"


def opened(*kind: int) -> object:
    with socket.socket(*kind) as channel:
        return f"a socket: {channel}"


def unix(path: str) -> object:
    with socket.socket(socket.AF_UNIX) as channel:
        channel.settimeout(2)
        channel.connect(path)
        return "connected"


def act() -> None:
    attempt(
        tcp_loopback=lambda: tcp("127.0.0.1", targets["tcp"]),
        tcp_loopback_6=lambda: tcp("::1", targets["tcp"]),
        tcp_outside=lambda: tcp("192.0.2.1", 80),
        udp_loopback=lambda: udp("127.0.0.1", targets["udp"]),
        udp_outside=lambda: udp("192.0.2.1", 53),
        dns=lambda: socket.getaddrinfo("example.org", 80),
        vsock=vsock,
        netlink=lambda: opened(socket.AF_NETLINK, socket.SOCK_RAW, 0),
        packets=lambda: opened(socket.AF_PACKET, socket.SOCK_RAW, 0),
        raw=lambda: opened(socket.AF_INET, socket.SOCK_RAW, 1),
        abstract=lambda: unix("\0" + targets["abstract"]),
        redis=lambda: unix(targets["redis"]),
        referee=lambda: unix(targets["referee"]),
    )


play(once(act))
