"""Golden terminal output: one game of each kind at 80 columns without colours (scripts/golden)."""

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from arena.cli.matches import story
from referee.games.registry import GAMES
from referee.record import MatchRecord, read

GOLDEN = Path(__file__).parents[3] / "golden"
STORY = 150
"""Number of lines of `play --watch` that are kept."""
EVERY = 25
"""Every 25th position of a replay is kept, and the last one."""


def record_of(game: str) -> MatchRecord:
    """Return the last golden record of a game, with the most seats and options."""
    *_, path = sorted(GOLDEN.glob(f"{game}-[0-9]*.jsonl"))
    return read(path.read_text(encoding="utf-8"))


def path_of(game: str) -> Path:
    return GOLDEN / "terminal" / f"{game}.txt"


def terminal(game: str) -> Iterator[str]:
    """Yield the output of `play --watch` and `replay` for the first game of a golden record."""
    record = record_of(game)
    assert record.seed is not None
    yield from islice(story.game_lines(record.match, record.games[0], record.seed), STORY)
    *pages, last = story.pages(record.match, record.games[0], record.seed)
    for page in (*pages[::EVERY], last):
        yield ""
        yield from page


if __name__ == "__main__":
    for name in GAMES:
        path_of(name).parent.mkdir(exist_ok=True)
        path_of(name).write_text("\n".join(terminal(name)) + "\n", encoding="utf-8")
