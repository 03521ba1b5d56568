"""The authority in requests to a socket is a host that every gRPC server accepts."""

import asyncio
import socket
import tempfile
from threading import Thread

import pytest
from pokearena.v1 import bot_pb2

from referee.tables.bot_client import BotClient, NoAnswer

SETTINGS = bytes([0, 0, 0, 4, 0, 0, 0, 0, 0])
"""The first frame of an HTTP/2 server."""


def bytes_until(server: socket.socket, method: bytes) -> bytes:
    connection, _ = server.accept()
    with connection:
        connection.settimeout(30)
        connection.sendall(SETTINGS)
        received = b""
        while method not in received:
            received += connection.recv(65536)
        return received


def test_the_authority_of_a_unix_socket_is_localhost() -> None:
    requests: list[bytes] = []
    with tempfile.TemporaryDirectory() as short, socket.socket(socket.AF_UNIX) as server:
        server.bind(f"{short}/bot")
        server.listen()
        listener = Thread(target=lambda: requests.append(bytes_until(server, b"BotService/Start")))
        listener.start()

        async def ask() -> None:
            bot = BotClient(f"unix:{short}/bot")
            try:
                await bot.start(bot_pb2.StartRequest(), 30)
            finally:
                await bot.close()

        with pytest.raises(NoAnswer):
            asyncio.run(ask())
        listener.join()
    (received,) = requests
    assert b"localhost" in received
    assert b"%2F" not in received
