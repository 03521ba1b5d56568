"""`pokearena tournament`: schedule, watch, resume and cancel tournaments."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import rich_click as click

from arena.cli import output
from arena.cli.errors import FAILED, OK, CommandError
from arena.cli.options import (
    data_option,
    game_options,
    json_option,
    seats_option,
    workers_option,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from arena.cli.live import Sight
    from arena.cli.place import Place


@click.group()
def tournament() -> None:
    """Schedule, watch, resume and cancel tournaments."""


@tournament.command(epilog="Example: pokearena tournament run poke ./mybot sample:greedy -n 20")
@click.argument("game")
@click.argument("bots", nargs=-1, required=True, metavar="BOT BOT...")
@click.option(
    "-n",
    "--boards",
    type=click.IntRange(1, 10_000),
    default=10,
    show_default=True,
    help="How many boards a match has; each is played with every seating.",
)
@click.option(
    "--cycles",
    type=click.IntRange(1, 1000),
    default=1,
    show_default=True,
    help="How often everyone meets everyone.",
)
@seats_option
@click.option(
    "--seed",
    metavar="TEXT",
    help="What all cards follow from: the same again, the same deals. [default: random]",
)
@click.option("--name", metavar="TEXT", help="What people call it. [default: the game]")
@game_options
@workers_option
@json_option
@data_option
def run(
    game: str,
    bots: tuple[str, ...],
    boards: int,
    cycles: int,
    seats: int | None,
    seed: str | None,
    name: str | None,
    pairs: tuple[str, ...],
    allowance: int,
    bank: int,
    start: int,
    workers: int | None,
    as_json: bool,
    data: Path | None,
) -> int:
    """Run a round robin of bots and watch it.

    A BOT is one of the names that `pokearena play` takes; what is no version yet is added on the
    way. If services run for this data folder they play it, else it brings its own. Ctrl-C loses
    nothing: `pokearena tournament resume ID` goes on.
    """
    from arena import scheduler
    from arena.cli import contest, entries, seeds, setup
    from arena.cli.place import Place
    from arena.store.spec import Clock, Plan

    place = Place(data)
    rules = setup.game_named(game)
    options = setup.options_of(rules, pairs)
    plan = Plan(
        name=name or rules.id,
        game=rules.id,
        options=options,
        seats=setup.usual_seats(rules, options, len(bots)) if seats is None else seats,
        boards=boards,
        settings={"cycles": cycles},
        clock=Clock(start, allowance, bank),
    )
    contest.check(plan, len(bots))
    found = [place.bot(text) for text in bots]
    for one in found:
        setup.check_plays(one, rules)
    entrants = [entries.register(place, one).id for one in found]
    contest.check_format(plan, scheduler.enrol(place.store, entrants))
    secret = None if seed is None else seeds.seed_of(seed)

    def begin() -> list[str]:
        made = scheduler.begin(place.store, plan, entrants, secret)
        output.hint(f"{made.id} · {rules.id} · {', '.join(entrants)}")
        return [made.id]

    return _report(place, contest.play_out(place, workers, begin), as_json)


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

    return _report(place, contest.play_out(place, workers, begin), as_json)


@tournament.command("list", epilog="Example: pokearena tournament list")
@json_option
@data_option
def listing(as_json: bool, data: Path | None) -> None:
    """List the tournaments, oldest first. With --json a line each."""
    from arena.cli import tournament_views as views
    from arena.cli.place import Place
    from arena.store import tournaments as store

    place = Place(data)
    found = store.listing(place.existing_store)
    counted = [(one, store.progress(place.store, one.id)) for one in found]
    if as_json:
        for one, progress in counted:
            output.document(views.as_json(one, progress))
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
        ended = course.cancel(place.store, name)
        progress = store.progress(place.store, name)
        if as_json:
            output.document(views.as_json(ended, progress))
        else:
            output.line(f"{name} is cancelled; {progress.closed} of its matches are closed")
            if progress.running:
                output.line(f"{progress.running} more are being played; they end, and count")
    if not as_json:
        output.next_step("pokearena tournament list")


def _report(place: Place, sights: Sequence[Sight], as_json: bool) -> int:
    """The end of tournaments: their standings, and whether all was played."""
    from arena.cli import tournament_views as views

    for sight in sights:
        if as_json:
            output.document(views.whole(place, sight.tournament.id))
        else:
            views.conclude(place, sight)
    if not as_json:
        views.what_next(place, [sight.tournament.id for sight in sights])
    closed = all(sight.progress.closed == sight.progress.matches for sight in sights)
    return OK if closed else FAILED
