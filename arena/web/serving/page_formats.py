"""Rendering of pages and errors in the requested kind: HTML, JSON, CSV, Markdown, plain text."""

from __future__ import annotations

import csv
import io
import json
import logging
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any, Final

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response

from arena.errors import NotFound
from arena.store.objects.object_storage import ObjectStorageError
from arena.web import assets, wording
from arena.web.page import Forbidden, InvalidQuery, Links, Page, PageNotFound, TextTable
from referee.sanitizing import escaped_json, one_line, sanitized

KINDS: Final[Mapping[str, str]] = {
    "html": "text/html; charset=utf-8",
    "json": "application/json",
    "csv": "text/csv; charset=utf-8",
    "md": "text/markdown; charset=utf-8",
    "txt": "text/plain; charset=utf-8",
    "atom": "application/atom+xml; charset=utf-8",
}
"""Media type of each kind."""


def split(path: str) -> tuple[str, str | None]:
    """Return a path without its extension, and the kind that the extension names, if any."""
    head, dot, ending = path.rpartition(".")
    if dot and ending in KINDS and "/" not in ending and head.rstrip("/"):
        return head, ending
    return path, None


def preferred_kind(accept: str, default: str = "html") -> str:
    """Return the kind that an Accept header prefers.

    Args:
        accept: the header.
        default: the kind for `*/*`, and if the header names no known kind.
    """
    best, rank = default, 0.0
    for at, choice in enumerate(accept.split(",")):
        media, *settings = (word.strip() for word in choice.split(";"))
        kind = _kind(media.lower(), default)
        worth = _worth(settings) - at * 1e-6
        if kind is not None and worth > rank:
            best, rank = kind, worth
    return best


def _kind(media: str, default: str) -> str | None:
    if media == "*/*":
        return default
    if media == "text/*":
        return "html"
    return next(
        (k for k, content_type in KINDS.items() if content_type.partition(";")[0] == media), None
    )


def _worth(settings: list[str]) -> float:
    for setting in settings:
        name, _, value = setting.partition("=")
        if name.strip() == "q":
            try:
                return min(max(float(value), 0.0), 1.0)
            except ValueError:
                return 0.0
    return 1.0


SITE = "Poke arena"
_DESCRIPTION = "Bots play card games against each other: ladders, tournaments and replays."
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
    made.filters.update(wording.FILTERS, later_attribute=later_attribute)
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
        page: the page.
        links: the builder of links.
        more: variables of the frame; see templates/base.html.
    """
    return (
        environment()
        .get_template(page.template)
        .render(
            **_model(page, links),
            is_update=False,
            **{"live": "", "note": "", "path": "", "public": "", "picture": "", **more},
        )
    )


def without_empty_links(html: str) -> str:
    """Replace each link without an address by its text: pages outside a static site or a file."""
    return _EMPTY_LINK.sub(r'<span class="nolink">\1</span>', html)


def fragments(page: Page, links: Links) -> dict[str, str]:
    """Return the live parts of a page by the ID of their element, as updates of that page."""
    model = {**_model(page, links), "is_update": True}
    rendered = {}
    for part in page.parts:
        name, _, key = part.partition(":")
        template = environment().get_template(f"fragments/{name}.html")
        rendered[part.replace(":", "-")] = template.render(**model, key=key)
    return rendered


def _model(page: Page, links: Links) -> dict[str, Any]:
    return {
        "title": page.title,
        "site": SITE,
        "description": page.description or _DESCRIPTION,
        "links": links,
        "page": page,
        **page.model,
    }


def offered(page: Page) -> tuple[str, ...]:
    """Return the kinds in which a page is available."""
    there = {
        "html": bool(page.template),
        "json": page.data is not None,
        "csv": page.csv is not None,
        "md": page.text is not None,
        "txt": page.text is not None,
        "atom": page.feed is not None,
    }
    return tuple(kind for kind in KINDS if there[kind])


def written(page: Page, kind: str) -> str:
    """Return a page in one of its `offered` kinds except HTML and Atom."""
    if kind == "json":
        return as_json(page)
    table = page.csv if kind == "csv" else page.text
    assert table is not None
    if kind == "csv":
        return as_csv(table)
    return as_markdown(page.title, table) if kind == "md" else as_text(page.title, table)


def as_json(page: Page) -> str:
    """Return the page's data as JSON text."""
    data = page.data() if callable(page.data) else page.data
    return escaped_json(json.dumps(data, ensure_ascii=False, allow_nan=False)) + "\n"


