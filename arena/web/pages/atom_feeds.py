"""Atom feeds (RFC 4287): of a ladder, a tournament, a bot, and all tournaments."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

from arena.formats.contract import UNRATED
from arena.ladders.ladder_rows import Ladder
from arena.presentation import wording
from arena.services.announcements import announcement
from arena.services.announcements.announcement import Announcement
from arena.store.bots.versions import Version
from arena.store.matches import history
from arena.store.tournaments import challenges, tournaments
from arena.store.tournaments.tournaments import Tournament
from arena.web.data.web_state import WebState
from arena.web.page import AtomFeed, Links

ENTRIES = 50
"""Maximum number of entries of a feed."""
_NAMESPACE = "http://www.w3.org/2005/Atom"
_AUTHOR = "Poke arena"


def of_ladder(web: WebState, links: Links, ladder: Ladder) -> AtomFeed:
    """Return the feed of a ladder: its new versions, and its tournaments of all seasons."""
    form = ladder.scope.name
    held = [
        tournament
        for tournament in tournaments.list_tournaments(web.engine, game=ladder.scope.game)
        if tournament.plan.ladder == form and tournament.plan.format not in UNRATED
    ]
    entered = dict.fromkeys(name for tournament in held for name in tournament.entrants)
    versions = [web.snapshot.versions[name] for name in entered if name in web.snapshot.versions]
    return _feed(
        web,
        links,
        ("ladders", form),
        f"{wording.form_name(form)}: the ladder",
        held[0].created,
        [*_of_tournaments(held), *map(announcement.added_version, versions)],
    )


def of_tournament(web: WebState, links: Links, tournament: Tournament) -> AtomFeed:
    """Return the feed of a tournament: its start, its latest results, its end with the winner."""
    matches = history.latest(web.engine, tournament.id, ENTRIES)
    events = [announcement.started_tournament(tournament)]
    events += map(announcement.closed_match, matches)
    if tournament.ended is not None:
        first = announcement.first_place(web.engine, tournament)
        events.append(announcement.ended_tournament(tournament, first))
    address = ("tournaments", tournament.id)
    return _feed(web, links, address, tournament.plan.name, tournament.created, events)


def of_bot(web: WebState, links: Links, name: str, versions: Sequence[Version]) -> AtomFeed:
    """Return the feed of a bot: its versions, and its latest results."""
    matches = history.matches(web.engine, [[version.id for version in versions]], limit=ENTRIES)
    events = [announcement.added_version(version) for version in versions]
    events += map(announcement.closed_match, matches)
    title = f"The bot {name}"
    return _feed(web, links, ("bots", name), title, versions[0].created, events)


def of_all_tournaments(web: WebState, links: Links) -> AtomFeed:
    """Return the feed of all tournaments without the challenges: their starts and ends."""
    listed = tournaments.list_tournaments(web.engine)
    held = [each for each in listed if each.plan.format != challenges.FORMAT]
    created = held[0].created if held else 0.0
    events = list(_of_tournaments(held))
    return _feed(web, links, ("tournaments",), "Tournaments", created, events)


def _of_tournaments(held: Iterable[Tournament]) -> Iterator[Announcement]:
    for tournament in held:
        yield announcement.started_tournament(tournament)
        if tournament.ended is not None:
            yield announcement.ended_tournament(tournament)


def _feed(
    web: WebState,
    links: Links,
    page: tuple[str, ...],
    title: str,
    created: float,
    events: Sequence[Announcement],
) -> AtomFeed:
    """Return a feed of the newest announcements.

    Args:
        page: segments of the path of its page.
        created: creation time of the feed's subject; it distinguishes arenas in the identity.
        events: the announcements in any order.
    """
    origin = web.settings.origin
    newest = sorted(events, key=lambda event: (event.at, event.subject), reverse=True)[:ENTRIES]
    updated = newest[0].at if newest else created
    root = Element("feed", {"xmlns": _NAMESPACE})
    _add(root, "id", announcement.identity("feed", *page, created))
    _add(root, "title", title)
    _add(root, "updated", wording.iso(updated))
    _add(SubElement(root, "author"), "name", _AUTHOR)
    _link(root, "self", origin + links.to(*page[:-1], f"{page[-1]}.atom"), "application/atom+xml")
    _link(root, "alternate", origin + links.to(*page), "text/html")
    for event in newest:
        element = SubElement(root, "entry")
        _add(element, "id", event.identity)
        _add(element, "title", event.title)
        _add(element, "updated", wording.iso(event.at))
        _add(element, "published", wording.iso(event.at))
        _link(element, "alternate", origin + links.to(*event.page), "text/html")
        SubElement(element, "category", {"term": str(event.type)})
        _add(element, "summary", event.summary)
    ElementTree.indent(root, "")
    text = ElementTree.tostring(root, "unicode")
    return AtomFeed(updated, f'<?xml version="1.0" encoding="utf-8"?>\n{text}\n')


def _add(parent: Element, name: str, content: str) -> None:
    # `one_line` also spells out the control characters that XML does not allow.
    SubElement(parent, name).text = wording.one_line(content)


def _link(parent: Element, relation: str, address: str, media_type: str) -> None:
    SubElement(parent, "link", {"rel": relation, "type": media_type, "href": address})
