"""Convert Markdown documents to HTML, and explain words in them and in templates."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any, Final

from jinja2 import pass_context
from jinja2.runtime import Context
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markupsafe import Markup, escape

from arena.presentation import shipped_docs
from arena.presentation.glossary import Term, find_term
from arena.web.page import Links
from referee.games.registry import GAMES

_RULE: Final = re.compile(r"[A-Z]-\d+\.\d+")
_NOTE = Markup(
    '<button type="button" class="term" popovertarget="tip-{anchor}" '
    'popovertargetaction="show">{text}</button>'
    '<span class="tip" id="tip-{anchor}" popover>{meaning} '
    '<a href="{glossary}#{anchor}">Glossary</a></span>'
)


@dataclass(frozen=True, slots=True)
class RenderedDocument:
    """A document: its title, its text as HTML, and its sections as (anchor, heading)."""

    title: str
    html: Markup
    sections: tuple[tuple[str, str], ...]


def rendered(markdown: str, links: Links, terms: Iterable[Term] = ()) -> RenderedDocument:
    """Convert a shipped document. Links to documents that are not shipped become plain text.

    Args:
        terms: words whose first use in a paragraph gets a note.
    """
    first_uses = FirstUses(terms, links)
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
        elif token.type == "list_item_open":
            _name_rule(token, tokens[place + 2])
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
            if tokens[place - 1].type == "paragraph_open":
                token.children = first_uses.marked(token.children)
    html = str(reader.renderer.render(tokens, reader.options, {}))
    return RenderedDocument(title, Markup(html), tuple(sections))


class _Renderer(RendererHTML):
    """Puts each table into a named region that scrolls sideways."""

    def table_open(self, tokens: Sequence[Token], at: int, options: object, env: object) -> str:
        label = escape(tokens[at].meta["label"])
        return f'<div class="wide" tabindex="0" role="region" aria-label="{label}"><table>\n'

    def table_close(self, tokens: Sequence[Token], at: int, options: object, env: object) -> str:
        return "</table></div>\n"


def _name_rule(item: Token, content: Token) -> None:
    """Give a list item that begins with the number of a rule this number as its anchor."""
    number = next((c.content for c in (content.children or ())[2:3]), "")
    if _RULE.fullmatch(number):
        item.attrs["id"] = number


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


def term_note(term: Term, links: Links, text: str = "") -> Markup:
    """Return a word as a button with a note, once per page: the note has an id.

    Browsers without popovers show the note beside the word.
    """
    return _NOTE.format(
        anchor=term.anchor,
        text=text or term.word,
        meaning=term.meaning,
        glossary=links.to("glossary"),
    )


@pass_context
def term_in_template(context: Context, word: str, text: str = "", game: str = "") -> Markup:
    """Return a word of the glossary for a template."""
    links: Any = context["links"]
    return term_note(find_term(word, game), links, text)


class FirstUses:
    """Marks the first use of each term in the texts of a document."""

    def __init__(self, terms: Iterable[Term], links: Links) -> None:
        # The longest first: "future river" contains "river".
        self._waiting = sorted(terms, key=lambda term: -len(term.word))
        self._links = links

    def marked(self, tokens: Iterable[Token]) -> list[Token]:
        """Return the tokens of a text with notes; links and code stay as they are."""
        depth = 0
        kept: list[Token] = []
        for token in tokens:
            depth += token.nesting if token.type.startswith("link") else 0
            kept += [token] if depth or token.type != "text" else self._split(token.content)
        return kept

    def _split(self, text: str) -> Iterator[Token]:
        for term in self._waiting:
            match = re.search(rf"\b{re.escape(term.word)}\b", text)
            if match:
                self._waiting.remove(term)
                yield from self._split(text[: match.start()])
                note = term_note(term, self._links, match[0])
                yield Token("html_inline", "", 0, content=str(note))
                yield from self._split(text[match.end() :])
                return
        yield Token("text", "", 0, content=text)
