"""Where points are clipped."""

from arena.presentation.clips import CLIPS, clip_of
from referee.games.registry import GAMES


def test_every_game_has_a_clip_and_an_unknown_one_is_not_clipped() -> None:
    assert set(CLIPS) == set(GAMES)
    assert clip_of("bridge") > 100 * max(CLIPS.values())
