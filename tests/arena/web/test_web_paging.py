"""Paging of long lists."""

import pytest

from arena.web import paging
from arena.web.page import InvalidQuery, PageRequest, ServerLinks
from arena.web.serving import html_pages

LETTERS = "abcdefg"


def page_request(**query: str) -> PageRequest:
    return PageRequest({}, query, ServerLinks())


def test_a_list_is_cut_into_pages() -> None:
    every = [
        paging.selection_of(page_request(page=str(page), limit="3")).cut(LETTERS)
        for page in (1, 2, 3)
    ]
    assert ["".join(piece.items) for piece in every] == ["abc", "def", "g"]
    assert [(piece.number, piece.pages, piece.total) for piece in every] == [
        (1, 3, 7),
        (2, 3, 7),
        (3, 3, 7),
    ]
    assert [(piece.previous, piece.next) for piece in every] == [(None, 2), (1, 3), (2, None)]


def test_the_link_header_keeps_the_query() -> None:
    piece = paging.selection_of(page_request(find="<a&b>", limit="2", page="2")).cut(LETTERS)
    assert piece.headers["Link"] == (
        '<?find=%3Ca%26b%3E&limit=2&page=1>; rel="prev", '
        '<?find=%3Ca%26b%3E&limit=2&page=3>; rel="next"'
    )


def test_a_list_that_fits_has_one_page_and_no_links() -> None:
    piece = paging.selection_of(page_request()).cut(LETTERS)
    assert (piece.pages, piece.headers) == (1, {})
    assert paging.selection_of(page_request()).cut("").pages == 1


def test_a_page_beyond_the_end_is_empty_and_links_back() -> None:
    piece = paging.selection_of(page_request(page="9", limit="3")).cut(LETTERS)
    assert (piece.items, piece.previous, piece.next) == ((), 3, None)


def test_a_database_query_can_select_the_page() -> None:
    wish = paging.selection_of(page_request(page="3", limit="20"))
    assert (wish.offset, wish.limit) == (40, 20)
    assert wish.of(["x"], 41).to_json() == {
        "page": 3,
        "pages": 3,
        "limit": 20,
        "total": 41,
        "next": None,
    }


@pytest.mark.parametrize("text", ["0", "-1", "x", "1.5", "٣", "501", "9" * 40])
def test_a_limit_is_a_bounded_whole_number(text: str) -> None:
    with pytest.raises(InvalidQuery, match="limit must be a whole number from 1 to 500"):
        paging.selection_of(page_request(limit=text))


def test_the_pager_is_drawn() -> None:
    piece = paging.selection_of(page_request(page="2", limit="3")).cut(LETTERS)
    template = html_pages.environment().get_template("fragments/pager.html")
    text = template.render(piece=piece)
    assert 'href="?limit=3&amp;page=3" rel="next"' in text
    assert "page 2 of 3" in text
