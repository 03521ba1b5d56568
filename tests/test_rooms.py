"""Imports point one way (design, section 3)."""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PURE = {
    "referee.games",
    "referee.cards",
    "referee.dominoes",
    "referee.poker",
    "referee.wild",
    "referee.dealing",
}
KNOWN_TO_ARENA = {
    "referee.cards",
    "referee.codec",
    "referee.dealing",
    "referee.dominoes",
    "referee.games",
    "referee.logs",
    "referee.poker",
    "referee.sanitizing",
    "referee.record",
    "referee.replay",
    "referee.rpc.sockets",
    "referee.verdict",
    "referee.wild",
}
"""What the arena may import of the referee: its pure modules; the service only over gRPC."""
LIBRARY = PURE | {"referee.codec"}
"""What the house bot `strong` alone may import: the rules, as a library of them."""


def imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} has a relative import"
            module = node.module or ""
            if "." in module:
                yield module
            else:
                yield from (f"{module}.{alias.name}" for alias in node.names)


def files(*rooms: str) -> list[Path]:
    found = [path for room in rooms for path in sorted((ROOT / room).rglob("*.py"))]
    assert found, f"no files in {rooms}"
    return [path for path in found if "pokearena/v1" not in path.as_posix()]


def within(name: str, packages: set[str]) -> bool:
    return any(name == package or name.startswith(package + ".") for package in packages)


@pytest.mark.parametrize("path", files("referee/games"), ids=str)
def test_a_game_needs_nothing_but_the_standard_library_and_pure_modules(path: Path) -> None:
    for name in imports(path):
        standard = name.split(".")[0] in sys.stdlib_module_names
        assert standard or within(name, PURE), f"{path.relative_to(ROOT)} imports {name}"


def test_the_referee_knows_nothing_of_the_arena() -> None:
    for path in files("referee"):
        assert not any(within(name, {"arena"}) for name in imports(path)), path


def test_the_arena_meets_the_referee_by_its_pure_modules_and_over_grpc() -> None:
    for path in files("arena"):
        for name in imports(path):
            if within(name, {"referee"}):
                allowed = within(name, KNOWN_TO_ARENA)
                assert allowed, f"{path.relative_to(ROOT)} imports {name}"


def test_a_bot_imports_its_kit_and_nothing_else_of_ours() -> None:
    strong = ROOT / "sample_bots" / "house" / "strong"
    for path in files("sample_bots"):
        if path.name == "train.py":  # it makes a bot, and is none
            continue
        allowed = LIBRARY if path.parent == strong else set()
        for name in imports(path):
            ours = within(name, {"arena", "referee"})
            assert not ours or within(name, allowed), f"{path.relative_to(ROOT)} imports {name}"


def test_pages_and_commands_stand_on_the_arena_and_not_on_each_other() -> None:
    rest = [p for p in files("arena") if not {"cli", "web"} & set(p.relative_to(ROOT).parts[1:2])]
    for path in rest:
        assert not any(within(name, {"arena.cli", "arena.web"}) for name in imports(path)), path
    for path in files("arena/web"):
        assert not any(within(name, {"arena.cli"}) for name in imports(path)), path


def test_nothing_needs_the_training_ground() -> None:
    """It takes libraries that only those install who train."""
    for path in files("arena", "referee", "bench", "sample_bots"):
        trains = "rl" in path.parts or path.name == "train.py"
        assert trains or not any(within(name, {"arena.rl"}) for name in imports(path)), path
