"""`pokearena tournament run`: a tournament from a file or from flags, or what it would be."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import rich_click as click
from click.core import ParameterSource

from arena.cli import output
from arena.cli.errors import USAGE, CommandError
from arena.cli.options import (
    data_option,
    game_options,
    json_option,
    pages_option,
    seats_option,
    workers_option,
)

if TYPE_CHECKING:
    from arena.cli.cup import Cup


@click.command(
    epilog="Example: pokearena tournament run poke ./mybot sample:greedy -n 20 or "
    "pokearena tournament run cup.toml --dry-run"
)
@click.argument("game", metavar="GAME|FILE.toml")
@click.argument("bots", nargs=-1, metavar="[BOT...]")
@click.option(
    "--format",
    metavar="NAME",
    default="round-robin",
    show_default=True,
    help="Who meets whom: round-robin, gauntlet, swiss, knockout, ladder or sprt.",
)
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="NAME=VALUE",
    help="A setting of the format (docs/formats.md), as often as needed.",
)
@click.option(
    "--cycles",
    type=click.IntRange(1, 1000),
    help="The same as --set cycles=N: how often everyone meets everyone. [default: 1]",
)
@click.option(
    "-n",
    "--boards",
    type=click.IntRange(1, 10_000),
    default=10,
    show_default=True,
    help="How many boards a match has; each is played with every seating.",
)
@seats_option
@click.option(
    "--seed",
    metavar="TEXT",
    help="What all cards follow from: the same again, the same deals. [default: random]",
)
@click.option("--name", metavar="TEXT", help="What people call it. [default: the game]")
@click.option(
    "--faults",
    type=click.Choice(["lenient", "unforgiving"]),
    default="lenient",
    show_default=True,
    help="After which fault a bot loses the rest of its table: the third, or the first.",
)
@click.option("--dry-run", is_flag=True, help="Say what would be played and for how long.")
@game_options
@workers_option
@pages_option(default=False)
@json_option
@data_option
def run(
    dry_run: bool, workers: int | None, web: bool, as_json: bool, data: Path | None, **flags: Any
) -> int | None:
    """Run a tournament of bots and watch it.

    A BOT is one of the names that `pokearena play` takes; what is no version yet is added on the
    way. A FILE.toml says all of it (README, docs/formats.md); flags beside it say it otherwise.
    If services run for this data folder they play it, else it brings its own, with pages at the
    next free port from 8000 on if --web asks for them. Ctrl-C loses nothing: `pokearena tournament
    resume ID` goes on.
    """
    from arena.cli import plans
    from arena.cli.place import Place

    place = Place(data)
    cup = _cup(flags)
    if dry_run:
        plans.preview(place, cup, workers, as_json)
        return None
    from arena import scheduler
    from arena.cli import contest, seeds
    from arena.cli.tournament_views import report
    from arena.pages import HOST, PORT, Pages, listen_near
    from arena.store import tournaments

    plan, bots = plans.prepare(place, cup)
    entrants, owners = plans.registered(place, bots)
    entries = scheduler.enrol(place.store, entrants, owners)
    first = contest.opening(plan, entries)
    secret = None if cup.seed is None else seeds.seed_of(cup.seed)

    def begin() -> list[str]:
        made = tournaments.create(place.store, plan, entries, first, secret)
        output.hint(f"{made.id} · {plan.form} · {', '.join(entrants)}")
        return [made.id]

    def pages() -> Pages:
        return Pages(listen_near(HOST, PORT))

    sights = contest.play_out(place, workers, begin, pages if web else None)
    return report(place, sights, as_json)


_NAMES = {
    "start": "start_ms",
    "allowance": "allowance_ms",
    "bank": "bank_ms",
}
_PLAIN = ("name", "format", "seats", "boards", "seed", "faults", *_NAMES)


def _cup(flags: dict[str, Any]) -> Cup:
    """What is asked for: of the file, with the flags that were given."""
    from arena.cli import cup, setup

    context = click.get_current_context()
    assert context is not None
    given: dict[str, Any] = {
        _NAMES.get(name, name): flags[name]
        for name in _PLAIN
        if context.get_parameter_source(name) is not ParameterSource.DEFAULT
    }
    if flags["settings"] or flags["cycles"]:
        cycles = {} if flags["cycles"] is None else {"cycles": flags["cycles"]}
        given["settings"] = {**cup.pairs(flags["settings"], "the setting"), **cycles}
    if flags["pairs"]:
        given["options"] = dict(map(setup.option, flags["pairs"]))
    if flags["bots"]:
        given["bots"] = tuple((text, "") for text in flags["bots"])
    if flags["game"].endswith(".toml"):
        return cup.merged(cup.read(Path(flags["game"])), given)
    if not flags["bots"]:
        setup.game_named(flags["game"])
        raise CommandError(f"a tournament of {flags['game']} needs bots; none is named.", USAGE)
    return cup.merged(cup.Cup(game=flags["game"]), given)
