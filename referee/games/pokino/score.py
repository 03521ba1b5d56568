"""The points of Pokino (docs/rules/pokino.md, K-7)."""

from collections.abc import Iterable, Sequence

from referee.dominoes import NUMBERS
from referee.games.pokino.layout import Layout
from referee.games.pokino.runs import points
from referee.games.pokino.words import PokinoRun

BEAD = 5
"""What a bead is worth with the variant greed."""


def scores(
    beads: Sequence[int], runs: Iterable[PokinoRun], layout: Layout, greed: bool, territory: bool
) -> tuple[int, ...]:
    """The points of every seat, if the game ended now."""
    if territory:
        return _territory(layout, len(beads))
    found = [BEAD * held if greed else 0 for held in beads]
    for run in runs:
        found[run.seat] += points(len(run.cards))
    return tuple(found)


def _territory(layout: Layout, seats: int) -> tuple[int, ...]:
    """The pips of the dominoes on which a seat has strictly the most tokens."""
    found = [0] * seats
    for domino, owners in layout.owners().items():
        tokens = [owners.count(seat) for seat in range(seats)]
        most = max(tokens)
        if most and tokens.count(most) == 1:
            found[tokens.index(most)] += sum(NUMBERS[domino])
    return tuple(found)
