"""Questions as text, at two positions of a random game of the smallest and the largest tables."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from referee.game_checks.random_games import walk
from referee.game_checks.tables import Table
from referee.games.registry import GAMES
from referee.presentation.question_text import question_text_of_view

FOLDER: Final = Path(__file__).parents[1] / "golden" / "texts"
_PLACES: Final = (0.2, 0.7)
"""The positions, as shares of the length of the game."""
_RULE: Final = "\n" + "=" * 100 + "\n"


def tables() -> Iterator[Table]:
    """Yield the tables: default options, the smallest and the largest number of seats."""
    for game in GAMES.values():
        for seats in sorted({min(game.seats), max(game.seats)}):
            yield Table(game, seats, tuple(game.settle({}).items()))


def path(table: Table) -> Path:
    return FOLDER / f"{table.game.id}-{table.seats}.txt"


def golden_text(table: Table) -> str:
    steps = walk(table, 0)
    states = [steps[int(place * len(steps))].state for place in _PLACES]
    texts = []
    for state in states:
        seat = state.actors[0]
        view = state.view(seat)
        texts.append(question_text_of_view(table.game, table.options, table.seats, view, seat))
    return _RULE.join(texts) + "\n"


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for each in tables():
        path(each).write_text(golden_text(each), encoding="utf-8")
