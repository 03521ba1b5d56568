"""The check of a whole database, for `pokearena db check`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from arena.cli import output

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from arena.cli.progress import Progress

_SHOWN: Final = 20


@dataclass(frozen=True, slots=True)
class Report:
    """The result of a check.

    Attributes:
        structure: a sentence for each problem of the structure.
        records: a sentence for each problem of records and results.
        damaged: matches that only a backup can correct, for example because a record is not true.
        repairable: matches whose results do not follow from their records, which are true.
        quick: whether records were left out.
        matches, games, actions: how many were checked.
    """

    structure: tuple[str, ...]
    records: tuple[str, ...] = ()
    damaged: tuple[str, ...] = ()
    repairable: tuple[str, ...] = ()
    quick: bool = True
    matches: int = 0
    games: int = 0
    actions: int = 0

    @property
    def problems(self) -> tuple[str, ...]:
        """All that is wrong."""
        return self.structure + self.records

    @property
    def summary(self) -> str:
        """How much is wrong, and what to do, as sentences."""
        number = len(self.problems)
        parts = [f"the database is not sound: {number} problem{'s' if number > 1 else ''}."]
        if self.damaged:
            parts.append(
                f"Only a backup can correct {_matches(self.damaged)}: restore one with `pokearena "
                "db restore` into an empty database."
            )
        if self.repairable:
            parts.append(
                f"The results of {_matches(self.repairable)} do not follow from the records, which "
                "are true: `pokearena ladder rebuild` computes them again."
            )
        return " ".join(parts)

    @property
    def command(self) -> str:
        """The command that corrects everything that was found; empty if there is none."""
        only_results = self.repairable and not self.damaged and not self.structure
        return "pokearena ladder rebuild" if only_results else ""

    def to_json(self, database: str, version: str | None) -> dict[str, Any]:
        """Return it as plain values.

        Args:
            database: its address. version: its newest migration.
        """
        return {
            "database": database,
            "version": version,
            "sound": not self.problems,
            "quick": self.quick,
            "matches": self.matches,
            "games": self.games,
            "actions": self.actions,
            "problems": list(self.problems),
            "damaged": list(self.damaged),
            "repairable": list(self.repairable),
            "next": self.command or None,
        }


def run(engine: Engine, progress: Progress, *, quick: bool) -> Report:
    """Check a database.

    Args:
        engine: the database, of any version.
        progress: is called as checks and matches are done.
        quick: whether only the structure is checked.
    """
    from arena.bundle import store_audit
    from arena.store import soundness

    if unreadable := soundness.unreadable(engine):
        return Report(tuple(unreadable))
    structure = tuple(soundness.problems(engine, progress))
    if quick:
        return Report(structure)
    records, damaged, repairable = list[str](), list[str](), list[str]()
    matches = games = actions = 0
    for match in store_audit.audit(engine, progress):
        matches += 1
        games += match.games
        actions += match.actions
        records += match.problems
        if match.problems:
            (repairable if match.repairable else damaged).append(match.match)
    return Report(
        structure,
        tuple(records),
        tuple(damaged),
        tuple(repairable),
        False,
        matches,
        games,
        actions,
    )


def show(report: Report, database: str) -> None:
    """Print a report for people."""
    for sentence in report.problems[:_SHOWN]:
        output.line(sentence)
    if len(report.problems) > _SHOWN:
        output.line(f"and {len(report.problems) - _SHOWN} more; --json lists them")
    if report.problems:
        return
    from arena.store.database import HEAD

    output.line(f"{database} is sound, at version {HEAD}")
    if report.quick:
        output.hint("only the structure was checked; without --quick records are checked too")
        return
    output.line(
        f"{report.matches} matches: {report.games} games dealt again, {report.actions} actions "
        "replayed; the stored results follow from the records"
    )


def _matches(names: tuple[str, ...]) -> str:
    """The first names of matches, and how many more there are."""
    listed = ", ".join(names[:3])
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return f"{'match' if len(names) == 1 else 'matches'} {listed}{more}"
