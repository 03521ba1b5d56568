"""Tokens and secrets reach no log, no page and no output of a real `pokearena serve`."""

import json
import subprocess
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.cookiejar import CookieJar
from pathlib import Path

import pytest

from arena.api_client import ArenaClient
from arena.cli.workspace import Workspace
from arena.store import webhooks
from arena.store.access import organisers
from arena.store.bots import owners, remote_bots, versions
from arena.store.webhooks import AnnouncementType, WebhookFormat, WebhookScope
from arena.web.management.pages import PAGES
from tests.arena.cli.terminal import POKEARENA, Cli
from tests.arena.services.announcements.webhook_receivers import receiver
from tests.guarded_process import GuardedProcess
from tests.waiting import wait_until

pytestmark = [pytest.mark.long, pytest.mark.timeout(180)]


@dataclass
class Browser:
    """A browser without JavaScript: it keeps cookies and follows redirects."""

    url: str
    texts: list[str] = field(default_factory=list)
    """All headers and bodies that it received."""
    cookies: CookieJar = field(default_factory=CookieJar)

    def open(self, path: str, values: dict[str, str] | None = None) -> str:
        """Open a page, or send a form; return the body."""
        opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(self.cookies))
        body = None if values is None else urllib.parse.urlencode(values).encode()
        request = urllib.request.Request(f"{self.url}{path}", body, {"Accept": "text/html"})
        try:
            answer = opener.open(request, timeout=30)
        except urllib.error.HTTPError as error:
            answer = error
        with answer:
            text: str = answer.read().decode()
        self.texts += [str(answer.headers), text]
        return text

    @property
    def session(self) -> str:
        """Return the value of the session cookie."""
        (cookie,) = self.cookies
        assert cookie.value
        return cookie.value


@dataclass
class ServedArena:
    """A running `pokearena serve`."""

    url: str
    data: Path
    process: "subprocess.Popen[str]"
    announced: str
    output: str = ""

    def stop(self) -> str:
        """Stop the services; return their logs and their output."""
        self.process.terminate()
        out, _ = self.process.communicate()
        logs = [path.read_text("utf-8", "replace") for path in (self.data / "logs").rglob("*.log")]
        assert any("arena" in text for text in logs)
        return "\n".join([self.announced, out, *logs])


@pytest.fixture
def arena(cwd: Path) -> Iterator[ServedArena]:
    options = ("--workers", "0", "--port", "0", "--relay", "127.0.0.1:0", "--no-ladders", "--json")
    with GuardedProcess(
        [str(POKEARENA), "serve", *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        assert process.stdout is not None
        announced = process.stdout.readline()
        page = json.loads(announced)["page"].rstrip("/")
        yield ServedArena(page, cwd / ".pokearena", process, announced)
        process.terminate()


def test_no_token_and_no_secret_is_logged_or_shown(arena: ServedArena, cli: Cli) -> None:
    store = Workspace(arena.data).store
    tokens = {
        "organiser": organisers.add_organiser(store, "grace"),
        "owner": owners.add_owner(store, "ada"),
        "revoked": owners.add_owner(store, "eve"),
        "remote bot": remote_bots.add_relayed(store, "far", "1", "ada")[1],
    }
    owners.revoke(store, "eve")
    browser = Browser(arena.url)
    for role in ("organiser", "owner"):
        browser.cookies.clear()
        browser.open("/sign-in", {"token": tokens[role]})
        tokens[f"session of the {role}"] = browser.session
        for page in PAGES:
            browser.open(page.path.replace("{id}", "t-000000"))
    assert any("Signed in as ada" in text for text in browser.texts)
    browser.cookies.clear()
    # Send tokens in the wrong fields, and requests that fail.
    for name, token in list(tokens.items()):
        browser.open(f"/?token={token}")
        browser.open("/sign-in", {"token": f"{token} "})
        browser.cookies.clear()
        for client in (ArenaClient(arena.url, token), ArenaClient(arena.url, f"{token}x")):
            for answer in (
                client.show_organiser(),
                client.show_account(),
                client.tournament_create(game="poke", bots=[name]),
                client.push(name="mybot", content="0" * 64, upload=b"nonsense"),
                client.challenge(opponent="nobody"),
                client.get_submissions_id("s-0000000000"),
            ):
                browser.texts.append(json.dumps(dict(answer.content)))
        for words in (("bot", "push", "sample:random"), ("bot", "submission", "s-0")):
            result = cli(*words, "--to", arena.url, "--token", token)
            browser.texts += [result.out, result.err]
    client = ArenaClient(arena.url, tokens["organiser"])
    issued = client.owner_add(name="owen").content["token"]
    renewed = client.owner_renew(name="owen", reason="it leaked").content["token"]
    tokens |= {"issued": issued, "renewed": renewed}
    with receiver([500, 404, 500]) as failing:
        secret_path = "a-path-that-is-a-credential"
        hook = webhooks.add_webhook(
            store,
            f"{failing.url}/{secret_path}",
            WebhookFormat.STANDARD,
            list(AnnouncementType),
            WebhookScope(),
            private=True,
        )
        tokens |= {"webhook": hook.secret, "path of the webhook": secret_path}
        versions.add_version(store, "new", "1", "1" * 64, "/bots/new", {"run": ["x"]})
        wait_until(lambda: failing.requests)
        wait_until(lambda: any(each.task.reason for each in webhooks.log(store, hook.id)))
        for command in (("webhook", "list"), ("webhook", "log"), ("organiser", "audit")):
            result = cli(*command)
            assert result.status == 0
            browser.texts += [result.out, result.err]
    for path in client.get_openapi().content["paths"]:
        if "{" not in path:
            browser.texts.append(json.dumps(dict(client.send("GET", path).content)))
            browser.open(path)
    store.dispose()
    texts = {"a page or an output": browser.texts, "a log": [arena.stop()]}
    stored = b"".join(path.read_bytes() for path in arena.data.glob("arena.db*") if path.is_file())
    for name, secret in tokens.items():
        for where, contents in texts.items():
            # The session cookie is sent once, to its own browser.
            shown = [text for text in contents if secret in text]
            if name.startswith("session"):
                shown = [text for text in shown if f"pokearena={secret}" not in text]
            assert not shown, f"the secret of the {name} is in {where}: {shown[0][:2000]}"
        if "webhook" not in name:
            assert secret.encode() not in stored, name
