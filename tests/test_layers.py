"""Imports point one way (docs/decisions/2026-11-23-packages.md)."""

import ast
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

LAYERS = (
    ("cli", "web"),
    ("mcp",),
    ("services", "submissions", "remote"),
    ("matches",),
    ("models",),
    ("tournaments", "records", "rl", "ladders"),
    ("store",),
    ("ratings", "formats", "presentation", "bots"),
    ("config", "errors", "system", "api_client"),
)
"""Layers from top to bottom; a package may import packages of lower layers."""
PAIRS = {
    ("cli", "web"),
    ("services", "submissions"),
    ("remote", "services"),
    ("records", "ladders"),
    ("records", "tournaments"),
    ("tournaments", "ladders"),
    ("formats", "ratings"),
    ("config", "system"),
    ("system", "errors"),
    ("api_client", "system"),
}
"""Pairs of packages in one layer; the first may import the second."""
TRAINING = "arena.rl"

PURE = {"referee.games"}
"""Modules that a game may import besides the standard library."""
KNOWN_TO_ARENA = PURE | {
    "referee.rules_build",
    "referee.faults",
    "referee.field_names",
    "referee.game_checks",
    "referee.game_codec",
    "referee.generic_codec",
    "referee.logs",
    "referee.numbering",
    "referee.reasoning",
    "referee.record",
    "referee.replay",
    "referee.rpc.sockets",
    "referee.sanitizing",
    "referee.tags",
    "referee.action_phrases",
    "referee.presentation",
}
"""Pure modules of the referee, which the arena may import. It calls the service by gRPC."""
LIBRARY = PURE | {"referee.game_codec"}
"""Modules that only the house bots which search may import: the rules, as a library."""


@cache
def modules() -> dict[str, Path]:
    """Return every module of the arena and the referee, by its dotted name."""
    modules_by_name = {}
    for top in ("arena", "referee"):
        for path in sorted((ROOT / top).rglob("*.py")):
            parts = path.relative_to(ROOT).with_suffix("").parts
            modules_by_name[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return modules_by_name


@cache
def imports(path: Path) -> frozenset[str]:
    """Return the modules that a file imports, at module level or within a function."""
    imported: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            imported.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} has a relative import"
            for alias in node.names:
                name = f"{node.module}.{alias.name}"
                module = node.module or ""
                imported.add(name if name in modules() or "." not in module else module)
    return frozenset(imported)


def within(name: str, packages: set[str]) -> bool:
    return any(name == package or name.startswith(package + ".") for package in packages)


def unit(name: str) -> str | None:
    """Return the package of the list of layers that a module belongs to."""
    listed = {part for layer in LAYERS for part in layer}
    inner = name.removeprefix("arena.")
    if name == inner:
        return None
    while inner:
        if inner in listed:
            return inner
        inner = inner.rpartition(".")[0]
    raise AssertionError(f"{name} is in no layer")


def files(top: str) -> list[Path]:
    paths = sorted((ROOT / top).rglob("*.py"))
    assert paths, f"no files in {top}"
    return [path for path in paths if "pokearena/v1" not in path.as_posix()]


def edges() -> Iterator[tuple[str, str]]:
    for name, path in modules().items():
        for target in imports(path):
            yield name, target


def test_a_package_imports_only_packages_below_it() -> None:
    level = {part: number for number, layer in enumerate(LAYERS) for part in layer}
    wrong = set()
    for name, target in edges():
        if not within(target, {"arena"}) or within(name, {"referee"}) or "arena" in (name, target):
            continue
        mine, other = unit(name), unit(target)
        assert mine is not None
        assert other is not None
        same = level[mine] == level[other] and (mine, other) not in PAIRS
        if mine != other and (level[mine] > level[other] or same):
            wrong.add(f"{name} imports {target}")
    assert not wrong, "\n".join(sorted(wrong))


def test_each_listed_pair_is_used_and_points_one_way() -> None:
    used = {(unit(a), unit(b)) for a, b in edges() if a != "arena" and within(b, {"arena"})}
    assert used >= PAIRS, f"not used: {PAIRS - used}"
    assert not {(b, a) for a, b in PAIRS} & used


