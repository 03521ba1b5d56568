"""Atom feeds (RFC 4287)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

from arena.presentation import wording
from arena.services.announcements.announcement import Announcement

_NAMESPACE = "http://www.w3.org/2005/Atom"
_AUTHOR = "Poke arena"


@dataclass(frozen=True, slots=True)
class AtomEntry:
    """An entry of a feed.

    Args:
        announcement: its content.
        link: the address of its page.
    """

    announcement: Announcement
    link: str


@dataclass(frozen=True, slots=True)
class AtomFeed:
    """A feed.

    Args:
        identity: its permanent URN.
        title: the title.
        created: the time of the feed without entries, in seconds since 1970.
        link: the address of the page that the feed belongs to.
        own_link: the address of the feed.
        entries: the entries, newest first.
    """

    identity: str
    title: str
    created: float
    link: str
    own_link: str
    entries: Sequence[AtomEntry]

    @property
    def updated(self) -> float:
        """Time of the newest entry, in seconds since 1970."""
        return max((entry.announcement.at for entry in self.entries), default=self.created)


def text(feed: AtomFeed) -> str:
    """Return the feed as an XML document."""
    root = Element("feed", {"xmlns": _NAMESPACE})
    _add(root, "id", feed.identity)
    _add(root, "title", feed.title)
    _add(root, "updated", wording.iso(feed.updated))
    _add(SubElement(root, "author"), "name", _AUTHOR)
    _link(root, "self", feed.own_link, "application/atom+xml")
    _link(root, "alternate", feed.link, "text/html")
    for entry in feed.entries:
        announcement, element = entry.announcement, SubElement(root, "entry")
        _add(element, "id", announcement.identity)
        _add(element, "title", announcement.title)
        _add(element, "updated", wording.iso(announcement.at))
        _add(element, "published", wording.iso(announcement.at))
        _link(element, "alternate", entry.link, "text/html")
        SubElement(element, "category", {"term": str(announcement.type)})
        _add(element, "summary", announcement.summary)
    ElementTree.indent(root, "")
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ElementTree.tostring(root, "unicode") + "\n"


def _add(parent: Element, name: str, content: str) -> None:
    # `one_line` also spells out the control characters that XML does not allow.
    SubElement(parent, name).text = wording.one_line(content)


def _link(parent: Element, relation: str, address: str, media_type: str) -> None:
    SubElement(parent, "link", {"rel": relation, "type": media_type, "href": address})
