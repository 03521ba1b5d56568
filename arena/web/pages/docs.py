"""Pages of the documentation, of the rules of the games and of the HTTP API."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import PurePosixPath
from urllib.parse import urlencode

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markupsafe import Markup, escape

from arena.presentation import shipped_docs
from arena.web import openapi
from arena.web.data.web_state import WebState
from arena.web.openapi import Samples, plain
from arena.web.page import Links, Page, PageNotFound, PageRequest, PageRoute
from referee.games.registry import GAMES

_KEPT_SECONDS = 3600.0


@dataclass(frozen=True, slots=True)
class RenderedDocument:
    """A document: its title, its text as HTML, and its sections as (anchor, heading)."""

    title: str
    html: Markup
    sections: tuple[tuple[str, str], ...]


def written(markdown: str, links: Links) -> RenderedDocument:
    """Convert a shipped document. Links to documents that are not shipped become plain text."""
    reader = MarkdownIt("commonmark", {"html": False}, renderer_cls=_Renderer).enable("table")
    tokens = reader.parse(markdown)
    title, heading, tables, sections = "", "", 0, []
    known: set[str] = set()
    for place, token in enumerate(tokens):
        if token.type == "heading_open":
            heading = _text(tokens[place + 1])
            anchor = _anchor(heading, known)
            token.attrs["id"] = anchor
            if token.tag == "h1":
                title = title or heading
            elif token.tag == "h2":
                sections.append((anchor, heading))
        elif token.type == "table_open":
            # Each region of a page needs a name of its own.
            tables += 1
            token.meta["label"] = f"Table {tables}: {heading}"
        # The Content-Security-Policy forbids style attributes; use classes.
        style = str(token.attrs.pop("style", ""))
        if style:
            token.attrs["class"] = style.rpartition(":")[2]
        if token.children:
            token.children = _linked(token.children, lambda href: _address(href, links))
    html = str(reader.renderer.render(tokens, reader.options, {}))
    return RenderedDocument(title, Markup(html), tuple(sections))


class _Renderer(RendererHTML):
    """Puts each table into a named region that scrolls sideways."""

    def table_open(self, tokens: Sequence[Token], at: int, options: object, env: object) -> str:
        label = escape(tokens[at].meta["label"])
        return f'<div class="wide" tabindex="0" role="region" aria-label="{label}"><table>\n'

    def table_close(self, tokens: Sequence[Token], at: int, options: object, env: object) -> str:
        return "</table></div>\n"


def _text(token: Token) -> str:
    return "".join(child.content for child in token.children or ())


def _anchor(heading: str, known: set[str]) -> str:
    """Return a unique anchor for a heading, in GitHub's style."""
    plain = re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") or "section"
    anchor, number = plain, 1
    while anchor in known:
        anchor, number = f"{plain}-{number}", number + 1
    known.add(anchor)
    return anchor


def _linked(tokens: Sequence[Token], address: Callable[[str], str]) -> list[Token]:
    """Replace link targets by `address(target)`; links without an address become plain text."""
    kept: list[Token] = []
    dropped: list[bool] = []
    for token in tokens:
        if token.type == "link_open":
            href = address(str(token.attrs.get("href", "")))
            dropped.append(not href)
            token.attrs["href"] = href
            if href:
                kept.append(token)
        elif token.type == "link_close":
            if not dropped.pop():
                kept.append(token)
        elif token.type != "image":
            kept.append(token)
    return kept


def _address(href: str, links: Links) -> str:
    path, hash_, anchor = href.partition("#")
    if href.startswith(("https://", "#")):
        return href
    name = PurePosixPath(path).stem
    if not path.endswith(".md"):
        return ""
    if name in shipped_docs.PAGES:
        return links.to("docs", name) + hash_ + anchor
    if name in GAMES:
        return links.to("rules", name) + hash_ + anchor
    return ""


