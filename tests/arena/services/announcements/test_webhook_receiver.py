"""Requests to receivers of webhooks: permitted addresses, signatures, limits."""

import ipaddress
import shutil
import socket
import subprocess
import threading
from pathlib import Path

import pytest

from arena.services.announcements.webhook_message import WebhookMessage, signature
from arena.services.announcements.webhook_receiver import ReceiverRefused, check, is_public, post
from tests.arena.services.announcements.webhook_receivers import receiver
from tests.errors import has_code

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"


def test_the_signature_of_the_example_in_the_specification() -> None:
    """The test vector of the reference libraries of Standard Webhooks."""
    message = "msg_p5jXN8AQM9LWM0D4loKWxJek"
    signed = signature(SECRET, message, "1614265330", b'{"test": 2432232314}')
    assert signed == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


@pytest.mark.parametrize(
    ("address", "public"),
    [
        ("93.184.216.34", True),
        ("2606:2800:220:1::1", True),
        ("127.0.0.1", False),
        ("10.1.2.3", False),
        ("172.16.0.1", False),
        ("192.168.1.1", False),
        ("169.254.169.254", False),
        ("100.64.0.1", False),
        ("0.0.0.0", False),
        ("224.0.0.1", False),
        ("255.255.255.255", False),
        ("::1", False),
        ("::", False),
        ("fe80::1", False),
        ("fd00::1", False),
        ("ff02::1", False),
        ("::ffff:127.0.0.1", False),
        ("::ffff:93.184.216.34", True),
        ("64:ff9b::10.0.0.1", False),
        ("64:ff9b::93.184.216.34", True),
        ("2002:7f00:1::", False),
    ],
)
def test_only_addresses_of_the_public_internet_are_public(address: str, public: bool) -> None:
    assert is_public(ipaddress.ip_address(address)) == public


@pytest.mark.parametrize(
    ("url", "private", "code"),
    [
        ("http://example.org/", False, "not-https"),
        ("https://127.0.0.1/", False, "private-address"),
        ("https://[::1]/", False, "private-address"),
        ("ftp://example.org/", True, "invalid-url"),
        ("https:///hook", True, "invalid-url"),
        ("https://example.org:99999/", True, "invalid-url"),
        ("https://user:word@example.org/", True, "invalid-url"),
        ("https://example.org/\r\nX: y", True, "invalid-url"),
        ("hook", True, "invalid-url"),
    ],
)
def test_urls_that_are_not_permitted_are_refused(url: str, private: bool, code: str) -> None:
    with pytest.raises(ReceiverRefused, check=has_code(code)):
        check(url, private=private)


def test_a_request_is_signed_and_complete() -> None:
    message = WebhookMessage("msg_1", b'{"type":"webhook.test"}')
    with receiver() as receiving:
        headers = message.headers(SECRET, 1_700_000_000.9)
        result = post(receiving.url, headers, message.body, private=True)
    assert result == (204, "", 0.0, False)
    (request,) = receiving.requests
    assert request.body == message.body
    assert request.headers["webhook-id"] == "msg_1"
    assert request.headers["webhook-timestamp"] == "1700000000"
    assert request.headers["content-type"] == "application/json"
    assert request.is_signed_with(SECRET)
    assert not request.is_signed_with("whsec_AAAA")


def test_a_name_of_a_private_address_is_refused_without_a_connection() -> None:
    with receiver() as receiving:
        url = receiving.url.replace("http://127.0.0.1", "https://localhost")
        result = post(url, {}, b"{}", private=False)
    assert result.status is None
    assert result.error
    assert receiving.requests == []


def test_a_redirect_is_a_failure_and_is_not_followed() -> None:
    with receiver([302]) as receiving:
        receiving.headers["Location"] = receiving.url
        result = post(receiving.url, {}, b"{}", private=True)
    assert result.status == 302
    assert result.error
    assert len(receiving.requests) == 1


@pytest.mark.parametrize(("value", "wait"), [("7", 7.0), ("soon", 0.0), ("inf", 0.0), ("-1", 0.0)])
def test_the_time_to_wait_is_read(value: str, wait: float) -> None:
    with receiver([429]) as receiving:
        receiving.headers["Retry-After"] = value
        assert post(receiving.url, {}, b"{}", private=True)[::2] == (429, wait)


def test_no_listener_is_a_failure() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
        result = post(f"http://127.0.0.1:{port}/", {}, b"{}", private=True)
    assert result.status is None
    assert result.error


def test_a_receiver_that_trickles_is_cut_off_at_the_time_limit() -> None:
    """Each byte arrives within the timeout of the socket."""
    ended = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def trickle() -> None:
            connection, _ = listening.accept()
            with connection:
                try:
                    while True:
                        connection.sendall(b"H")
                        ended.wait(0.01)
                except OSError:
                    ended.set()

        thread = threading.Thread(target=trickle)
        thread.start()
        url = f"http://127.0.0.1:{listening.getsockname()[1]}/"
        result = post(url, {}, b"{}", private=True, seconds=0.3)
        thread.join()
    assert ended.is_set()
    assert result.status is None


def test_a_certificate_is_verified(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if shutil.which("openssl") is None:
        pytest.skip("a certificate is made by openssl, which is not here")
    certificate = tmp_path / "both.pem"
    subprocess.run(
        [
            *("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"),
            *("-nodes", "-days", "2", "-subj", "/CN=127.0.0.1"),
            *("-addext", "subjectAltName=IP:127.0.0.1"),
            *("-keyout", str(certificate), "-out", str(tmp_path / "certificate.pem")),
        ],
        check=True,
        capture_output=True,
    )
    with certificate.open("a") as file:
        file.write((tmp_path / "certificate.pem").read_text())
    with receiver(certificate=certificate) as receiving:
        assert post(receiving.url, {}, b"{}", private=True).status is None
        monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "certificate.pem"))
        assert post(receiving.url, {}, b"{}", private=True).status == 204
    assert len(receiving.requests) == 1
