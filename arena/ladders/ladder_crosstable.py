"""Crosstables of ladders, with the related statistics of pairs."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from arena.ladders import ladder_values
from arena.ladders.ladder_columns import cell_json
from arena.ratings.crosstable import crosstable

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from arena.ladders.ladder_key import LadderKey
    from arena.ratings.collusion import Gift
    from arena.ratings.crosstable import Crosstable
    from arena.ratings.standings import FittedStandings
    from arena.ratings.strength.fit import Strengths


@dataclass(frozen=True, slots=True)
class LadderCrosstable:
    """The crosstable of a ladder in order of strength.

    Attributes:
        strengths: the fitted strengths, with their differences.
        gifts: the tests for gifts (`arena.ratings.collusion`).
    """

    table: Crosstable
    strengths: Strengths
    gifts: tuple[Gift, ...]

    def to_json(self) -> dict[str, Any]:
        gaps, places = self.strengths.gaps, range(len(self.strengths.lines))
        return {
            "entrants": list(self.table.entrants),
            "cells": [[cell_json(cell) for cell in row] for row in self.table.cells],
            "superiority": [gaps.superiorities(place) for place in places],
            "strengths": [line.value for line in self.strengths.lines],
            "gap_errors": [gaps.errors(place) for place in places],
            "gifts": [asdict(gift) for gift in self.gifts],
        }


def crosstable_of_ladder(
    engine: Engine, key: LadderKey, fitted: FittedStandings
) -> LadderCrosstable:
    """Return the crosstable of a ladder that has just been fitted."""
    return LadderCrosstable(
        crosstable(fitted.meetings, fitted.table.entrants),
        fitted.strengths,
        ladder_values.gifts(engine, key),
    )
