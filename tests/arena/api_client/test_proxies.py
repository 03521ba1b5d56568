"""Requests to this machine do not go through a proxy; a failing proxy is named."""

import asyncio
import gc
import threading
import warnings
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from arena.api_client import ArenaClient, ArenaUnreachable
from arena.api_client.client import _opener
from arena.cli.bots import arena_requests
from arena.cli.errors import UNREACHABLE, CommandError
from arena.remote import connector, relay_url
from arena.remote.connector import Connector, RelayUnreachable
from arena.remote.connector_process import Command
from arena.remote.relay_url import RelayNotFound, RelayTarget
from arena.system.connection_errors import is_loopback, via_grpc_proxy, via_web_proxy

PROXIES = ("http_proxy", "https_proxy")


@pytest.fixture(autouse=True)
def proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in PROXIES:
        monkeypatch.setenv(name, "http://user:secret@127.0.0.1:9")
    for name in ("no_proxy", "NO_PROXY", "grpc_proxy", "no_grpc_proxy"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize("host", ["127.0.0.1:8000", "localhost", "[::1]:80"])
def test_this_machine_is_reached_without_a_proxy(host: str) -> None:
    handlers = [type(each).__name__ for each in vars(_opener(f"http://{host}"))["handlers"]]
    assert "ProxyHandler" not in handlers
    assert via_web_proxy(f"http://{host}") == ""


def test_a_proxy_that_fails_is_named_without_its_password() -> None:
    with pytest.raises(ArenaUnreachable) as caught:
        ArenaClient("http://arena.example.org", "token").send("GET", "/")
    assert "127.0.0.1:9" in str(caught.value)
    assert "secret" not in str(caught.value)


def test_no_proxy_excludes_a_host(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("no_proxy", "arena.example.org")
    assert via_web_proxy("http://arena.example.org") == ""


def test_the_relay_on_this_machine_is_recognised() -> None:
    assert all(map(is_loopback, ("127.0.0.1", "localhost", "::1", "[::1]")))
    assert not is_loopback("127.0.0.1.example.org")


class RefusingProxy(BaseHTTPRequestHandler):
    def refuse(self) -> None:
        self.send_response(502)
        self.send_header("Content-Length", "0")
        self.end_headers()

    do_GET = do_POST = do_CONNECT = refuse  # noqa: N815

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def refusing(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Set a proxy that answers 502 to everything; yield its address."""
    with ThreadingHTTPServer(("127.0.0.1", 0), RefusingProxy) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        for name in PROXIES:
            monkeypatch.setenv(name, f"http://user:secret@127.0.0.1:{server.server_port}")
        yield f"127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()
    with warnings.catch_warnings():
        # http.client of Python 3.11 does not close the answer to a refused CONNECT.
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_a_proxy_that_refuses_is_named_with_its_variable(refusing: str, scheme: str) -> None:
    url = f"{scheme}://arena.example.org"
    arena = ArenaClient(url, "token")
    with pytest.raises(CommandError) as refused:
        arena_requests.content_of(arena, lambda: arena.get_matches_id("m-1"))
    with pytest.raises(RelayNotFound) as lost:
        relay_url.find_relay(url)
    assert refused.value.status == UNREACHABLE
    for sentence in (str(refused.value), str(lost.value)):
        assert f"{refusing} of {scheme}_proxy; no_proxy=arena.example.org" in sentence
        assert "secret" not in sentence


@pytest.mark.parametrize("variable", ["https_proxy", "grpc_proxy"])
def test_the_proxy_of_a_relay_is_named(
    refusing: str, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    monkeypatch.setattr(connector, "FIRST_SECONDS", 0.0)
    monkeypatch.setenv(variable, f"http://{refusing}")
    target, command = RelayTarget("arena.example.org:7000", False), Command(("true",), Path())
    with pytest.raises(RelayUnreachable) as lost:
        asyncio.run(Connector(target, "token", command, 1, lambda *_: None).run())
    assert f"{refusing} of {variable}; no_proxy=arena.example.org" in str(lost.value)


def test_a_relay_is_excluded_from_the_proxy_as_by_grpc(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "https_proxy" in via_grpc_proxy("arena.example.org")
    assert via_grpc_proxy("[::1]") == ""
    monkeypatch.setenv("no_proxy", "other.org, example.org")
    assert via_grpc_proxy("arena.example.org") == ""
    monkeypatch.setenv("no_grpc_proxy", "other.org")
    assert "https_proxy" in via_grpc_proxy("arena.example.org")


def test_a_proxy_with_an_invalid_port_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://proxy:port")
    with pytest.raises(RelayNotFound) as lost:
        relay_url.find_relay("http://arena.example.org")
    assert "proxy:port of http_proxy" in str(lost.value)
