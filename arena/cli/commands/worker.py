"""`pokearena worker`: one worker as a process of its own."""

from __future__ import annotations

from pathlib import Path

import rich_click as click

from arena.cli.options import data_option


@click.command(epilog="Example: POKEARENA_REDIS_URL=redis://10.0.0.5 pokearena worker")
@click.option("--name", help="A name no other worker has. [default: the host and a token]")
@click.option("--burst", is_flag=True, help="End when no match waits any more.")
@click.option(
    "--max-matches",
    type=click.IntRange(1),
    metavar="N",
    help="End when N matches have been tried. [default: no limit]",
)
@click.option(
    "--check", is_flag=True, help="Only say whether a worker of this host shows itself in Redis."
)
@data_option
def worker(
    name: str | None, burst: bool, max_matches: int | None, check: bool, data: Path | None
) -> int:
    """Run one worker for services that run elsewhere, until Ctrl-C.

    It needs a Redis (POKEARENA_REDIS_URL), a referee (POKEARENA_REFEREE) and the database
    (POKEARENA_DATABASE_URL); what is not named is that of the services of the data folder.
    With --burst it is a job that ends by itself, as autoscalers start them.
    """
    import logging

    from arena import worker as workers
    from arena.folder import locate

    if check:
        return workers.check(locate(data))
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
    return workers.run(locate(data), name, burst=burst, most=max_matches)
