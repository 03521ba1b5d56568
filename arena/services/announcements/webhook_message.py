"""Messages to webhooks: body in the receiver's format, and headers with the signature.

The headers and the standard format follow the specification Standard Webhooks
(https://www.standardwebhooks.com).
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from arena.errors import NotFound
from arena.services.announcements import announcement
from arena.services.announcements.announcement import Announcement
from arena.store.bots import versions
from arena.store.matches import history
from arena.store.tournaments import tournaments
from arena.store.webhooks import SECRET_PREFIX, TEST, AnnouncementType, WebhookFormat
from arena.tournaments.json_values import iso
from referee.sanitizing import one_line

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from arena.store.webhooks import Webhook

_TITLE, _SUMMARY = 250, 2000
"""Maximum numbers of characters; Discord accepts 256 in a title, Slack 2,000 in a text."""
_MARKDOWN: Final = re.compile(r"([\\*_~`|>\[\]()#])")
_ID_LENGTH: Final = 32


@dataclass(frozen=True, slots=True)
class WebhookMessage:
    """A message to a webhook.

    Attributes:
        id: its id; it is the same in all attempts.
    """

    id: str
    body: bytes

    def headers(self, secret: str, seconds: float) -> dict[str, str]:
        """Return the headers of an attempt.

        Args:
            seconds: the current time in seconds since 1970, by the clock of this machine.
        """
        timestamp = str(int(seconds))
        return {
            "Content-Type": "application/json",
            "User-Agent": "pokearena",
            "webhook-id": self.id,
            "webhook-timestamp": timestamp,
            "webhook-signature": signature(secret, self.id, timestamp, self.body),
        }


def signature(secret: str, message: str, timestamp: str, body: bytes) -> str:
    """Return the header `webhook-signature`: HMAC-SHA256 of id, timestamp and body."""
    key = base64.b64decode(secret.removeprefix(SECRET_PREFIX))
    signed = f"{message}.{timestamp}.".encode() + body
    digest = hmac.new(key, signed, hashlib.sha256).digest()
    return f"v1,{base64.b64encode(digest).decode()}"


def of_event(
    engine: Engine, webhook: Webhook, event: str, subject: str, site: str
) -> WebhookMessage | None:
    """Return the message about an event; None if its subject does not exist any more.

    Args:
        site: the public URL of the web pages; empty if unknown.
    """
    announced = _announcement(engine, AnnouncementType(event), subject)
    if announced is None:
        return None
    message = message_id(webhook.id, event, subject)
    return WebhookMessage(message, _body(webhook, event, announced, site))


def of_test(webhook: Webhook, number: str, seconds: float, site: str) -> WebhookMessage:
    """Return a test message.

    Args:
        number: distinguishes the tests of a webhook.
        seconds: the current time in seconds since 1970.
        site: the public URL of the web pages; empty if unknown.
    """
    scope = webhook.scope.to_json()
    announced = Announcement(
        # The type is not part of the body.
        AnnouncementType.MATCH_CLOSED,
        webhook.id,
        seconds,
        "Test of a webhook of pokearena",
        f"Events: {', '.join(webhook.events)}",
        (),
        {"webhook": webhook.id, "events": list(webhook.events), "scope": scope},
    )
    message = message_id(webhook.id, TEST, number)
    return WebhookMessage(message, _body(webhook, TEST, announced, site))


def message_id(*words: str) -> str:
    """Return the id of the message with this webhook, event and subject."""
    return "msg_" + hashlib.sha256(":".join(words).encode()).hexdigest()[:_ID_LENGTH]


def _announcement(engine: Engine, event: AnnouncementType, subject: str) -> Announcement | None:
    try:
        match event:
            case AnnouncementType.MATCH_CLOSED:
                played = history.of_ids(engine, [subject])
                return announcement.closed_match(played[0]) if played else None
            case AnnouncementType.VERSION_ADDED:
                return announcement.added_version(versions.find_version(engine, subject))
            case AnnouncementType.TOURNAMENT_STARTED:
                return announcement.started_tournament(tournaments.find_tournament(engine, subject))
            case AnnouncementType.TOURNAMENT_ENDED:
                tournament = tournaments.find_tournament(engine, subject)
                first = announcement.first_place(engine, tournament)
                return announcement.ended_tournament(tournament, first)
    except NotFound:
        return None


def _body(webhook: Webhook, event: str, announced: Announcement, site: str) -> bytes:
    document = _FORMATS[webhook.format](event, announced, site)
    return json.dumps(document, separators=(",", ":")).encode()


def _standard(event: str, announced: Announcement, site: str) -> Mapping[str, Any]:
    return {
        "type": event,
        "timestamp": iso(announced.at),
        "data": {
            **announced.data,
            "title": announced.title,
            "summary": announced.summary,
            "url": _page(announced, site),
        },
    }


def _discord(event: str, announced: Announcement, site: str) -> Mapping[str, Any]:
    embed: dict[str, Any] = {
        "title": _escaped(announced.title[:_TITLE]),
        "description": _escaped(announced.summary[:_SUMMARY]),
        "timestamp": iso(announced.at),
        "footer": {"text": event},
    }
    if page := _page(announced, site):
        embed["url"] = page
    # A name such as "everyone" must not notify people.
    return {"embeds": [embed], "allowed_mentions": {"parse": []}}


def _slack(event: str, announced: Announcement, site: str) -> Mapping[str, Any]:
    title, summary = (one_line(text) for text in (announced.title, announced.summary))
    context = [{"type": "plain_text", "text": f"{summary} "[:_SUMMARY], "emoji": False}]
    if page := _page(announced, site):
        context.append({"type": "mrkdwn", "text": f"<{_slack_text(page)}|Open>"})
    return {
        # The text of notifications.
        "text": _slack_text(title),
        "blocks": [
            {
                "type": "section",
                "text": {"type": "plain_text", "text": title[:_SUMMARY], "emoji": False},
            },
            {"type": "context", "elements": context},
        ],
    }


_FORMATS: Final[Mapping[WebhookFormat, Callable[[str, Announcement, str], Mapping[str, Any]]]] = {
    WebhookFormat.STANDARD: _standard,
    WebhookFormat.DISCORD: _discord,
    WebhookFormat.SLACK: _slack,
}


def _page(announced: Announcement, site: str) -> str | None:
    if not site or not announced.page:
        return None
    return "/".join([site, *(quote(word, safe="@") for word in announced.page)])


def _escaped(text: str) -> str:
    """Escape Discord's Markdown."""
    return _MARKDOWN.sub(r"\\\1", one_line(text))


def _slack_text(text: str) -> str:
    """Escape the three characters with a meaning in Slack's texts."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
