"""Every rule of the rules pages has a test, and every citation exists."""

import re
from itertools import pairwise
from pathlib import Path

import pytest

HERE = Path(__file__).parent
RULES = HERE.parents[1] / "docs" / "rules"
PAGES = sorted(RULES.glob("*.md"))
NUMBER = re.compile(r"\b([A-Z])-(\d+)(?:\.(\d+))?\b")


def rules(page: Path) -> list[str]:
    return re.findall(r"^- \*\*([A-Z]-\d+\.\d+)\*\* ", page.read_text(), flags=re.MULTILINE)


def cited() -> dict[str, str]:
    """Return the citations of the tests: numbers of rules or whole chapters, with their files."""
    citations = {}
    for file in sorted(HERE.glob("test_*.py")):
        for doc in re.findall(r'"""(.*?)"""', file.read_text(), flags=re.DOTALL):
            for match in NUMBER.finditer(doc):
                citations[match[0]] = file.name
    return citations


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_rules_of_a_page_are_numbered_in_order(page: Path) -> None:
    numbers = [tuple(map(int, rule[2:].split("."))) for rule in rules(page)]
    assert len({rule[0] for rule in rules(page)}) == 1
    assert numbers[0] == (1, 1)
    for (chapter, rule), following in pairwise(numbers):
        assert following in ((chapter, rule + 1), (chapter + 1, 1))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_rule_of_a_page_is_cited_by_a_test(page: Path) -> None:
    assert len(rules(page)) > 20
    missing = [rule for rule in rules(page) if rule not in cited()]
    assert missing == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_rule_named_in_a_page_exists(page: Path) -> None:
    known = {rule for other in PAGES for rule in rules(other)}
    chapters = {rule.split(".")[0] for rule in known}
    named = {match[0] for match in NUMBER.finditer(page.read_text())}
    assert named <= known | chapters


def test_every_rule_cited_by_a_test_exists() -> None:
    known = {rule for page in PAGES for rule in rules(page)}
    chapters = {rule.split(".")[0] for rule in known}
    wrong = {number: file for number, file in cited().items() if number not in known | chapters}
    assert wrong == {}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_lists_what_was_chosen_where_the_published_text_is_silent(page: Path) -> None:
    choices = page.read_text().partition("## Choices of this project\n")[2].partition("\n## ")[0]
    listed = re.split(r"^- ", choices, flags=re.MULTILINE)[1:]
    assert len(listed) >= 5
    assert all(NUMBER.search(choice) for choice in listed)
    assert {match[0] for match in NUMBER.finditer(choices) if match[3]} <= {*rules(page)}
