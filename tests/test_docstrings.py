"""Docstrings name arguments and exceptions that exist."""

import ast
import builtins
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
Documented = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


@cache
def modules() -> dict[str, ast.Module]:
    """Return the syntax trees of the arena, the referee and the Python bots, by path."""
    paths = sorted(
        path
        for top in ("arena", "referee", "sample_bots")
        for path in (ROOT / top).rglob("*.py")
        if "pokearena/v1" not in path.as_posix()
    )
    return {str(path.relative_to(ROOT)): ast.parse(path.read_bytes()) for path in paths}


@cache
def documented() -> list[tuple[str, Documented, str]]:
    """Return the place, the node and the docstring of every documented class and function."""
    return [
        (f"{path}:{node.lineno} {node.name}", node, text)
        for path, module in modules().items()
        for node in ast.walk(module)
        if isinstance(node, Documented) and (text := ast.get_docstring(node))
    ]


def entries(text: str, section: str) -> list[str]:
    """Return the names before the colons of a section, for example of ``Args``."""
    block = re.search(rf"^{section}:\n((?:    .*(?:\n|$)|\n)+)", text, re.MULTILINE)
    names = re.findall(r"^    ([\w*][\w., *]*?):\s", block[1], re.MULTILINE) if block else []
    return [name.strip("* ") for listed in names for name in re.split(r",| and | or ", listed)]


def parameters(node: Documented) -> set[str]:
    """Return the parameters of a function, or the parameters and fields of a class."""
    if isinstance(node, ast.ClassDef):
        made = [part for part in node.body if isinstance(part, ast.FunctionDef)]
        made = [function for function in made if function.name in ("__init__", "__new__")]
        fields = {ast.unparse(part.target) for part in node.body if isinstance(part, ast.AnnAssign)}
        return fields.union(*(parameters(function) for function in made))
    listed = node.args
    several = [argument for argument in (listed.vararg, listed.kwarg) if argument is not None]
    every = [*listed.posonlyargs, *listed.args, *listed.kwonlyargs, *several]
    return {argument.arg for argument in every}


@pytest.mark.long
def test_every_documented_argument_is_a_parameter() -> None:
    wrong = [
        f"{place}: {name}"
        for place, node, text in documented()
        for name in entries(text, "Args")
        if name not in parameters(node)
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.long
def test_every_documented_exception_exists() -> None:
    known = set(vars(builtins))
    for module in modules().values():
        for node in ast.walk(module):
            if isinstance(node, ast.ClassDef):
                known.add(node.name)
            elif isinstance(node, ast.Import | ast.ImportFrom):
                known.update((alias.asname or alias.name) for alias in node.names)
    wrong = [
        f"{place}: {name}"
        for place, _, text in documented()
        for name in entries(text, "Raises")
        if name.rpartition(".")[2] not in known and not name.startswith("click.")
    ]
    assert not wrong, "\n".join(wrong)


def test_the_entries_of_a_section_are_found() -> None:
    text = "Do it.\n\nArgs:\n    a: one\n        more: of it\n    b, c: two\n\nRaises:\n    X: no\n"
    assert entries(text, "Args") == ["a", "b", "c"]
    assert entries(text, "Raises") == ["X"]
