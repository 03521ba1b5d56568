"""Images of positions:

every game, in the view of a seat and with all cards, and as an animation.
"""

import re
from pathlib import Path

import pytest
from PIL import Image

from arena import web
from arena.web.pictures import replay_picture, table_picture
from arena.web.pictures.replay_picture import AnimationOptions
from referee.game_checks.recorded_matches import match_line, match_record
from referee.game_checks.tables import Table
from referee.record import read_games
from tests.conformance.tables import TABLES

SEED = bytes(32)
ONE_PER_GAME = {table.game.id: table for table in reversed(TABLES)}.values()


@pytest.mark.parametrize("table", ONE_PER_GAME, ids=str)
def test_a_preview_shows_the_cards_of_open_seats_only(table: Table) -> None:
    game = next(iter(read_games(match_record(table, SEED, 1))))
    line = match_line(table, SEED, 1)
    rendering = replay_picture.positions(line, game, SEED)[2]
    everything, of_seat = (
        replay_picture.preview("a v b", "x < y & z", rendering, (1200, 630), seat)
        for seat in (None, 0)
    )
    assert everything.count("<use ") >= of_seat.count("<use ")
    assert everything != of_seat
    assert "x &lt; y &amp; z" in everything


def test_pages_show_the_shapes_of_the_pictures() -> None:
    style = (Path(web.__file__).parent / "static" / "table.css").read_text(encoding="utf-8")
    shapes = re.findall(r'<symbol id="(?:suit|crown|star).*?</symbol>', table_picture.symbols())
    paths = [path for shape in shapes for path in re.findall(r' d="([^"]*)"', shape)]
    assert len(paths) == len(shapes) == 8
    assert all(f" d='{path}'" in style for path in paths)


@pytest.mark.long
def test_an_animation_has_a_frame_per_position(tmp_path: Path) -> None:
    table = min(ONE_PER_GAME, key=lambda each: each.game.id != "saint_poker")
    games = list(read_games(match_record(table, SEED, 1)))[:1]
    line = match_line(table, SEED, 1)
    done: list[tuple[int, int]] = []
    frames = replay_picture.write_animation(
        line,
        games,
        SEED,
        AnimationOptions(width=240, height=150, step_ms=200, seat=1),
        tmp_path / "x.gif",
        lambda number, of: done.append((number, of)),
    )
    with Image.open(tmp_path / "x.gif") as gif:
        assert (gif.width, gif.height, getattr(gif, "n_frames", 1)) == (240, 150, frames)
        assert gif.info["duration"] == 200
        assert gif.info["loop"] == 0
    assert done == [(number + 1, frames) for number in range(frames)]
    assert frames == len(replay_picture.positions(line, games[0], SEED))
