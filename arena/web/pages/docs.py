"""Pages of the documentation and of the rules of the games."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from arena.presentation import glossary, shipped_docs
from arena.presentation.glossary import Term
from arena.web.data.web_state import WebState
from arena.web.markdown_to_html import rendered
from arena.web.page import Links, Page, PageNotFound, PageRequest
from referee.games.registry import GAMES
from referee.presentation.registry import presentation_of

_KEPT_SECONDS = 3600.0


def contents(web: WebState, page_request: PageRequest) -> Page:
    """Return the table of contents of the documentation."""
    pages = {
        name: (name, rendered(shipped_docs.written_page(name), page_request.links).title, about)
        for name, about in shipped_docs.PAGES.items()
    }
    return Page(
        title="How it works",
        template="docs.html",
        model={
            "groups": [
                (readers, [pages[name] for name in guides])
                for readers, guides in shipped_docs.GUIDES.items()
            ]
        },
        data={
            "pages": [
                {"page": name, "title": title, "about": about}
                for name, title, about in pages.values()
            ]
        },
        topics=frozenset(),
        fresh=_KEPT_SECONDS,
    )


def docs_page(web: WebState, page_request: PageRequest) -> Page:
    """Return a page of the documentation; raises PageNotFound."""
    name = page_request.path["page"]
    if name not in shipped_docs.PAGES:
        raise PageNotFound(f"unknown page {name}; available: {', '.join(shipped_docs.PAGES)}.")
    model = {"above": ("docs", "How it works"), "game": None}
    return _document_page(shipped_docs.written_page(name), page_request.links, model)


def rules(web: WebState, page_request: PageRequest) -> Page:
    """Return the rules of a game; raises PageNotFound."""
    name = page_request.path["game"]
    if name not in GAMES:
        raise PageNotFound(f"unknown game {name}; available: {', '.join(GAMES)}.")
    about = presentation_of(name)
    in_short = rendered(about.short_rules, page_request.links).html
    model = {"above": ("games", "Games"), "game": GAMES[name], "about": about, "in_short": in_short}
    terms = glossary.game_terms(name)
    return _document_page(shipped_docs.rules(name), page_request.links, model, terms)


def _document_page(
    markdown: str, links: Links, model: Mapping[str, object], terms: Iterable[Term] = ()
) -> Page:
    document = rendered(markdown, links, terms)
    return Page(
        title=document.title,
        template="written.html",
        model={"document": document, **model},
        data={"title": document.title, "markdown": markdown},
        topics=frozenset(),
        fresh=_KEPT_SECONDS,
    )
