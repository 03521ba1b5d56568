"""The commands `pokearena db`: upgrade, back up, restore and check the database."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import rich_click as click

from arena.cli import output
from arena.cli.errors import FAILED, CommandError
from arena.cli.options import data_option, json_option

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from arena.cli.output import ProgressLine


# Check of a whole database, for `pokearena db check`.


_SHOWN: Final = 20


@dataclass(frozen=True, slots=True)
class DatabaseReport:
    """The result of a check.

    Attributes:
        structure: a sentence for each problem of the structure.
        records: a sentence for each problem of records and results.
        damaged: matches that only a backup can correct, for example because a record is incorrect.
        repairable: matches with correct records whose results do not follow from them.
        quick: whether records were not checked.
        matches: number of checked matches.
        games: number of checked games.
        actions: number of checked actions.
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
        """All problems."""
        return self.structure + self.records

    @property
    def summary(self) -> str:
        """The number of problems and their remedies, as sentences."""
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
        """The command that corrects all problems; empty if none exists."""
        only_results = self.repairable and not self.damaged and not self.structure
        return "pokearena ladder rebuild" if only_results else ""

    def to_json(self, database: str, version: str | None) -> dict[str, Any]:
        """Return the report as JSON values.

        Args:
            database: its address.
            version: its newest migration.
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


def run(engine: Engine, progress: ProgressLine, *, quick: bool) -> DatabaseReport:
    """Check a database.

    Args:
        engine: the database, of any version.
        progress: receives the progress of checks and matches.
        quick: whether only the structure is checked.
    """
    from arena.records.bundle import store_audit
    from arena.store import consistency

    if unreadable := consistency.unreadable(engine):
        return DatabaseReport(tuple(unreadable))
    structure = tuple(consistency.problems(engine, progress))
    if quick:
        return DatabaseReport(structure)
    records, damaged, repairable = list[str](), list[str](), list[str]()
    matches = games = actions = 0
    for match in store_audit.audit(engine, progress):
        matches += 1
        games += match.games
        actions += match.actions
        records += match.problems
        if match.problems:
            (repairable if match.repairable else damaged).append(match.match)
    return DatabaseReport(
        structure,
        tuple(records),
        tuple(damaged),
        tuple(repairable),
        False,
        matches,
        games,
        actions,
    )


def show(report: DatabaseReport, database: str) -> None:
    """Print a report as text."""
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
    """Return the first three names of matches, and the number of the others."""
    listed = ", ".join(names[:3])
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return f"{'match' if len(names) == 1 else 'matches'} {listed}{more}"


@click.group()
def db() -> None:
    """The database: bring it up to date, back it up, restore it, check it.

    It is the SQLite file of the data folder, or the one in POKEARENA_DATABASE_URL.
    """


@db.command(epilog="Example: pokearena db upgrade")
@json_option
@data_option
def upgrade(as_json: bool, data: Path | None) -> None:
    """Make the tables, or bring them to what this pokearena needs.

    Stop what works on the database before, and back it up. Nothing happens if it is current;
    several may do this at once.
    """
    from arena.store import database

    engine = _engine(data, made=True)
    before = database.version(engine)
    database.upgrade(engine)
    if as_json:
        shown = database.shown(engine)
        output.document({"database": shown, "from": before, "to": database.HEAD})
    elif before == database.HEAD:
        output.line(f"{database.shown(engine)} is at version {before} already")
    else:
        came = f"from version {before}" if before else "from nothing"
        output.line(f"{database.shown(engine)} is at version {database.HEAD} now, {came}")
    engine.dispose()


@db.command(epilog="Example: pokearena db backup friday.db")
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@json_option
@data_option
def backup(file: Path, as_json: bool, data: Path | None) -> None:
    """Write all of the database to FILE, while the arena is at work.

    FILE is an SQLite database, whichever the arena uses; `restore` takes it for both. It holds
    secret seeds of matches that are not over. The files of bots are in the data folder: copy
    `versions` beside it.
    """
    from arena.cli.output import ProgressLine
    from arena.store import backup_file, database

    engine = _engine(data)
    size = backup_file.backup(engine, file.absolute(), ProgressLine())
    shown = database.shown(engine)
    values = {"database": shown, "file": str(file), "bytes": size}
    _tell(as_json, values, f"{file}: {size / (1 << 20):.1f} MiB of {shown}")
    engine.dispose()


@db.command(epilog="Example: pokearena db restore friday.db --data restored")
@click.argument("file", type=click.Path(path_type=Path))
@json_option
@data_option
def restore(file: Path, as_json: bool, data: Path | None) -> None:
    """Fill an empty database with a backup: all of it, or nothing.

    From SQLite to PostgreSQL, or back, it is the same. Matches that were being played when the
    backup was made go on after their last game.
    """
    from arena.cli.output import ProgressLine
    from arena.store import backup_file, database

    engine = _engine(data, made=True)
    rows = backup_file.restore(engine, file.absolute(), ProgressLine())
    shown = database.shown(engine)
    values = {"database": shown, "file": str(file), "rows": rows}
    _tell(as_json, values, f"{shown}: {rows} rows of {file}")
    engine.dispose()


@db.command(epilog="Example: pokearena db check")
@click.option("--quick", is_flag=True, help="Check the structure alone; read no record.")
@json_option
@data_option
def check(quick: bool, as_json: bool, data: Path | None) -> None:
    """Check that the database is sound: structure, records, and results that follow from them.

    Structure: the version, the file, every reference, every match. Records: every committed game
    is dealt and played again, on all cores, and the stored results are computed again. Changes
    nothing, and can run while the arena is at work. Exit status 1 if anything is wrong.
    """

    from arena.cli.output import ProgressLine
    from arena.store import database

    engine = _engine(data)
    report = run(engine, ProgressLine(), quick=quick)
    if as_json:
        version = database.version(engine)
        output.document(report.to_json(database.shown(engine), version))
    else:
        show(report, database.shown(engine))
    engine.dispose()
    if report.problems:
        raise CommandError(report.summary, FAILED, report.command)


def _tell(as_json: bool, values: dict[str, object], sentence: str) -> None:
    """Print the result of a copy as JSON, or as text with the next command."""
    if as_json:
        output.document(values)
    else:
        output.line(sentence)
        output.next_step("pokearena db check")


def _engine(data: Path | None, made: bool = False) -> Engine:
    """Open the database without upgrading it.

    Args:
        data: the data folder.
        made: whether a missing folder is created; otherwise the database must exist.
    """
    from arena.cli.workspace import Workspace
    from arena.store import database

    workspace = Workspace(data)
    if made:
        workspace.folder.create()
    else:
        workspace.expect_store()
    return database.open(workspace.folder.database_url())
