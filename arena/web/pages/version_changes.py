"""Versions of a bot on a ladder, each compared with the one before it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from arena.ladders.ladder_columns import LadderLine, faults_of
from arena.ladders.ladder_rows import Ladder
from arena.web.data.strength_gaps import StrengthGap
from arena.web.data.web_state import WebState


@dataclass(frozen=True, slots=True)
class VersionChange:
    """A version on a ladder, compared with the bot's version before it.

    Args:
        before: the version before it; empty for the first on the ladder.
        gap: the difference of the strengths; None for the first.
        new_faults: kinds of faults that the version before it did not have.
    """

    line: LadderLine
    before: str = ""
    gap: StrengthGap | None = None
    new_faults: tuple[str, ...] = ()

    @property
    def faults(self) -> dict[str, int]:
        """Number of its games ended by each kind of fault, with forfeits."""
        return faults_of(self.line.standing)

    @property
    def faulted(self) -> int:
        """Number of its games that ended with a fault of its own or were forfeited."""
        return sum(self.faults.values())


def version_changes(
    web: WebState, ladder: Ladder, lines: Sequence[LadderLine]
) -> list[VersionChange]:
    """Return the versions of a bot on a ladder, the newest first; `lines`: the oldest first."""
    changes = [VersionChange(line) for line in lines[:1]]
    gaps = web.gaps.of(ladder) if len(lines) > 1 else None
    for before, line in pairwise(lines):
        assert gaps is not None
        gap = gaps.between(line.standing, before.standing)
        new = faults_of(line.standing).keys() - faults_of(before.standing)
        kinds = tuple(kind for kind in faults_of(line.standing) if kind in new)
        changes.append(VersionChange(line, before.name, gap, kinds))
    return changes[::-1]