def plain(page: Page) -> Any:
    """Return the page's data after a round trip through JSON."""
    return json.loads(as_json(page))


def as_csv(table: TextTable) -> str:
    """Return a table as CSV (RFC 4180), but with LF line ends."""
    text = io.StringIO()
    write = csv.writer(text, lineterminator="\n")
    write.writerow([heading.lstrip("<") for heading in table.headings])
    for row in table.rows:
        write.writerow([_csv_value(value) for value in row])
    return text.getvalue()


def _csv_value(value: object) -> object:
    if value is None:
        return ""
    return wording.one_line(value) if isinstance(value, str) else value


def as_markdown(title: str, table: TextTable) -> str:
    """Return a table in GitHub Flavored Markdown."""
    heads = [heading.lstrip("<") for heading in table.headings]
    sides = [":--" if heading.startswith("<") else "--:" for heading in table.headings]
    lines = [heads, sides, *([_safe(cell) for cell in _cells(row)] for row in table.rows)]
    return f"## {_safe(wording.one_line(title))}\n\n" + "".join(
        f"| {' | '.join(line)} |\n" for line in lines
    )


def as_text(title: str, table: TextTable) -> str:
    """Return a table with aligned columns for a terminal."""
    rows = [[heading.lstrip("<") for heading in table.headings]]
    rows += [list(_cells(row)) for row in table.rows]
    lines = [wording.one_line(title), *_aligned(rows, [h.startswith("<") for h in table.headings])]
    return "".join(f"{line.rstrip()}\n" for line in lines)


def _cells(row: Sequence[object]) -> Iterator[str]:
    for value in row:
        yield "–" if value in (None, "") else wording.one_line(str(value))


def _safe(text: str) -> str:
    return text.replace("|", r"\|").replace("<", "&lt;")


def _aligned(rows: Sequence[Sequence[str]], left: Sequence[bool]) -> Iterator[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = zip(row, widths, left, strict=True)
        yield "  ".join(c.ljust(w) if side else c.rjust(w) for c, w, side in cells)


log = logging.getLogger("arena.web")


def response(request: Request, error: Exception, links: Links) -> Response:
    """Return the response for a failed request. Unexpected exceptions are logged."""
    status, sentence, headers = _status_and_sentence(request, error)
    # The sentence may contain a part of the URL, chosen by the author of a link.
    sentence = one_line(sentence)
    if status == 204:
        return Response(status_code=status, headers=headers)
    kind = getattr(request.state, "error_kind", "json")
    if kind == "json":
        return JSONResponse({"error": sentence}, status, headers)
    if kind != "html":
        return PlainTextResponse(f"{sentence}\n", status, headers)
    page = Page(title=sentence, template="error.html", model={"sentence": sentence}, status=status)
    return Response(html(page, links), status, headers, media_type=KINDS["html"])


def _status_and_sentence(request: Request, error: Exception) -> tuple[int, str, Mapping[str, str]]:
    match error:
        case InvalidQuery():
            return 400, str(error), {}
        case Forbidden():
            return 403, str(error), {}
        case PageNotFound() | NotFound():
            return 404, str(error), {}
        case HTTPException(status_code=404, detail="Not Found"):
            return 404, "page not found; the home page lists the ladders.", {}
        case HTTPException(status_code=405, headers=headers):
            return _wrong_method(request, headers or {})
        case HTTPException(status_code=status, detail=detail, headers=headers):
            return status, detail, headers or {}
        case ObjectStorageError():
            log.warning("cannot render %s: %s", request.scope["path"], error)
            sentence = "the record of this match cannot be read now; retry in a minute."
            return 503, sentence, {"Retry-After": "60"}
    log.error("cannot render %s", request.scope["path"], exc_info=error)
    return 500, "internal error; the log of the web server has the details.", {}


def _wrong_method(request: Request, given: Mapping[str, str]) -> tuple[int, str, Mapping[str, str]]:
    known = [word.strip() for word in given.get("Allow", "").split(",") if word.strip()]
    allowed = ", ".join(sorted({*known, "OPTIONS"}))
    headers = {"Allow": allowed, "Access-Control-Allow-Methods": allowed}
    if request.method == "OPTIONS":
        return 204, "", {**headers, "Access-Control-Allow-Headers": "Accept, Authorization"}
    return 405, f"method {request.method} is not allowed; allowed: {allowed}.", headers
