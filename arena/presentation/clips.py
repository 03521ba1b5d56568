"""Where points per board are clipped, for each game.

They are what 98 of 100 margins of the house bots `greedy`, `bold`, `meek` and `random` do not
exceed (`arena.ratings.points.usual_clip`, 40 to 140 games each), rounded. They are fixed, because a
clip that moved with the matches would change old figures; who changes one rebuilds the ladders
(`pokearena ladder rebuild`).
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
"""For a game that has none yet: nothing is clipped."""


def clip_of(game: str) -> int:
    """Return the clip of a game by its id."""
    return CLIPS.get(game, UNKNOWN)
