"""Rendering of pages and their live parts as HTML."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, Final

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from arena.presentation import wording
from arena.records.published_faults import pathless
from arena.tournaments.time_estimate import duration
from arena.web import assets
from arena.web.markdown_to_html import term_in_template
from arena.web.page import Links, Page
from referee.numbering import counted_from_one
from referee.sanitizing import sanitized

SITE = "Poke arena"
_DESCRIPTION = "Bots play card games against each other: ladders, tournaments and replays."
_FILTERS: Final[Mapping[str, Callable[..., Any]]] = {
    "iso": wording.iso,
    "moment": wording.moment,
    "duration": duration,
    "whole": wording.whole,
    "signed": wording.signed,
    "percent": wording.percent,
    "ms": wording.milliseconds,
    "clock": wording.clock,
    "form_name": wording.form_name,
    "format_name": wording.format_name,
    "fault_count": wording.fault_count,
    "one_line": wording.one_line,
    "pathless": pathless,
    "from_one": counted_from_one,
}
_FRAME: Final = {
    **{"live": "", "note": "", "path": "", "public": "", "picture": ""},
    **{"viewer": None, "has_session": False},
}
"""Default values of the variables of templates/base.html."""
_NUMBER = re.compile(r'([\w.-]+)<span class="number">@')
_VERSION = re.compile(r"([\w.-]+)@[\w.+-]+")
_SHOWN_VERSION = re.compile(r"""(?:(?<=[>\s(])|(?<=label=")|(?<=title="))([\w.-]+)@[\w.+-]+""")
"""A version in a text or a label: in an address or an input's value another character precedes."""
_VERBATIM = re.compile(
    r"(<(?:code|pre|q|textarea|script)\b.*?</(?:code|pre|q|textarea|script)>"
    r'|<p class="written">.*?</p>)',
    re.DOTALL,
)
"""Code, and what bots wrote."""
_EMPTY_LINK = re.compile(r'<a\b[^>]*?\shref=""[^>]*>(.*?)</a>', re.DOTALL)


@cache
def environment() -> Environment:
    """Return the template environment. It escapes values, and undefined names are errors."""
    made = Environment(
        loader=PackageLoader("arena.web"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_shown,
    )
    made.globals["first_paint"] = Markup(assets.FIRST_PAINT)
    made.globals["table_size"] = Markup(assets.TABLE_SIZE)
    made.globals["live_size"] = Markup(assets.LIVE_SIZE)
    made.globals["term"] = term_in_template
    made.filters.update(_FILTERS, later_attribute=later_attribute, labelled=labelled)
    return made


def later_attribute(spans: Sequence[tuple[int, int, str]]) -> Markup:
    """Return markup of later steps as the value of an attribute, in single quotes.

    Each line contains the first step, the last step and the markup. Markup keeps its angle brackets
    and double quotes, so it stays short: HTML forbids neither within single quotes.
    """
    # Browsers read a carriage return as a line feed.
    rows = (f"{first} {last} {markup}" for first, last, markup in spans)
    lines = (row.replace("\r", "&#13;").replace("\n", "&#10;") for row in rows)
    text = "\n".join(lines).replace("&", "&amp;").replace("'", "&#39;")
    return Markup("'{}'").format(Markup(text))


def labelled(markup: Markup, prefix: str) -> Markup:
    """Return markup whose regions have labels with a prefix: a page has several tables."""
    return Markup(str(markup).replace('aria-label="', f'aria-label="{prefix}'))


def _shown(value: Any) -> Any:
    """Return the value for a template without characters that hide or reorder other text.

    HTML escapes alone would leave U+202E in a page, which shows the text after it backwards.
    """
    if isinstance(value, str) and not isinstance(value, Markup):
        return sanitized(value)
    return value


def html(page: Page, links: Links, **more: Any) -> str:
    """Return the whole page.

    Args:
        more: variables of the frame; see templates/base.html.
    """
    text = (
        environment()
        .get_template(page.template)
        .render(
            **_model(page, links),
            **{**_FRAME, **more},
        )
    )
    return _with_hidden_numbers(text, page.lone_bots)


def _with_hidden_numbers(html: str, lone_bots: frozenset[str]) -> str:
    """Hide the number of each version that is the only one of its bot, except verbatim."""
    html = _NUMBER.sub(
        lambda m: f'{m[1]}<span class="number" hidden>@' if m[1] in lone_bots else m[0], html
    )
    parts = _VERBATIM.split(html)
    parts[::2] = [without_lone_numbers(part, lone_bots, _SHOWN_VERSION) for part in parts[::2]]
    return "".join(parts)


def without_lone_numbers(
    text: str, lone_bots: frozenset[str], versions: re.Pattern[str] = _VERSION
) -> str:
    """Return text without the number of each version that is the only one of its bot."""
    return versions.sub(lambda m: m[1] if m[1] in lone_bots else m[0], text)


def without_empty_links(html: str) -> str:
    """Replace each link without an address by its text: pages outside a static site or a file."""
    return _EMPTY_LINK.sub(r'<span class="nolink">\1</span>', html)


def fragments(page: Page, links: Links) -> dict[str, str]:
    """Return the live parts of a page by the ID of their element, as updates of that page."""
    model = _model(page, links)
    rendered = {}
    for part in page.parts:
        name, _, key = part.partition(":")
        template = environment().get_template(f"fragments/{name}.html")
        text = template.render(**model, key=key)
        rendered[part.replace(":", "-")] = _with_hidden_numbers(text, page.lone_bots)
    return rendered


def _model(page: Page, links: Links) -> dict[str, Any]:
    def short(text: str) -> str:
        return without_lone_numbers(text, page.lone_bots)

    return {
        "title": short(page.title),
        "short": short,
        "site": SITE,
        "description": page.description or _DESCRIPTION,
        "links": links,
        "page": page,
        **page.model,
    }
