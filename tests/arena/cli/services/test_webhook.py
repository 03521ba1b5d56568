"""`pokearena webhook`: secrets are shown once, and URLs are cut."""

import json
from collections.abc import Iterator

import pytest

from arena.cli.workspace import Workspace
from arena.store import webhooks
from tests.arena.cli.terminal import Cli
from tests.arena.services.announcements.webhook_receivers import WebhookReceiver, receiver


@pytest.fixture
def receiving() -> Iterator[WebhookReceiver]:
    with receiver() as made:
        yield made


def test_a_webhook_is_added_tested_listed_logged_and_removed(
    cli: Cli, receiving: WebhookReceiver
) -> None:
    made = cli("webhook", "add", receiving.url, "--allow-private", "--game", "poke", "--json").json
    assert made["events"] == ["tournament.started", "tournament.ended", "version.added"]
    assert made["only"] == {"game": "poke"}
    tested = cli("webhook", "test", made["webhook"], "--json")
    assert (tested.status, tested.json["status"]) == (0, 204)
    (request,) = receiving.requests
    assert request.is_signed_with(made["secret"])
    assert json.loads(request.body)["type"] == "webhook.test"
    for command in (("list",), ("list", "--json"), ("log",), ("log", made["webhook"], "--json")):
        listed = cli("webhook", *command)
        assert made["webhook"] in listed.out
        assert made["secret"] not in listed.out
        assert "key=1" not in listed.out
    assert cli("webhook", "remove", made["webhook"]).status == 0
    assert webhooks.list_webhooks(Workspace(None).store) == ()


def test_a_failed_test_is_an_error_and_is_logged(cli: Cli, receiving: WebhookReceiver) -> None:
    secret = cli("webhook", "add", receiving.url, "--allow-private").out.strip()
    (hook,) = webhooks.list_webhooks(Workspace(None).store)
    assert hook.secret == secret
    receiving.statuses = [404]
    result = cli("webhook", "test", hook.id)
    assert (result.status, result.code) == (1, "not-delivered")
    (line,) = cli("webhook", "log", "--json").out.splitlines()
    assert (json.loads(line)["state"], json.loads(line)["status"]) == ("failed", 404)


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("http://example.org/",), "not-https"),
        (("https://127.0.0.1/",), "private-address"),
        (("https://example.org/", "--tournament", "t-000000"), "unknown-tournament"),
        (("https://example.org/", "--bot", "nobody"), "unknown-bot"),
    ],
)
def test_a_wrong_webhook_is_refused(cli: Cli, words: tuple[str, ...], code: str) -> None:
    assert Workspace(None).store
    result = cli("webhook", "add", *words)
    assert result.status != 0
    assert result.code == code


@pytest.mark.parametrize(
    ("url", "body_format"),
    [
        ("https://discord.com/api/webhooks/1/x", "discord"),
        ("https://hooks.slack.com/services/x", "slack"),
        ("https://example.org/", "standard"),
    ],
)
def test_the_host_selects_the_format(cli: Cli, url: str, body_format: str) -> None:
    assert cli("webhook", "add", url, "--json").json["format"] == body_format
