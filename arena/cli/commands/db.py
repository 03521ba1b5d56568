"""`pokearena db`: the database of an arena: brought up to date, backed up, restored, checked."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import rich_click as click

from arena.cli import output
from arena.cli.errors import FAILED, CommandError
from arena.cli.options import data_option, json_option

if TYPE_CHECKING:
    from sqlalchemy import Engine


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
    from arena.cli.progress import Progress
    from arena.store import copying, database

    engine = _engine(data)
    size = copying.backup(engine, file.absolute(), Progress())
    shown = database.shown(engine)
    found = {"database": shown, "file": str(file), "bytes": size}
    _tell(as_json, found, f"{file}: {size / (1 << 20):.1f} MiB of {shown}")
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
    from arena.cli.progress import Progress
    from arena.store import copying, database

    engine = _engine(data, made=True)
    rows = copying.restore(engine, file.absolute(), Progress())
    shown = database.shown(engine)
    found = {"database": shown, "file": str(file), "rows": rows}
    _tell(as_json, found, f"{shown}: {rows} rows of {file}")
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
    from arena.cli import database_check
    from arena.cli.progress import Progress
    from arena.store import database

    engine = _engine(data)
    report = database_check.run(engine, Progress(), quick=quick)
    if as_json:
        version = database.version(engine)
        output.document(report.to_json(database.shown(engine), version))
    else:
        database_check.show(report, database.shown(engine))
    engine.dispose()
    if report.problems:
        raise CommandError(report.summary, FAILED, report.command)


def _tell(as_json: bool, found: dict[str, object], sentence: str) -> None:
    """What was copied, for a program or for a person, who should look at it next."""
    if as_json:
        output.document(found)
    else:
        output.line(sentence)
        output.next_step("pokearena db check")


def _engine(data: Path | None, made: bool = False) -> Engine:
    """The database as it is, of whatever version.

    made: its folder is made if it is missing; else it must be there.
    """
    from arena.cli.place import Place
    from arena.store import database

    place = Place(data)
    if made:
        place.folder.create()
    else:
        place.expect_store()
    return database.open(place.folder.database_url())
