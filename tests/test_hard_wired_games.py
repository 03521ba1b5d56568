"""Test that the code of the arena names no built-in game."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from referee.games.game_packages import BUILT_IN

ARENA = Path(__file__).parents[1] / "arena"
ENCODINGS = ARENA / "presentation" / "encodings"
"""Presentations of the built-in games: one module each."""
GAME = re.compile(rf"\b({'|'.join(BUILT_IN)})\b")


def modules() -> Iterator[Path]:
    return (path for path in ARENA.rglob("*.py") if path.parent != ENCODINGS)


def named_games(source: str) -> Iterator[tuple[int, str]]:
    """Yield the games in string literals, docstrings and parts of f-strings included."""
    if not GAME.search(source):
        return
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            for match in GAME.finditer(node.value):
                yield node.lineno, match[0]


def test_no_text_of_the_arena_names_a_built_in_game() -> None:
    named = [
        f"{path.relative_to(ARENA)}:{line}: {game}"
        for path in modules()
        for line, game in named_games(path.read_text(encoding="utf-8"))
    ]
    assert named == []


def test_no_module_of_the_arena_is_named_after_a_built_in_game() -> None:
    named = [path for path in modules() if not BUILT_IN.keys().isdisjoint((path.stem, *path.parts))]
    assert named == []


def test_a_named_game_is_found() -> None:
    source = f'"""Show {next(iter(BUILT_IN))}."""\nx = f"a {{1}} pokex-4"\ny = "pokearena poker"'
    assert [line for line, _ in named_games(source)] == [1, 2]
