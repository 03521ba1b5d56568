"""The referee's process: ``python -m referee --address unix:/run/referee.sock``."""

import argparse
import asyncio
import contextlib
import gc
import signal
import sys
from pathlib import Path
from typing import Any

import grpc.aio
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection
from pokearena.v1 import referee_pb2, referee_pb2_grpc

from referee import logs
from referee.rpc.trace import TraceFile
from referee.service import RefereeService

SERVICE = referee_pb2.DESCRIPTOR.services_by_name["RefereeService"].full_name
DRAIN_SECONDS = 5.0
MEMORY_BYTES = 2 << 30
"""Limit of writable memory in bytes. A table takes some tens of MiB."""
YOUNG_OBJECTS = 50_000
"""Number of new objects that starts a collection of reference cycles; Python's default is 700."""

_OPTIONS: list[tuple[str, Any]] = [
    ("grpc.max_receive_message_length", 16 << 20),
    ("grpc.max_send_message_length", -1),
    ("grpc.max_concurrent_streams", 256),
    ("grpc.max_metadata_size", 16 << 10),
    ("grpc.absolute_max_metadata_size", 16 << 10),
    ("grpc.server_handshake_timeout_ms", 5_000),
    # Workers send a ping every 5 s (arena.matches.runner), however long a bot thinks.
    ("grpc.http2.min_ping_interval_without_data_ms", 1_000),
    ("grpc.http2.max_ping_strikes", 0),
    ("grpc.so_reuseport", 0),
]


async def serve(address: str, trace: TraceFile | None = None) -> None:
    """Serve until SIGTERM or SIGINT; tables in progress then have 5 s to finish."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        with contextlib.suppress(NotImplementedError):  # Windows, where the signals end the process
            loop.add_signal_handler(number, stop.set)
    server = grpc.aio.server(options=_OPTIONS)
    referee_pb2_grpc.add_RefereeServiceServicer_to_server(RefereeService(trace), server)
    healthy = health.aio.HealthServicer()
    health_pb2_grpc.add_HealthServicer_to_server(healthy, server)
    names = (SERVICE, health.SERVICE_NAME, reflection.SERVICE_NAME)
    reflection.enable_server_reflection(names, server)
    port = server.add_insecure_port(address)
    if not port:
        raise OSError(f"cannot listen at {address}")
    if address.endswith(":0"):
        address = f"{address.removesuffix(':0')}:{port}"
    await server.start()
    await healthy.set(SERVICE, health_pb2.HealthCheckResponse.SERVING)
    await healthy.set("", health_pb2.HealthCheckResponse.SERVING)
    # On standard output, for programs that wait for this line.
    print(logs.announcement(f"referee listening at {address}"), flush=True)
    await stop.wait()
    await healthy.enter_graceful_shutdown()
    await server.stop(DRAIN_SECONDS)


def _collect_seldom() -> None:
    """Collect reference cycles less often, and exclude the objects loaded at start.

    Positions and cached data do not form cycles: reference counting frees them.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(YOUNG_OBJECTS)


def _bound_memory() -> None:
    """Limit the memory that data from bots can make this process allocate, except on Windows."""
    if sys.platform == "win32":
        return
    import resource

    hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
    most = MEMORY_BYTES if hard == resource.RLIM_INFINITY else min(MEMORY_BYTES, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (most, hard))


def main() -> int:
    """Parse the command line and serve; return the exit status."""
    parser = argparse.ArgumentParser(
        prog="referee", description="Run the referee, which plays tables of bots."
    )
    parser.add_argument(
        "--address", required=True, help="address to listen at: unix:/path/to.sock or host:port"
    )
    parser.add_argument(
        "--trace",
        type=Path,
        metavar="FILE",
        help="append all messages from and to bots to this file (referee/rpc/trace.py)",
    )
    arguments = parser.parse_args()
    address = arguments.address
    logs.set_up()
    _collect_seldom()
    _bound_memory()
    trace = None if arguments.trace is None else TraceFile(arguments.trace)
    try:
        with contextlib.suppress(KeyboardInterrupt):
            asyncio.run(serve(address, trace))
    except (OSError, RuntimeError) as error:
        reason = str(error).partition("; set GRPC_VERBOSITY")[0]
        print(f"referee: cannot listen at {address}: {reason}", file=sys.stderr)
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(main())
