"""The OpenAPI document, and the page that lists the addresses of all pages."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import version

from arena.web import openapi
from arena.web.data.web_state import WebState
from arena.web.openapi import Samples, plain
from arena.web.page import Page, PageRequest, PageRoute


def document(web: WebState, page_request: PageRequest, addresses: Sequence[PageRoute]) -> Page:
    """Return the OpenAPI document, available only as JSON."""
    description = openapi.document(web, page_request.links, addresses, version("pokearena"))
    return Page(title="OpenAPI", template="", model={}, data=description, fresh=60.0)


def api_page(web: WebState, page_request: PageRequest, addresses: Sequence[PageRoute]) -> Page:
    """Return the page of all addresses with their parameters and an example of each."""
    samples = Samples(web)

    def address(path: str, kind: str, query: dict[str, str]) -> str:
        ending = "" if kind == "html" or path == "/" else f".{kind}"
        return page_request.links.to(*f"{path}{ending}".split("/")[1:], **query)

    rows = []
    for each in addresses:
        values, query = samples.values(each), dict(samples.query(each))
        path = plain(each.path)
        for name, value in (values or {}).items():
            path = path.replace(f"{{{name}}}", value)
        tries = [(kind, address(path, kind, query)) for kind in each.kinds]
        rows.append((plain(each.path), each, tries if values is not None else []))
    paragraphs = [part.replace("`", "") for part in openapi.ABOUT.split("\n\n")]
    return Page(
        title="For programs",
        template="api.html",
        model={"rows": rows, "about": paragraphs},
    )
