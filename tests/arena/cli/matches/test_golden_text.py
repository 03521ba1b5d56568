"""The terminal output contains every fact of a position at 80 columns and without colours."""

from collections.abc import Iterator
from typing import Any

import pytest

from arena.cli.matches import story
from arena.presentation.narration import seat_names
from referee.games.registry import GAMES
from referee.replay import position, steps
from tests.arena.cli.matches.golden_text import path_of, record_of, terminal


@pytest.mark.parametrize("game", GAMES)
def test_the_terminal_shows_a_game_as_recorded(game: str) -> None:
    assert list(terminal(game)) == path_of(game).read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize("game", GAMES)
def test_every_card_and_domino_of_a_position_is_shown(game: str) -> None:
    record = record_of(game)
    assert record.seed is not None
    names = seat_names(record.games[0])
    pages = story.pages(record.match, record.games[0], record.seed)
    for step, page in zip(steps(record.match, record.games[0], record.seed), pages, strict=True):
        shown = "\n".join(page)
        facts = position(step.state)
        current = [facts.get(name, ()) for name in ("hands", "stock", "deck", "dominoes", "aside")]
        for text in (*names, *_texts(current), *map(str, step.state.scores)):
            assert text.replace("-", "−", 1) in shown or text in shown, (step.decision, text)


@pytest.mark.parametrize("game", GAMES)
def test_no_line_of_a_position_is_wider_than_the_terminal(game: str) -> None:
    record = record_of(game)
    assert record.seed is not None
    for page in story.pages(record.match, record.games[0], record.seed):
        wide = [line for line in page[1:] if len(line) > 80]
        assert all(line.startswith((">", "result: ")) for line in wide)


def _texts(value: Any) -> Iterator[str]:
    """Yield every text in a value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _texts(item)
