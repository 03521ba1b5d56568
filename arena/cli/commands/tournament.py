"""`pokearena tournament`: run, watch and steer tournaments."""

from __future__ import annotations

from pathlib import Path

import rich_click as click

from arena.cli import output
from arena.cli.commands.tournament_bundle import bundle, verify
from arena.cli.commands.tournament_export import export
from arena.cli.commands.tournament_run import run
from arena.cli.errors import FAILED, CommandError
from arena.cli.options import data_option, json_option, workers_option


@click.group()
def tournament() -> None:
    """Run, watch and steer tournaments."""


for _elsewhere in (run, bundle, export, verify):
    tournament.add_command(_elsewhere)


@tournament.command(epilog="Example: pokearena tournament resume t-7f3k9q")
@click.argument("tournaments", nargs=-1, metavar="ID...")
@workers_option
@json_option
@data_option
def resume(
    tournaments: tuple[str, ...], workers: int | None, as_json: bool, data: Path | None
) -> int:
    """Go on with tournaments that are not over, after their last committed games.

    Without an ID: with all of them.
    """
    from arena.cli import contest, lookup
    from arena.cli import tournament_views as views
    from arena.cli.place import Place
    from arena.store import course
    from arena.store import tournaments as store

    place = Place(data)
    names = [lookup.tournament(place, name) for name in tournaments]
    if not names:
        everything = store.listing(place.existing_store)
        names = [found.id for found in everything if found.ended is None]
        if not names:
            raise CommandError(
                "every tournament here is over.", FAILED, "pokearena tournament list"
            )

    for name in names:
        found = store.find(place.store, name)
        if found.ended is not None:
            advice = f"pokearena tournament show {name}"
            raise CommandError(f"tournament {name} is {found.state} already.", FAILED, advice)

    def begin() -> list[str]:
        for name in names:
            course.resume(place.store, name)
        output.hint(f"going on with {', '.join(names)}")
        return names

    return views.report(place, contest.play_out(place, workers, begin), as_json)


@tournament.command(epilog="Example: pokearena tournament pause t-7f3k9q")
@click.argument("tournaments", nargs=-1, required=True, metavar="ID...")
@json_option
@data_option
def pause(tournaments: tuple[str, ...], as_json: bool, data: Path | None) -> None:
    """Let no further match begin. Matches that are being played are finished."""
    from arena.cli import lookup
    from arena.cli import tournament_views as views
    from arena.cli.place import Place
    from arena.store import course

    place = Place(data)
    for name in [lookup.tournament(place, one) for one in tournaments]:
        course.pause(place.store, name)
        views.changed(place, name, f"{name} is paused", as_json)
    if not as_json:
        output.next_step(f"pokearena tournament resume {' '.join(tournaments)}")


@tournament.command(epilog="Example: pokearena tournament add t-7f3k9q ./newbot")
@click.argument("tournament", metavar="ID")
@click.argument("bots", nargs=-1, required=True, metavar="BOT...")
@click.option("--owner", default="", metavar="NAME", help="Whose bots they are.")
@json_option
@data_option
def add(
    tournament: str, bots: tuple[str, ...], owner: str, as_json: bool, data: Path | None
) -> None:
    """Let bots into a tournament that goes on; they are paired from the next round on.

    A knockout and a test of two take nobody in.
    """
    from arena.cli import plans
    from arena.cli import tournament_views as views
    from arena.cli.place import Place

    place = Place(data)
    name, joined = plans.join(place, tournament, bots, owner)
    views.changed(
        place, name, f"paired in {name} from its next round on: {', '.join(joined)}", as_json
    )
    if not as_json:
        output.next_step(f"pokearena tournament show {name}")


@tournament.command(epilog="Example: pokearena tournament withdraw t-7f3k9q mybot@1")
@click.argument("tournament", metavar="ID")
@click.argument("versions", nargs=-1, required=True, metavar="NAME@VERSION...")
@click.option("--reason", default="", metavar="TEXT", help="Why; shown beside what it cancels.")
@json_option
@data_option
def withdraw(
    tournament: str, versions: tuple[str, ...], reason: str, as_json: bool, data: Path | None
) -> None:
    """Take bots out of a tournament: they are paired no more.

    What they are playing is finished, what they have played counts, the rest is cancelled.
    """
    from arena.cli import lookup
    from arena.cli import tournament_views as views
    from arena.cli.place import Place
    from arena.store import course

    place = Place(data)
    name = lookup.tournament(place, tournament)
    for version in [lookup.version(place, one).id for one in versions]:
        course.withdraw(place.store, name, version, reason)
    views.changed(place, name, f"paired no more in {name}: {', '.join(versions)}", as_json)
    if not as_json:
        output.next_step(f"pokearena tournament show {name}")


@tournament.command("list", epilog="Example: pokearena tournament list")
@json_option
@data_option
def listing(as_json: bool, data: Path | None) -> None:
    """List the tournaments, oldest first. With --json a line each."""
    from arena import plain
    from arena.cli import tournament_views as views
    from arena.cli.place import Place
    from arena.store import tournaments as store

    place = Place(data)
    found = store.listing(place.existing_store)
    counted = [(one, store.progress(place.store, one.id)) for one in found]
    if as_json:
        for one, progress in counted:
            output.document(plain.tournament(one, progress))
        return
    output.table(views.HEADINGS, [views.row(*each) for each in counted])
    last = found[-1].id if found else ""
    output.next_step(f"pokearena tournament show {last}" if last else "pokearena demo")


@tournament.command(epilog="Example: pokearena tournament show t-7f3k9q")
@click.argument("tournament", metavar="ID")
@json_option
@data_option
def show(tournament: str, as_json: bool, data: Path | None) -> None:
    """Show a tournament: how it was set up, its standings, its matches."""
    from arena.cli import lookup
    from arena.cli import tournament_views as views
    from arena.cli.place import Place

    place = Place(data)
    name = lookup.tournament(place, tournament)
    if as_json:
        output.document(views.whole(place, name))
    else:
        views.show(place, name)


@tournament.command(epilog="Example: pokearena tournament cancel t-7f3k9q")
@click.argument("tournaments", nargs=-1, required=True, metavar="ID...")
@json_option
@data_option
def cancel(tournaments: tuple[str, ...], as_json: bool, data: Path | None) -> None:
    """End tournaments before their end. Matches that are closed, or being played, still count."""
    from arena.cli import lookup
    from arena.cli import tournament_views as views
    from arena.cli.place import Place
    from arena.store import course
    from arena.store import tournaments as store

    place = Place(data)
    for name in [lookup.tournament(place, one) for one in tournaments]:
        course.cancel(place.store, name)
        closed = store.progress(place.store, name).closed
        said = f"{name} is cancelled; {closed} of its matches are closed"
        views.changed(place, name, said, as_json)
    if not as_json:
        output.next_step("pokearena tournament list")
