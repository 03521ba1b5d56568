"""The rules and the guides as pages: links resolve, and HTML in a page is escaped."""

import re
from collections.abc import Iterator

import pytest
from starlette.testclient import TestClient

from arena.presentation import glossary, shipped_docs
from arena.web.app import create
from arena.web.data.web_state import ServerSettings, WebState
from arena.web.markdown_to_html import rendered
from arena.web.page import ServerLinks
from referee.games.registry import GAMES
from tests.arena.records.bundle.simulated_arena import SimulatedArena

LINKS = ServerLinks()


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    simulated_arena = SimulatedArena(tmp_path_factory.mktemp("arena"))
    with TestClient(create(WebState(simulated_arena.engine, ServerSettings(rate=0)))) as client:
        yield client
    simulated_arena.engine.dispose()


def test_every_page_is_installed_with_a_title_and_description() -> None:
    for name, about in shipped_docs.PAGES.items():
        assert shipped_docs.written_page(name).startswith("# ")
        assert about.endswith(".")
    for game in GAMES:
        assert shipped_docs.rules(game).startswith("# ")


def test_all_pages_open_and_their_links_resolve(client: TestClient) -> None:
    seen = {"/docs", "/games"}
    waiting = list(seen)
    while waiting:
        address = waiting.pop()
        page = client.get(address)
        assert page.status_code == 200, address
        main = page.text.partition("<main")[2].partition("</main>")[0]
        assert "style=" not in main
        for href in re.findall(r'href="([^"]*)"', main):
            path = href.partition("#")[0]
            if path.startswith(("/docs", "/games", "/glossary", "/rules")) and path not in seen:
                seen.add(path)
                waiting.append(path)
    assert {f"/docs/{name}" for name in shipped_docs.PAGES} < seen
    assert {f"/rules/{game}" for game in GAMES} < seen


def test_anchors_within_the_pages_exist(client: TestClient) -> None:
    for name in shipped_docs.PAGES:
        html = client.get(f"/docs/{name}").text
        for href in re.findall(r'href="(/docs/\w+#[^"]+|#[^"]+)"', html):
            path, _, anchor = href.partition("#")
            other = client.get(path).text if path else html
            assert f'id="{anchor}"' in other, href


def test_links_to_files_outside_the_site_become_text() -> None:
    text = "# A\n[r](ratings.md#elo) [p](../rules/poke.md) [b](../bench/README.md) [x](https://x.y)"
    html = str(rendered(text, LINKS).html)
    assert '<a href="/docs/ratings#elo">r</a>' in html
    assert '<a href="/rules/poke">p</a>' in html
    assert " b " in html
    assert '<a href="https://x.y">x</a>' in html


def test_html_in_a_page_is_text() -> None:
    html = str(rendered("# A\n<script>alert(1)</script>\n\n[x](javascript:alert)", LINKS).html)
    assert "<script" not in html
    assert "javascript:" not in html.replace("[x](javascript:alert)", "")


def test_the_first_use_of_a_word_has_a_note_and_links_have_none() -> None:
    text = "# The leg\n\nA [leg](https://x.y), `leg`, the leg & the leg of a rubber.\n\n- a leg\n"
    html = str(rendered(text, LINKS, glossary.game_terms("poke")).html)
    assert re.findall(r'popovertarget="tip-([^"]*)"', html) == ["poke-leg", "poke-rubber"]
    assert re.findall(r'id="tip-([^"]*)" popover', html) == ["poke-leg", "poke-rubber"]
    assert '<a href="/glossary#poke-leg">' in html
    assert "<code>leg</code>, the <button" in html


def test_headings_have_unique_anchors() -> None:
    html = rendered("# All of it\n## What is it?\n## What is it?\n", LINKS)
    assert html.title == "All of it"
    assert html.sections == (("what-is-it", "What is it?"), ("what-is-it-1", "What is it?"))


def test_number_columns_are_right_aligned_without_inline_styles() -> None:
    html = str(rendered("| a | b |\n|---|--:|\n| x | 1 |\n", LINKS).html)
    assert '<td class="right">1</td>' in html
    assert "style" not in html


def test_each_table_is_a_region_with_a_name_of_its_own() -> None:
    table = "| a |\n|---|\n| x |\n"
    html = str(rendered(f"# A & B\n\n{table}\ntext\n\n{table}\n## C\n\n{table}", LINKS).html)
    labels = re.findall(r'role="region" aria-label="([^"]*)"><table>', html)
    assert labels == ["Table 1: A &amp; B", "Table 2: A &amp; B", "Table 3: C"]
