"""The command `pokearena worker`: run workers on a separate machine."""

from __future__ import annotations

import rich_click as click

from arena.cli import output
from arena.cli.errors import FAILED, OK, CommandError
from arena.cli.options import data_option, sandbox_option
from arena.cli.workspace import Workspace
from arena.config import Folder
from arena.services.queue.worker_registrations import QUEUE, QUEUES


@click.command(epilog="Example: POKEARENA_REDIS_URL_FILE=/run/secrets/redis pokearena worker -j 4")
@click.option("--name", help="Unique name of the worker. [default: host name and a random suffix]")
@click.option(
    "-j",
    "--workers",
    type=click.IntRange(1, 1024),
    default=1,
    show_default=True,
    help="Number of matches played at the same time.",
)
@click.option("--burst", is_flag=True, help="Exit when no match has been due for 3 s.")
@click.option(
    "--max-matches",
    type=click.IntRange(1),
    metavar="N",
    help="Exit after N matches. [default: no limit]",
)
@click.option(
    "--check", is_flag=True, help="Only check whether Redis lists a live worker of this host."
)
@click.option(
    "--queue",
    type=click.Choice(QUEUES),
    default=QUEUE,
    show_default=True,
    help="The matches to play; models: only those of the clock class model, which then wait for "
    "such workers.",
)
@sandbox_option
@data_option
def worker(
    name: str | None,
    workers: int,
    burst: bool,
    max_matches: int | None,
    check: bool,
    queue: str,
    workspace: Workspace,
) -> int:
    """Run workers for services on other machines, until Ctrl-C.

    Workers use the Redis of POKEARENA_REDIS_URL and the database of POKEARENA_DATABASE_URL, by
    default those of the data folder. Both must be reachable at the start; after later failures the
    workers connect again. Each worker runs its own referee, unless POKEARENA_REFEREE is set to the
    address of one.

    With --burst the command ends when no match has been due for 3 s, as a job of an autoscaler
    must.
    """
    from arena.services import worker_process as work
    from referee import logs

    data_folder = workspace.folder
    if check:
        _check(data_folder)
        return OK
    _ask_store(data_folder)
    logs.set_up()
    return work.run(
        data_folder, name, workers=workers, burst=burst, max_attempts=max_matches, queue=queue
    )


def _ask_store(data_folder: Folder) -> None:
    """Raise the error of an unusable store or a wrong setting; workers would only log it."""
    from arena.store.objects import object_storage

    object_storage.from_environment()
    is_shared = data_folder.shares_store()
    if is_shared or data_folder.database.exists():
        from arena.store import database

        engine = database.open(data_folder.database_url())
        try:
            # The services of a data folder upgrade its database.
            (database.prepare if is_shared else database.refuse_newer)(engine)
        finally:
            # Forked processes must not inherit connections.
            engine.dispose()


def _check(data_folder: Folder) -> None:
    """Print the workers of this host, for container health checks."""
    from arena.services.queue import redis_server
    from arena.services.worker_process import on_this_host

    redis, here = on_this_host(data_folder)
    for info in here:
        state = ("busy" if info.match else "idle") if info.alive else "no heartbeat"
        output.line(f"{info.name}: {state}, sandbox {info.sandbox.level}")
    if not any(info.alive for info in here):
        silent = "the workers of this host have no recent heartbeat"
        known = silent if here else "no worker of this host is registered"
        raise CommandError(
            f"{known} in {redis_server.without_password(redis.url)}.", FAILED, code="no-worker"
        )
