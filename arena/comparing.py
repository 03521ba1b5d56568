"""Two versions against each other, found in the store."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from arena import comparison
from arena.comparison import Comparison, Unit
from arena.scope import Scope
from arena.store import results, versions

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from arena.ratings.sprt import Sprt
    from arena.results import ClosedMatch


class NotMet(LookupError):
    """Two have not met. Its text is a sentence for people."""


class NoBoards(ValueError):
    """Their boards cannot be counted. Its text is a clause for people."""


class Uneven(ValueError):
    """Their matches cannot be counted alike. Its text is a clause for people."""


@dataclass(frozen=True, slots=True)
class Found:
    """A comparison, and the form it is of."""

    form: str
    comparison: Comparison

    def to_json(self) -> dict[str, Any]:
        """Everything as plain values."""
        return {"form": self.form, **self.comparison.to_json()}


def have_met(engine: Engine, scope: Scope, pair: tuple[str, str]) -> bool:
    """Whether a match of two is closed."""
    return any(True for _ in results.closed(engine, scope.tournaments, pair, limit=1))


def compare(
    engine: Engine,
    scope: Scope,
    pair: tuple[str, str],
    unit: str | None = None,
    test: Sprt | None = None,
) -> Found:
    """The comparison of two versions in a ladder.

    unit: what is counted: "board", "match", or None for boards where that can be.

    Raises:
        NotMet: they have not met there.
        Uneven: their matches differ in length.
        NoBoards: boards are wanted, and cannot be counted.
    """
    first, second = pair
    matches = list(results.closed(engine, scope.tournaments, pair))
    if not matches:
        raise NotMet(f"{first} and {second} have not met here.")
    by = _unit(engine, matches, pair, unit)
    try:
        return Found(scope.form, comparison.compare(matches, first, second, by, scope.clip, test))
    except ValueError as error:
        raise Uneven(str(error)) from None


def _unit(
    engine: Engine, matches: Sequence[ClosedMatch], pair: tuple[str, str], wanted: str | None
) -> Unit:
    # A remote bot cannot be made to forget, so its tables play boards of their own.
    mirrored = all(versions.find(engine, name).folder for name in pair)
    boards = mirrored and all(len(match.entrants) == 2 for match in matches)
    if wanted == "board" and not boards:
        raise NoBoards("boards are counted where two sides play them in both seatings")
    return "board" if boards and wanted != "match" else "match"
