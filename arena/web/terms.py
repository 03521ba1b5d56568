"""Words with their explanations: buttons that open a note, in templates and in documents."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from jinja2 import pass_context
from jinja2.runtime import Context
from markdown_it.token import Token
from markupsafe import Markup

from arena.presentation.glossary import Term, find_term
from arena.web.page import Links

_NOTE = Markup(
    '<button type="button" class="term" popovertarget="tip-{anchor}" '
    'popovertargetaction="show">{text}</button>'
    '<span class="tip" id="tip-{anchor}" popover>{meaning} '
    '<a href="{glossary}#{anchor}">Glossary</a></span>'
)


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
