"""The command `pokearena metrics`: export the figures of an arena to Prometheus."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator
from typing import Final

import rich_click as click

from arena import config
from arena.cli import output
from arena.cli.errors import UNREACHABLE, CommandError
from arena.cli.options import data_option, host_and_port, json_option
from arena.cli.workspace import Workspace

_STOP_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)


@click.command(epilog="Example: pokearena metrics --listen 127.0.0.1:9464")
@click.option(
    "--listen",
    default="127.0.0.1:9464",
    show_default=True,
    metavar="HOST:PORT",
    callback=host_and_port,
    help="Address for Prometheus; port 0 chooses a free one. Do not make it public.",
)
@click.option("--once", is_flag=True, help="Print the current metrics and exit.")
@json_option
@data_option
def metrics(listen: tuple[str, int], once: bool, as_json: bool, workspace: Workspace) -> None:
    """Serve the metrics of an arena for Prometheus, at /metrics, until Ctrl-C.

    Each request reads the database (POKEARENA_DATABASE_URL) and Redis (POKEARENA_REDIS_URL). The
    metrics cover the workers of all machines, so one process is enough.
    `pokearena serve --metrics` does the same. docs/reference/monitoring.md lists the metrics.
    """
    from prometheus_client import generate_latest

    from arena.cli.services import running_services
    from arena.services import metrics_server
    from arena.services.metrics_collector import ArenaCollector, connect, registry

    engine = workspace.existing_store
    running = running_services.running(workspace)
    named = config.setting((config.REFEREE,))
    referee = named[1] if named else running.referee if running else ""
    connection = connect(running_services.redis_of(workspace))
    collector = ArenaCollector(engine, connection, referee, folder=workspace.folder.root)
    if once:
        output.line(generate_latest(registry(collector)).decode().rstrip())
        return
    try:
        with _stop_signals_blocked(), metrics_server.served(collector, *listen) as address:
            if as_json:
                output.document({"metrics": address, "data": str(workspace.folder.root)})
            else:
                output.line(f"metrics  {address}")
                output.hint("Ctrl-C stops it")
            signal.sigwait(_STOP_SIGNALS)
    except metrics_server.CannotListen as error:
        raise CommandError(str(error), UNREACHABLE) from None


@contextlib.contextmanager
def _stop_signals_blocked() -> Iterator[None]:
    """Keep signals for `sigwait`, in the threads of the block too."""
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, _STOP_SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
