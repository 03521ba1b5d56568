"""The commands `pokearena db`: upgrade, back up, restore and check the database, move files."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import rich_click as click

from arena.cli import output
from arena.cli.errors import FAILED, INTERRUPTED, CommandError
from arena.cli.options import data_option, json_option
from arena.cli.output import ProgressLine
from arena.cli.workspace import Workspace

if TYPE_CHECKING:
    from sqlalchemy import Engine


_MAX_PRINTED_PROBLEMS: Final = 20
_CHECK: Final = "pokearena db check"
"""The next command after a change of the database."""


@dataclass(slots=True)
class DatabaseReport:
    """The result of a check.

    Attributes:
        structure: a sentence for each problem of the structure.
        quick: whether records were not checked.
        records: a sentence for each problem of records and results.
        damaged: matches that only a backup can correct, for example because a record is incorrect.
        repairable: matches with correct records whose results do not follow from them.
        matches: number of checked matches.
        games: number of checked games.
        actions: number of checked actions.
        interrupted_after: the last checked match if the check was interrupted.
    """

    structure: list[str]
    quick: bool = True
    records: list[str] = field(default_factory=list)
    damaged: list[str] = field(default_factory=list)
    repairable: list[str] = field(default_factory=list)
    matches: int = 0
    games: int = 0
    actions: int = 0
    interrupted_after: str = ""

    @property
    def problems(self) -> list[str]:
        """All problems."""
        return self.structure + self.records

    @property
    def summary(self) -> str:
        """The number of problems and their remedies, as sentences."""
        number = len(self.problems)
        parts = [f"the database is not sound: {number} problem{'s' if number > 1 else ''}."]
        if self.interrupted_after:
            checked = f"the check was interrupted after {self.matches} matches"
            parts = [f"{checked}, with {number} problem{'' if number == 1 else 's'}."]
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
        """The command that continues the check or corrects all problems; empty if none exists."""
        if self.interrupted_after:
            return f"pokearena db check --after {self.interrupted_after}"
        only_results = self.repairable and not self.damaged and not self.structure
        return "pokearena ladder rebuild" if only_results else ""

    def to_json(self, database: str, version: str | None) -> dict[str, Any]:
        """Return the report as JSON values; `version` is the newest migration of the database."""
        return {
            "database": database,
            "version": version,
            "sound": not self.problems and not self.interrupted_after,
            "quick": self.quick,
            "matches": self.matches,
            "games": self.games,
            "actions": self.actions,
            "interrupted_after": self.interrupted_after or None,
            "problems": self.problems,
            "damaged": self.damaged,
            "repairable": self.repairable,
            "next": self.command or None,
        }


def run(
    engine: Engine, progress: ProgressLine, *, quick: bool = False, after: str = ""
) -> DatabaseReport:
    """Check a database of any version. Ctrl-C ends the check of records; its report has the rest.

    With `quick`, only the structure is checked; with the id of a match in `after`, only the records
    of the matches after it.
    """
    from arena.records.bundle import store_audit
    from arena.store import consistency
    from arena.store.objects import file_moves

    if unreadable := consistency.unreadable(engine):
        return DatabaseReport(list(unreadable))
    report = DatabaseReport([] if after else list(consistency.problems(engine, progress)), quick)
    if quick:
        return report
    if not after:
        report.structure += file_moves.problems(engine, progress)
    last = after
    try:
        for match in store_audit.audit(engine, progress, after):
            report.matches += 1
            report.games += match.games
            report.actions += match.actions
            report.records += match.problems
            last = match.match
            if match.problems:
                wrong = report.repairable if match.repairable else report.damaged
                wrong.append(match.match)
    except KeyboardInterrupt:
        if not last:
            raise
        report.interrupted_after = last
    return report


def show(report: DatabaseReport, database: str) -> None:
    """Print a report as text."""
    for sentence in report.problems[:_MAX_PRINTED_PROBLEMS]:
        output.line(sentence)
    if len(report.problems) > _MAX_PRINTED_PROBLEMS:
        output.line(f"and {len(report.problems) - _MAX_PRINTED_PROBLEMS} more; --json lists them")
    if report.problems or report.interrupted_after:
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


def _matches(names: list[str]) -> str:
    listed = ", ".join(names[:3])
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return f"{'match' if len(names) == 1 else 'matches'} {listed}{more}"


@click.group()
def db() -> None:
    """Upgrade, back up, restore or check the database; move files between it and object storage.

    The database is the SQLite file in the data folder, or POKEARENA_DATABASE_URL.
    """


@db.command(epilog="Example: pokearena db upgrade")
@click.option(
    "--wait",
    type=click.FloatRange(0),
    metavar="SECONDS",
    default=20.0,
    show_default=True,
    help="How long to wait until no worker plays a match.",
)
@json_option
@data_option
def upgrade(wait: float, as_json: bool, workspace: Workspace) -> None:
    """Create the tables, or migrate them to this version of pokearena.

    Make a backup and stop all services and workers of the arena first: the command waits for
    workers that are still playing, and then refuses. It does nothing if the database is current,
    and it can run several times at once.
    """
    from arena.store import database

    engine = _engine(workspace, made=True)
    before = database.version(engine)
    database.upgrade(engine, wait)
    shown = database.public_url(engine)
    came = f"from version {before}" if before else "new"
    sentence = f"{shown} has version {database.HEAD} now ({came})"
    if before == database.HEAD:
        sentence = f"{shown} already has version {before}"
    values = {"database": shown, "from": before, "to": database.HEAD}
    output.result(as_json, values, sentence)
    engine.dispose()


@db.command(epilog="Example: pokearena db backup friday.db")
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--keep",
    type=click.IntRange(1),
    metavar="N",
    help="FILE is a folder: add a dated backup to it, and keep its newest N.",
)
@json_option
@data_option
def backup(file: Path, keep: int | None, as_json: bool, workspace: Workspace) -> None:
    """Write the whole database to FILE; the arena can keep running.

    FILE is always an SQLite database; `restore` reads it into SQLite or PostgreSQL. Keep it secret:
    it contains the seeds of open matches. The files of bots are not in it: also copy the folder
    `versions` of the data folder. Neither are files in the object storage.
    """
    from arena.store import backup_file, database

    if keep is not None:
        folder, file = file, file / backup_file.dated_name()
    engine = _engine(workspace)
    size = backup_file.backup(engine, file.absolute(), ProgressLine())
    deleted = backup_file.delete_older(folder, keep) if keep is not None else []
    shown = database.public_url(engine)
    values = {"database": shown, "file": str(file), "bytes": size, "deleted": len(deleted)}
    sentence = f"wrote {file}: {size / (1 << 20):.1f} MiB from {shown}"
    output.result(as_json, values, sentence, then=_CHECK)
    engine.dispose()


@db.command(epilog="Example: pokearena db restore friday.db --data restored")
@click.argument("file", type=click.Path(path_type=Path))
@json_option
@data_option
def restore(file: Path, as_json: bool, workspace: Workspace) -> None:
    """Restore a backup into an empty database, completely or not at all.

    Backups can move between SQLite and PostgreSQL. Matches that were running at the time of the
    backup continue after their last stored game.
    """
    from arena.store import backup_file, database

    engine = _engine(workspace, made=True)
    rows = backup_file.restore(engine, file.absolute(), ProgressLine())
    shown = database.public_url(engine)
    values = {"database": shown, "file": str(file), "rows": rows}
    sentence = f"restored {rows} rows from {file} into {shown}"
    output.result(as_json, values, sentence, then=_CHECK)
    engine.dispose()


@db.command("move-files", epilog="Example: pokearena db move-files objects")
@click.argument("target", type=click.Choice(["objects", "database"]))
@json_option
@data_option
def move_files(target: str, as_json: bool, workspace: Workspace) -> None:
    """Move the builds of bots and the records of matches to the object storage, or back.

    POKEARENA_OBJECT_STORAGE_URL names the object storage. The arena
    can keep running while files move to objects. Before they move back to the database, stop its
    services, and unset the variable afterwards. An interrupted move continues when the command runs
    again.
    """
    from arena.store.objects import file_moves, object_storage

    engine = workspace.existing_store
    move = file_moves.to_objects if target == "objects" else file_moves.to_database
    moved = move(engine, ProgressLine())
    storage = object_storage.needed(engine).shown
    place = storage if target == "objects" else "the database"
    builds = output.count(moved.builds, "build")
    matches = output.count(moved.matches, "match", "matches")
    deleted = output.count(moved.deleted, "object")
    output.result(
        as_json,
        {"target": target, "storage": storage, **asdict(moved)},
        f"moved {builds} and the records of {matches} to {place}; deleted {deleted}",
        then=_CHECK,
    )
    engine.dispose()


@db.command("sweep-objects", epilog="Example: pokearena db sweep-objects --unknown")
@click.option("--unknown", is_flag=True, help="Also objects that the database does not contain.")
@click.option("--yes", is_flag=True, help="Delete what --unknown has counted.")
@json_option
@data_option
def sweep_objects(unknown: bool, yes: bool, as_json: bool, workspace: Workspace) -> None:
    """Delete objects of the object storage to which nothing refers; `serve` does this, too.

    After the database was restored from a backup, objects written since are not in it. `--unknown`
    deletes them. It would also delete the objects of another arena that uses the same prefix, and
    therefore only counts them without `--yes`.
    """
    from arena.store.objects import object_storage, stored_objects

    engine = workspace.existing_store
    storage = object_storage.needed(engine)
    deleted = stored_objects.sweep(engine, storage)
    keys = list(stored_objects.unknown(engine, storage)) if unknown else []
    if yes:
        for key in keys:
            storage.delete(key)
    deleted += len(keys) if yes else 0
    values = {"storage": storage.shown, "deleted": deleted}
    sentences = [f"deleted {output.count(deleted, 'object')} in {storage.shown}"]
    if keys and not yes:
        counted = output.count(len(keys), "object")
        sentences.append(f"{counted} unknown to the database; --yes deletes them")
    counts = {**values, "unknown": len(keys)} if unknown else values
    output.result(as_json, counts, *sentences, then=_CHECK)
    engine.dispose()


@db.command(epilog="Example: pokearena db check")
@click.option("--quick", is_flag=True, help="Check only the structure, not the records.")
@click.option("--after", metavar="MATCH", default="", help="Continue an interrupted check.")
@json_option
@data_option
def check(quick: bool, after: str, as_json: bool, workspace: Workspace) -> None:
    """Check the database: its structure, its records, and the results computed from them.

    Structure: version, file, references, matches. Records: every committed game is dealt and played
    again on all cores, and the stored results are computed again. Nothing is changed, and the arena
    can keep running. Exit status 1 if there is a problem.

    Matches are checked in the order of their ids. Ctrl-C ends the check and prints the command that
    continues it with --after; matches stored meanwhile may be missed then.
    """
    if quick and after:
        raise click.UsageError("--after continues the check of records, which --quick omits.")
    from arena.store import database
    from arena.store.matches import listing

    engine = _engine(workspace)
    if after:
        listing.find_match(engine, after)
    report = run(engine, ProgressLine(), quick=quick, after=after)
    if as_json:
        version = database.version(engine)
        output.document(report.to_json(database.public_url(engine), version))
    else:
        show(report, database.public_url(engine))
    engine.dispose()
    if report.interrupted_after:
        raise CommandError(report.summary, INTERRUPTED, report.command)
    if report.problems:
        raise CommandError(report.summary, FAILED, report.command)


def _engine(workspace: Workspace, made: bool = False) -> Engine:
    """Open the database without upgrading it; it must exist unless it may be `made`."""
    from arena.store import database

    if made:
        workspace.folder.create()
    else:
        workspace.expect_store()
        workspace.folder.make_private()
    return database.open(workspace.folder.database_url())