@pytest.mark.long
def test_there_are_no_import_cycles() -> None:
    """Imports within functions are included."""
    graph = {name: {t for t in imports(p) if t in modules()} for name, p in modules().items()}
    done: set[str] = set()
    for start in graph:
        path: list[str] = []
        waiting = [(start, 0)]
        while waiting:
            name, depth = waiting.pop()
            del path[depth:]
            assert name not in path, " -> ".join([*path[path.index(name) :], name])
            if name in done:
                continue
            path.append(name)
            below = [target for target in graph[name] if target not in done]
            waiting.extend((target, depth + 1) for target in below)
            if not below:
                done.add(name)


def test_the_arena_has_no_loose_modules() -> None:
    loose = {path.name for path in (ROOT / "arena").glob("*.py")}
    assert loose == {"__init__.py", "config.py", "errors.py"}


def test_every_package_has_a_docstring() -> None:
    for name, path in modules().items():
        if path.name == "__init__.py" and "." in name:
            assert ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))), path
    for path in (ROOT / "arena").rglob("*.py"):
        assert (path.parent / "__init__.py").exists() or "migrations" in path.parts, path


def packages_of(names: set[str]) -> set[str]:
    """Return the packages of the arena that these modules belong to, as `arena.NAME`."""
    return {".".join(name.split(".")[:2]) for name in names if name.startswith("arena.")}


def in_words(packages: set[str]) -> str:
    *others, last = [f"`{package}`" for package in sorted(packages)]
    return f"{', '.join(others)} and {last}" if others else last


@pytest.mark.parametrize("path", sorted((ROOT / "arena").glob("*/__init__.py")), ids=str)
def test_the_docstring_of_a_package_lists_its_neighbours(path: Path) -> None:
    """Subpackages have no such list: it would repeat that of their package."""
    package = f"arena.{path.parent.name}"
    uses = packages_of({target for name, target in edges() if within(name, {package})})
    users = packages_of({name for name, target in edges() if within(target, {package})})
    uses, users = uses - {package}, users - {package}
    sentences = [
        f"Uses {in_words(uses)}." if uses else "Uses no other package of the arena.",
        f"Used by {in_words(users)}." if users else "No other package uses it.",
    ]
    docstring = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    assert " ".join(sentences) in " ".join(docstring.split())


def test_the_referee_does_not_import_the_arena() -> None:
    for name, target in edges():
        assert not (within(name, {"referee"}) and within(target, {"arena"})), (name, target)


@pytest.mark.parametrize("path", files("referee/games"), ids=str)
def test_a_game_imports_the_standard_library_and_pure_modules(path: Path) -> None:
    for name in imports(path):
        standard = name.split(".")[0] in sys.stdlib_module_names
        assert standard or within(name, PURE), f"{path.relative_to(ROOT)} imports {name}"


def test_the_arena_imports_pure_modules_of_the_referee() -> None:
    for name, target in edges():
        if within(name, {"arena"}) and within(target, {"referee"}):
            assert within(target, KNOWN_TO_ARENA), f"{name} imports {target}"


def test_a_bot_imports_only_its_kit_from_the_repository() -> None:
    searching = {ROOT / "sample_bots" / "house" / name for name in ("champion", "strong")}
    for path in files("sample_bots"):
        if path.name in ("train.py", "training.py"):  # It creates a bot.
            continue
        allowed = LIBRARY if path.parent in searching else set()
        for name in imports(path):
            ours = within(name, {"arena", "referee"})
            assert not ours or within(name, allowed), f"{path.relative_to(ROOT)} imports {name}"


def test_only_training_imports_the_training_environments() -> None:
    """Only authors who train bots install the packages that these need."""
    for top in ("arena", "referee", "bench", "sample_bots"):
        for path in files(top):
            trains = "rl" in path.parts or path.name in ("train.py", "training.py")
            assert trains or not any(within(name, {TRAINING}) for name in imports(path)), path
