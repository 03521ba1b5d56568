"""`pokearena worker`: one worker as a process of its own."""

from __future__ import annotations

from pathlib import Path

import rich_click as click

from arena.cli.options import data_option


@click.command(epilog="Example: POKEARENA_REDIS_URL=redis://10.0.0.5 pokearena worker")
@click.option("--name", help="A name no other worker has. [default: the host and a token]")
@data_option
def worker(name: str | None, data: Path | None) -> int:
    """Run one worker for services that run elsewhere, until Ctrl-C.

    It needs a Redis (POKEARENA_REDIS_URL), a referee (POKEARENA_REFEREE) and the database
    (POKEARENA_DATABASE_URL); what is not named is that of the services of the data folder.
    """
    import logging

    from arena import worker as workers
    from arena.folder import locate

    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
    return workers.run(locate(data), name)
