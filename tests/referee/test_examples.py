"""Every example of the rules pages has a test; examples.toml lists it line by line."""

import re
import tomllib
from pathlib import Path

import pytest

from tests.referee.test_rules_pages import HERE, PAGES

TESTS = tomllib.loads((HERE / "examples.toml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_example_of_a_page_is_a_test(page: Path) -> None:
    text = page.read_text()
    _, examples = text.split("## Examples\n")
    lines = re.findall(r"^- (.*)", examples, flags=re.MULTILINE)
    tests_by_example = TESTS[page.stem]
    assert [
        next((b for b in tests_by_example if line.startswith(b)), line) for line in lines
    ] == list(tests_by_example)
    files = "".join(file.read_text() for file in sorted(HERE.glob("test_*.py")))
    named = {name for tests in tests_by_example.values() for name in tests}
    assert {name for name in named if f"def {name}(" not in files} == set()
