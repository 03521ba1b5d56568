"""Content of the Atom feeds: of a ladder, a tournament, a bot, and all tournaments."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from arena.formats.contract import UNRATED
from arena.ladders.ladder_rows import Ladder
from arena.presentation import wording
from arena.services.announcements import announcement
from arena.services.announcements.announcement import Announcement
from arena.store.bots.versions import Version
from arena.store.matches import history
from arena.store.tournaments import tournaments
from arena.store.tournaments.tournaments import Tournament
from arena.web.atom import AtomEntry, AtomFeed
from arena.web.data.web_state import WebState
from arena.web.page import Links

ENTRIES = 50
"""Maximum number of entries of a feed."""


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


def of_all_tournaments(web: WebState, links: Links, held: Sequence[Tournament]) -> AtomFeed:
    """Return the feed of all tournaments: their starts and ends.

    Args:
        web: the server's state.
        links: the builder of links.
        held: the tournaments, oldest first.
    """
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
        web: the server's state.
        links: the builder of links.
        page: segments of the path of its page.
        title: the title.
        created: creation time of the feed's subject; it distinguishes arenas in the identity.
        events: the announcements in any order.
    """
    origin = web.settings.origin
    newest = sorted(events, key=lambda event: (event.at, event.subject), reverse=True)[:ENTRIES]
    return AtomFeed(
        identity=announcement.identity("feed", *page, created),
        title=title,
        created=created,
        link=origin + links.to(*page),
        own_link=origin + links.to(*page[:-1], f"{page[-1]}.atom"),
        entries=[AtomEntry(event, origin + links.to(*event.page)) for event in newest],
    )
