"""The relay's process.

Example: ``python -m arena.remote.relay --listen HOST:PORT --control unix:/run/control.sock
--sockets DIRECTORY --port FILE``.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import logging
import signal
import sys
from pathlib import Path

from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection

from arena import config
from arena.remote.relay import control_api, public_endpoint
from arena.remote.relay.session_registry import TICK_SECONDS, SessionRegistry
from arena.remote.relay.worker_endpoint import WorkerEndpoint
from arena.services.queue import redis_server
from arena.store import database
from arena.store.events import restarts
from referee import logs

DRAIN_SECONDS = 1.0

log = logging.getLogger("arena.relay")


async def serve(options: argparse.Namespace, data_folder: config.Folder) -> None:
    """Serve the public endpoint, control API and worker endpoint until SIGTERM or SIGINT."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    worker_endpoint = WorkerEndpoint(options.control, options.sockets)
    tunnel = None
    if options.workers is not None:
        tunnel = await worker_endpoint.open(options.workers, options.certificate, options.key)
        log.info("listening for workers of other machines at %s", tunnel.address)
    registry = SessionRegistry(
        database.open(data_folder.database_url()), options.control, options.sockets, tunnel
    )
    outer, port = public_endpoint.server(
        public_endpoint.PublicEndpoint(registry), options.listen, options.certificate, options.key
    )
    healthy = health.aio.HealthServicer()
    health_pb2_grpc.add_HealthServicer_to_server(healthy, outer)
    names = (public_endpoint.SERVICE, health.SERVICE_NAME, reflection.SERVICE_NAME)
    reflection.enable_server_reflection(names, outer)
    inner = control_api.server(control_api.ControlApi(registry), options.control)
    await outer.start()
    options.port.write_text(str(port), encoding="utf-8")
    await inner.start()
    for name in (public_endpoint.SERVICE, ""):
        await healthy.set(name, health_pb2.HealthCheckResponse.SERVING)
    log.info("relay listening at %s, port %d", options.listen, port)
    redis = redis_server.configured()
    ticking = asyncio.create_task(
        restarts.keep_task_running("relay", lambda: _tick(registry), redis.url if redis else "")
    )
    await stop.wait()
    ticking.cancel()
    await healthy.enter_graceful_shutdown()
    await worker_endpoint.close()
    await inner.stop(DRAIN_SECONDS)
    await outer.stop(DRAIN_SECONDS)


async def _tick(registry: SessionRegistry) -> None:
    while True:
        await registry.tick()
        await asyncio.sleep(TICK_SECONDS)


def main() -> int:
    """Parse the command line, read the environment and serve. Return the exit status."""
    parser = argparse.ArgumentParser(prog="relay", description="Connect remote bots to the arena.")
    parser.add_argument(
        "--listen", required=True, help="address for the connectors of authors, HOST:PORT"
    )
    parser.add_argument("--control", required=True, help="address of the control API, unix:PATH")
    parser.add_argument(
        "--sockets", required=True, type=Path, help="directory for the sockets of seats"
    )
    parser.add_argument("--port", required=True, type=Path, help="file to write the port to")
    parser.add_argument("--workers", help="address for workers on other machines, HOST:PORT")
    parser.add_argument("--certificate", type=Path, help="TLS certificate, PEM")
    parser.add_argument("--key", type=Path, help="key of the TLS certificate, PEM")
    options = parser.parse_args()
    logs.set_up()
    try:
        with contextlib.suppress(KeyboardInterrupt):
            asyncio.run(serve(options, config.locate()))
    except (OSError, RuntimeError, ValueError) as error:
        addresses = " and ".join(filter(None, (options.listen, options.workers)))
        print(f"relay: cannot listen at {addresses}: {error}", file=sys.stderr)
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(main())
