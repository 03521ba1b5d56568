"""Follow every link of the pages below a path."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from urllib.parse import urldefrag, urljoin, urlsplit

LINKS = frozenset(("href", "src", "action", "formaction", "poster", "data-live", "data-follow"))
"""Attributes with addresses that a browser or a script requests."""
FRAME = re.compile(r'src="([^"]+)"')

Get = Callable[[str], tuple[int, str, str]]
"""Requests an address; returns the status, the media type and the text."""


class PageLinks(HTMLParser):
    """Collects the links of a page, and the targets of its forms."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.forms: list[str] = []
        self.posts: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        """Collect the links of an element."""
        values = {name: value or "" for name, value in attributes}
        named = [value for name, value in values.items() if name in LINKS]
        if tag == "meta" and values.get("name") == "script":
            named.append(values["content"])
        is_post = values.get("method", "").lower() == "post" or "formaction" in values
        (self.posts if is_post else self.forms if tag == "form" else self.links).extend(named)

    def handle_data(self, text: str) -> None:
        """Collect the address of a frame that the page shows for copying."""
        self.links += FRAME.findall(text)


@dataclass
class Crawl:
    """The requested addresses by status, and the links that lead elsewhere.

    Args:
        root: the path of the arena with a slash at its end.
        get: requests an address.
        most: the maximum number of requests for one path, with different queries.
    """

    root: str
    get: Get
    most: int = 3
    statuses: dict[str, int] = field(default_factory=dict)
    outside: set[tuple[str, str]] = field(default_factory=set)
    forms: set[str] = field(default_factory=set)
    posts: set[str] = field(default_factory=set)
    _counts: dict[str, int] = field(default_factory=dict)

    def follow(self, *starts: str) -> None:
        """Request addresses and all that they lead to."""
        waiting = list(starts)
        while waiting:
            address = waiting.pop()
            path = urlsplit(address).path
            if address in self.statuses or self._counts.get(path, 0) >= self.most:
                continue
            self._counts[path] = self._counts.get(path, 0) + 1
            self.statuses[address], kind, text = self.get(address)
            waiting += self._inside(address, links_in(kind, text))

    @property
    def failures(self) -> dict[str, int]:
        """The addresses whose status is not 200; 400 is the one of a form without its values."""
        return {
            address: status
            for address, status in self.statuses.items()
            if status != 200 and not (status == 400 and address in self.forms)
        }

    def _inside(self, page: str, links: PageLinks) -> Iterator[str]:
        for link in (*links.links, *links.forms, *links.posts):
            target = urldefrag(urljoin(page, link)).url
            if link.startswith(("https://", "data:")):
                continue
            if not target.startswith(self.root) or "//" in target:
                self.outside.add((page, link))
            elif link in links.posts:
                self.posts.add(target)
            else:
                self.forms |= {target} if link in links.forms else set()
                yield target


def links_in(kind: str, text: str) -> PageLinks:
    """Return the links in a response."""
    found = PageLinks(text if kind == "text/html" else "")
    if kind == "text/css":
        found.links += re.findall(r"url\(['\"]?([^)'\"]+)", text)
    if kind == "application/atom+xml":
        found.links += re.findall(r'href="([^"]+)"', text)
    return found
