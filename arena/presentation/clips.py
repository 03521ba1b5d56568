"""Fixed limits at which the points per board of each game are clipped.

Each limit is the rounded 0.98 quantile of the margins of the house bots `greedy`, `bold`, `meek`
and `random` (`arena.ratings.points.usual_clip`, 40 to 140 games each). The limits are constant,
because a clip computed from the current matches would change old figures. After changing a limit,
rebuild the ladders (`pokearena ladder rebuild`).
"""

from collections.abc import Mapping
from typing import Final

CLIPS: Final[Mapping[str, int]] = {
    "poke": 2400,
    "pokex": 50,
    "pokino": 100,
    "pouku": 100,
    "saint_poker": 36,
}
"""The largest margin that counts in full, by game, in the game's points."""

UNKNOWN: Final = 1_000_000
"""For games without a limit: nothing is clipped."""


def clip_of(game: str) -> int:
    """Return the clip of a game by its id."""
    return CLIPS.get(game, UNKNOWN)
