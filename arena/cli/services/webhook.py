"""The commands `pokearena webhook`: send results and changes to other services."""

from __future__ import annotations

import secrets
import time
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import rich_click as click

from arena.cli import completers, output
from arena.cli.errors import FAILED, CommandError, usage_error
from arena.cli.options import data_option, json_option
from arena.cli.workspace import Workspace

if TYPE_CHECKING:
    from arena.store.webhooks import Webhook, WebhookScope

_EVENTS = ("match.closed", "tournament.started", "tournament.ended", "version.added")
_DEFAULT_EVENTS = _EVENTS[1:]
_FORMATS = ("standard", "discord", "slack")
_HOSTS = {"discord.com": "discord", "discordapp.com": "discord", "hooks.slack.com": "slack"}
_DEFAULT_DELIVERIES = 50


@click.group()
def webhook() -> None:
    """Send results and changes to other services as signed HTTP requests.

    `pokearena serve` and `tournament run` deliver them in the background.
    """


@webhook.command(epilog="Example: pokearena webhook add https://example.org/hook")
@click.argument("url")
@click.option(
    "--event",
    "events",
    type=click.Choice(_EVENTS),
    multiple=True,
    help="Event to send; repeatable. [default: all except match.closed]",
)
@click.option(
    "--format",
    "body_format",
    type=click.Choice(_FORMATS),
    help="Format of the body. [default: discord or slack by the host, otherwise standard]",
)
@click.option(
    "--tournament",
    metavar="ID",
    shell_complete=completers.tournaments,
    help="Only events of this tournament.",
)
@click.option(
    "--game", shell_complete=completers.game_ids, help="Only events of tournaments of this game."
)
@click.option(
    "--form",
    metavar="LADDER",
    shell_complete=completers.forms,
    help="Only events of tournaments of this form or ladder, such as GAME-3 or GAME~slow.",
)
@click.option(
    "--bot",
    metavar="NAME",
    shell_complete=completers.versions,
    help="Only events of this bot and of its matches and tournaments.",
)
@click.option(
    "--allow-private",
    is_flag=True,
    help="Allow private addresses such as 127.0.0.1, and http:// URLs.",
)
@json_option
@data_option
def add(
    url: str,
    events: tuple[str, ...],
    body_format: str | None,
    tournament: str | None,
    game: str | None,
    form: str | None,
    bot: str | None,
    allow_private: bool,
    as_json: bool,
    workspace: Workspace,
) -> None:
    """Add a webhook, which receives the events from now on, and print its secret once.

    The receiver verifies the signature of each request with the secret, as the specification
    Standard Webhooks describes. Discord and Slack ignore it.
    """
    from arena.services.announcements import webhook_receiver
    from arena.services.announcements.webhook_receiver import ReceiverRefused
    from arena.store import webhooks
    from arena.store.webhooks import AnnouncementType, WebhookFormat

    try:
        parts = webhook_receiver.check(url, private=allow_private)
    except ReceiverRefused as error:
        raise usage_error(f"{error}.", error.code) from None
    scope = _scope(workspace, tournament, game, form, bot)
    hook = webhooks.add_webhook(
        workspace.store,
        url,
        WebhookFormat(body_format or _HOSTS.get(parts.hostname or "", "standard")),
        [AnnouncementType(event) for event in events or _DEFAULT_EVENTS],
        scope,
        private=allow_private,
    )
    output.result(as_json, {**_values(hook), "secret": hook.secret}, hook.secret)
    if not as_json:
        output.hint(f"secret of {hook.id}; it is shown only once")
        output.next_step(f"pokearena webhook test {hook.id}")


@webhook.command("list", epilog="Example: pokearena webhook list")
@json_option
@data_option
def listing(as_json: bool, workspace: Workspace) -> None:
    """List the webhooks. --json prints one line per webhook.

    URLs are cut after the host, because the path is a credential for some receivers.
    """
    from arena.store import webhooks

    every = webhooks.list_webhooks(workspace.existing_store)
    output.listing(
        as_json,
        map(_values, every),
        ("<webhook", "<receiver", "<format", "<events", "<only", "<state"),
        (
            (
                each.id,
                _shortened(each.url),
                str(each.format),
                " ".join(each.events),
                " ".join(each.scope.to_json().values()),
                _state(each),
            )
            for each in every
        ),
        "pokearena webhook log" if every else "pokearena webhook add URL",
    )


@webhook.command(epilog="Example: pokearena webhook remove w-7f3k9q2x")
@click.argument("webhook_id", metavar="ID", shell_complete=completers.webhooks)
@json_option
@data_option
def remove(webhook_id: str, as_json: bool, workspace: Workspace) -> None:
    """Delete a webhook with its waiting deliveries and its log."""
    from arena.store import webhooks

    webhooks.remove(workspace.existing_store, webhook_id)
    values = {"webhook": webhook_id, "removed": True}
    output.result(as_json, values, f"{webhook_id} is removed", then="pokearena webhook list")


