"""Requests to this machine do not go through a proxy; a failing proxy is named."""

import pytest

from arena.api_client import ArenaClient, ArenaUnreachable
from arena.api_client.client import _opener, _proxy_of
from arena.remote.relay_url import is_loopback

PROXIES = ("http_proxy", "https_proxy")


@pytest.fixture(autouse=True)
def proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in PROXIES:
        monkeypatch.setenv(name, "http://user:secret@127.0.0.1:9")
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize("host", ["127.0.0.1:8000", "localhost", "[::1]:80"])
def test_this_machine_is_reached_without_a_proxy(host: str) -> None:
    handlers = [type(each).__name__ for each in vars(_opener(f"http://{host}"))["handlers"]]
    assert "ProxyHandler" not in handlers
    assert _proxy_of(f"http://{host}") == ""


def test_a_proxy_that_fails_is_named_without_its_password() -> None:
    with pytest.raises(ArenaUnreachable) as caught:
        ArenaClient("http://arena.example.org", "token").send("GET", "/")
    assert "127.0.0.1:9" in str(caught.value)
    assert "secret" not in str(caught.value)


def test_no_proxy_excludes_a_host(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("no_proxy", "arena.example.org")
    assert _proxy_of("http://arena.example.org") == ""


def test_the_relay_on_this_machine_is_recognised() -> None:
    assert all(map(is_loopback, ("127.0.0.1", "localhost", "::1", "[::1]")))
    assert not is_loopback("127.0.0.1.example.org")
