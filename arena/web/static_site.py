"""Export of a tournament as a static site: the same pages with relative links."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import Final
from urllib.parse import quote

from sqlalchemy import Engine

from arena.errors import StoreError
from arena.ladders import rater
from arena.presentation import shipped_docs
from arena.presentation.csv_text import BYTE_ORDER_MARK
from arena.presentation.wording import moment
from arena.records import published_faults
from arena.store.matches import listing, results
from arena.store.matches.listing import Match
from arena.store.schema import MatchState
from arena.store.tournaments import tournaments
from arena.web import assets
from arena.web.data.snapshot import SnapshotReader
from arena.web.data.web_state import ServerSettings, WebState
from arena.web.page import Page, PageRequest
from arena.web.pages import bot, docs, games, match, replay, tournament
from arena.web.serving import data_formats, html_pages
from referee.games.registry import GAMES
from referee.record import RecordError

_NOT_COPIED = frozenset(
    {
        *("follow.js", "stream.js", "live.js", "live_clocks.js", "replay_file.js", "play.js"),
        *("play.css", "tournament_form.js", "management.css"),
    }
)
"""Scripts that require a server, and that of single files."""
_PAGES = "tournaments"
_ON_A_PAGE = 100
_FORM = re.compile(r'<form class="find".*?</form>', re.DOTALL)
_PAGER = re.compile(r'<nav class="pager".*?</nav>', re.DOTALL)
_TURN = re.compile(r'href="\?(?:[^"]*?(?:&amp;|&))?page=(\d+)[^"]*"')

Draw = Callable[[WebState, PageRequest], Page]
Report = Callable[[str, int, int], None]
"""Receives the progress: description, completed items, total items."""


@dataclass(frozen=True, slots=True)
class SitePage:
    """A page to write to a file.

    Args:
        kinds: the kinds written in addition to HTML.
    """

    draw: Draw
    path: Mapping[str, str]
    query: Mapping[str, str] = field(default_factory=dict)
    kinds: tuple[str, ...] = ()


class SiteLinks:
    """Relative links from one file to others; empty for pages outside the site."""

    has_play: Final = False

    def __init__(self, here: str, files: frozenset[str]) -> None:
        self._up = "../" * (len(PurePosixPath(here).parts) - 1)
        self._files = files

    def to(self, *words: object, **query: object) -> str:
        """Return the relative link to a page; empty if the site does not contain it."""
        name = "/".join(str(word) for word in words) or "index"
        # The site contains one tournament, which is its home page.
        name = "index" if name == _PAGES else name
        target = next(
            (candidate for candidate in (f"{name}.html", name) if candidate in self._files), None
        )
        return "" if target is None else self._up + quote(target, safe="/@")

    def static(self, name: str) -> str:
        """Return the relative link to a style sheet or script."""
        return f"{self._up}static/{name}"


def write(engine: Engine, name: str, folder: Path, progress: Report = lambda *_: None) -> int:
    """Write a tournament to an empty directory and return the number of files.

    Args:
        name: the ID of the tournament.
        progress: receives the progress.

    Raises:
        NotFound: the tournament does not exist.
        OSError: a file cannot be written.
    """
    web = WebState(engine, ServerSettings(spectators=False))
    rater.advance(engine)
    web.snapshot = SnapshotReader(engine).read() or web.snapshot
    matches = listing.matches(engine, tournament=name)
    pages = dict(_pages(web, name, matches))
    records = {f"matches/{listed.id}.jsonl": listed.id for listed in matches if _is_over(listed)}
    others = {
        f"{file.removesuffix('.html')}.{kind}" for file in pages for kind in pages[file].kinds
    }
    for number, id_ in enumerate(records.values()):
        progress("records are checked", number, len(records))
        _await_proof(web, id_)
    files = frozenset({*pages, *records, *others})
    for number, (file, site_page) in enumerate(pages.items()):
        progress("pages are written", number, len(pages))
        _write(web, folder, file, site_page, files)
    for file, id_ in records.items():
        _put(folder / file, published_faults.public_record(results.record(engine, id_)))
    _copy_static(folder / "static")
    return sum(path.is_file() for path in folder.rglob("*"))


def _copy_static(folder: Path) -> None:
    shutil.copytree(assets.STATIC, folder, ignore=lambda _, names: _NOT_COPIED & {*names})
    for name in assets.BUNDLES:
        _put(folder / name, assets.text(name))


def _is_over(match: Match) -> bool:
    return match.state is MatchState.CLOSED


def _pages(web: WebState, name: str, matches: tuple[Match, ...]) -> Iterator[tuple[str, SitePage]]:
    tournament = tournaments.find_tournament(web.engine, name)
    yield "index.html", _of_tournament(name, 1, ())
    for page in range(1, -(-len(matches) // _ON_A_PAGE) + 1):
        file = f"tournaments/{name}{f'-page-{page}' if page > 1 else ''}.html"
        kinds = ("json", "csv", "md", "txt") if page == 1 else ()
        yield file, _of_tournament(name, page, kinds)
    for listed in matches:
        kinds = ("json", "csv", "md", "txt")
        yield (
            f"matches/{listed.id}.html",
            SitePage(match.match_page, {"id": listed.id}, kinds=kinds),
        )
        for game in range(listed.games if _is_over(listed) else 0):
            path = {"id": listed.id, "n": str(game)}
            yield f"matches/{listed.id}/games/{game}.html", SitePage(replay.replay_page, path)
    for who in dict.fromkeys(entrant.partition("@")[0] for entrant in tournament.entrants):
        yield f"bots/{who}.html", SitePage(bot.bot_page, {"name": who}, {"limit": "500"})
    yield "games.html", SitePage(games.games_page, {})
    yield "glossary.html", SitePage(games.glossary_page, {})
    for game_id in GAMES:
        yield f"games/{game_id}.html", SitePage(games.game_page, {"game": game_id})
        yield f"rules/{game_id}.html", SitePage(docs.rules, {"game": game_id})
    yield "docs.html", SitePage(docs.contents, {})
    for page_name in shipped_docs.PAGES:
        yield f"docs/{page_name}.html", SitePage(docs.docs_page, {"page": page_name})


def _of_tournament(name: str, page: int, kinds: tuple[str, ...]) -> SitePage:
    query = {"page": str(page), "limit": str(_ON_A_PAGE)}
    return SitePage(tournament.tournament_page, {"id": name}, query, kinds)


def _write(
    web: WebState, folder: Path, file: str, site_page: SitePage, files: frozenset[str]
) -> None:
    links = SiteLinks(file, files)
    page_request = PageRequest(site_page.path, site_page.query, links)
    page = replace(site_page.draw(web, page_request), lone_bots=web.snapshot.lone_bots)
    note = f"As it stood {moment(web.snapshot.at)}"
    html = html_pages.html(page, links, path="/" + file.removesuffix(".html"), note=note)
    _put(folder / file, settled(html, links, site_page))
    for kind in site_page.kinds:
        text = data_formats.written(page, kind)
        if kind == "csv":
            # Readers of the site open it with a spreadsheet.
            text = BYTE_ORDER_MARK + text
        _put(folder / f"{file.removesuffix('.html')}.{kind}", text)


def _await_proof(web: WebState, id_: str) -> None:
    """Wait for the verification of a record, because a written page cannot show it later."""
    try:
        web.verifications.complete(id_, lambda: results.record(web.engine, id_))
    except (RecordError, KeyError, TypeError) as error:
        raise StoreError(
            f"the record of {id_} cannot be read: {error!r}; run `pokearena db check`",
            code="record-unreadable",
        ) from None


def settled(html: str, links: SiteLinks, site_page: SitePage) -> str:
    """Remove elements that require a server: search forms, and links to pages outside the site."""

    def turn(reference: re.Match[str]) -> str:
        page = reference[1]
        tail = "" if page == "1" else f"-page-{page}"
        return f'href="{links.to(_PAGES, site_page.path["id"] + tail)}"'

    html = _FORM.sub("", html)
    html = (
        _TURN.sub(turn, html)
        if site_page.draw is tournament.tournament_page
        else _PAGER.sub("", html)
    )
    return html_pages.without_empty_links(html)


def _put(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", newline="")
