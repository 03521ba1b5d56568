"""The format of a response: chosen by the extension and by the Accept header."""

import pytest

from arena.web.serving.page_kinds import preferred_kind, split


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/ladders/poke", ("/ladders/poke", None)),
        ("/ladders/poke.json", ("/ladders/poke", "json")),
        ("/ladders/poke.csv", ("/ladders/poke", "csv")),
        ("/matches/m-1.jsonl", ("/matches/m-1.jsonl", None)),
        ("/bots/a.b", ("/bots/a.b", None)),
        ("/bots/a.b.txt", ("/bots/a.b", "txt")),
        ("/.json", ("/.json", None)),
        ("/x.json/y", ("/x.json/y", None)),
    ],
)
def test_the_extension_of_an_address_selects_its_content_type(
    path: str, expected: tuple[str, str | None]
) -> None:
    assert split(path) == expected


@pytest.mark.parametrize(
    ("accept", "kind"),
    [
        ("", "html"),
        ("*/*", "html"),
        ("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", "html"),
        ("application/json", "json"),
        ("text/plain", "txt"),
        ("text/csv, application/json;q=0.5", "csv"),
        ("text/csv;q=0.1, application/json;q=0.5", "json"),
        ("application/json;q=0, text/plain", "txt"),
        ("image/png", "html"),
        ("application/json;q=much", "html"),
        (";;,,;q=;=", "html"),
    ],
)
def test_the_accept_header_selects_the_content_type(accept: str, kind: str) -> None:
    assert preferred_kind(accept) == kind