@webhook.command(epilog="Example: pokearena webhook test w-7f3k9q2x")
@click.argument("webhook_id", metavar="ID", shell_complete=completers.webhooks)
@json_option
@data_option
def test(webhook_id: str, as_json: bool, workspace: Workspace) -> None:
    """Send a test message now. A successful test enables a disabled webhook again."""

    from arena.services.announcements import webhook_message, webhook_sender
    from arena.store import webhooks

    engine = workspace.existing_store
    hook = webhooks.find_webhook(engine, webhook_id)
    message = webhook_message.of_test(hook, secrets.token_hex(8), time.time(), "")
    result = webhook_sender.send(hook, message)
    webhooks.note_test(engine, webhook_id, message.id, result)
    if as_json:
        output.document(
            {
                "webhook": webhook_id,
                "message": message.id,
                "delivered": not result.error,
                "status": result.status,
                "error": result.error or None,
            }
        )
    if result.error:
        raise CommandError(
            f"the test of {webhook_id} failed: {result.error}.", FAILED, code="not-delivered"
        )
    if not as_json:
        output.line(f"delivered with status {result.status}")


@webhook.command(epilog="Example: pokearena webhook log w-7f3k9q2x --json")
@click.argument("webhook_id", metavar="[ID]", required=False, shell_complete=completers.webhooks)
@click.option(
    "--limit",
    type=click.IntRange(1, 10_000),
    default=_DEFAULT_DELIVERIES,
    show_default=True,
    metavar="N",
    help="Number of deliveries.",
)
@json_option
@data_option
def log(webhook_id: str | None, limit: int, as_json: bool, workspace: Workspace) -> None:
    """Show the latest deliveries, newest events first. --json prints one line per delivery."""
    from arena.store import webhooks
    from arena.tournaments import json_values

    engine = workspace.existing_store
    if webhook_id:
        webhooks.find_webhook(engine, webhook_id)
    deliveries = webhooks.log(engine, webhook_id or "", limit)
    output.listing(
        as_json,
        (
            {
                "webhook": each.task.queue,
                "event": each.event,
                "subject": each.subject,
                "at": json_values.iso(each.task.created),
                "state": str(each.state),
                "attempts": each.task.attempt,
                "status": each.status,
                "error": each.task.reason or None,
                "ended": json_values.iso(each.task.ended),
            }
            for each in deliveries
        ),
        ("<time", "<webhook", "<event", "<subject", "<state", "attempts", "status", "<error"),
        (
            (
                output.local_time(each.task.created),
                each.task.queue,
                each.event,
                each.subject,
                str(each.state),
                each.task.attempt,
                each.status,
                each.task.reason,
            )
            for each in deliveries
        ),
    )


def _scope(
    workspace: Workspace,
    tournament: str | None,
    game: str | None,
    form: str | None,
    bot: str | None,
) -> WebhookScope:
    """Return the restrictions of a webhook after checking that their objects exist."""
    from arena.store import match_settings
    from arena.store.bots import versions
    from arena.store.tournaments import tournaments
    from arena.store.webhooks import WebhookScope

    if tournament is not None:
        tournaments.find_tournament(workspace.existing_store, tournament)
    if bot is not None and not versions.list_versions(
        workspace.existing_store, name=bot, retired=True
    ):
        raise CommandError(f"unknown bot {bot}.", FAILED, "pokearena bot list", code="unknown-bot")
    game_id = match_settings.game_named(game).id if game is not None else ""
    name = match_settings.canonical_ladder(form) if form is not None else ""
    return WebhookScope(tournament or "", game_id, bot or "", name)


def _values(hook: Webhook) -> dict[str, object]:
    from arena.tournaments import json_values

    return {
        "webhook": hook.id,
        "receiver": _shortened(hook.url),
        "format": str(hook.format),
        "events": list(hook.events),
        "only": hook.scope.to_json(),
        "private": hook.private,
        "created": json_values.iso(hook.created),
        "failures": hook.failures,
        "disabled": json_values.iso(hook.disabled),
        "reason": hook.reason or None,
    }


def _shortened(url: str) -> str:
    """Return a URL without the path, which is a credential for Discord and Slack."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}/{'…' if parts.path.strip('/') else ''}"


def _state(hook: Webhook) -> str:
    if hook.disabled is not None:
        return f"disabled: {hook.reason}"
    return f"{output.count(hook.failures, 'failure')} in a row" if hook.failures else "enabled"