def contents(web: WebState, page_request: PageRequest) -> Page:
    """Return the table of contents of the documentation."""
    pages = [
        (name, _page(name, page_request.links).title, about)
        for name, about in shipped_docs.PAGES.items()
    ]
    return Page(
        title="How it works",
        template="docs.html",
        model={"pages": pages},
        data={"pages": [{"page": name, "title": t, "about": about} for name, t, about in pages]},
        topics=frozenset(),
        fresh=_KEPT_SECONDS,
    )


def page(web: WebState, page_request: PageRequest) -> Page:
    """Return a page of the documentation; raises PageNotFound."""
    name = page_request.path["page"]
    if name not in shipped_docs.PAGES:
        raise PageNotFound(f"unknown page {name}; available: {', '.join(shipped_docs.PAGES)}.")
    document = _page(name, page_request.links)
    return _written(
        document, shipped_docs.page(name), {"above": ("docs", "How it works"), "game": None}
    )


def games(web: WebState, page_request: PageRequest) -> Page:
    """Return the page of all games."""
    every = list(GAMES.values())
    forms = {
        game.id: [form for form in web.snapshot.ladders if _is_of(form, game.id)] for game in every
    }
    return Page(
        title="Games",
        template="games.html",
        model={"games": every, "forms": forms},
        data={
            "games": [
                {
                    "game": game.id,
                    "title": game.title,
                    "seats": list(game.seats),
                    "options": {name: option.default for name, option in game.options.items()},
                }
                for game in every
            ]
        },
    )


def rules(web: WebState, page_request: PageRequest) -> Page:
    """Return the rules of a game; raises PageNotFound."""
    name = page_request.path["game"]
    if name not in GAMES:
        raise PageNotFound(f"unknown game {name}; available: {', '.join(GAMES)}.")
    document = _rules(name, page_request.links)
    model = {"above": ("rules", "Games"), "game": GAMES[name]}
    return _written(document, shipped_docs.rules(name), model)


def _written(document: RenderedDocument, markdown: str, model: dict[str, object]) -> Page:
    return Page(
        title=document.title,
        template="written.html",
        model={"document": document, **model},
        data={"title": document.title, "markdown": markdown},
        topics=frozenset(),
        fresh=_KEPT_SECONDS,
    )


def _is_of(form: str, game: str) -> bool:
    return form == game or form.startswith(f"{game}-")


def _page(name: str, links: Links) -> RenderedDocument:
    return written(shipped_docs.page(name), links)


def _rules(game: str, links: Links) -> RenderedDocument:
    return written(shipped_docs.rules(game), links)


def api_document(web: WebState, page_request: PageRequest, addresses: Sequence[PageRoute]) -> Page:
    """Return the OpenAPI document, available only as JSON.

    Args:
        web: the server's state.
        page_request: the request.
        addresses: the addresses of all pages, this one included.
    """
    description = openapi.document(web, page_request.links, addresses, version("pokearena"))
    return Page(title="OpenAPI", template="", model={}, data=description, fresh=60.0)


def api_page(web: WebState, page_request: PageRequest, addresses: Sequence[PageRoute]) -> Page:
    """Return the page of all addresses with their parameters and an example of each."""
    samples = Samples(web)

    def tried(path: str, kind: str, query: dict[str, str]) -> str:
        ending = "" if kind == "html" or path == "/" else f".{kind}"
        return path + ending + (f"?{urlencode(query)}" if query else "")

    rows = []
    for each in addresses:
        values, query = samples.values(each), dict(samples.query(each))
        path = plain(each.path)
        for name, value in (values or {}).items():
            path = path.replace(f"{{{name}}}", value)
        tries = [(kind, tried(path, kind, query)) for kind in each.kinds]
        rows.append((plain(each.path), each, tries if values is not None else []))
    paragraphs = [part.replace("`", "") for part in openapi.ABOUT.split("\n\n")]
    return Page(
        title="For programs",
        template="api.html",
        model={"rows": rows, "about": paragraphs},
    )
