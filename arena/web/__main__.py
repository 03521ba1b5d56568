"""The web server's process of `pokearena serve`; it inherits its listening socket."""

from __future__ import annotations

import argparse
import os
import socket
from dataclasses import asdict

import msgspec

from arena import config
from arena.services.queue import redis_server
from arena.services.web_process import WebSettings
from arena.store import database
from arena.submissions.pending_uploads import PendingUploads
from arena.web import server
from arena.web.data.web_state import ServerSettings
from referee import logs

_NICE = 5
"""Niceness of the process: matches have priority, because their clocks are running."""


def main() -> int:
    """Parse the command line, read the environment and serve until SIGINT or SIGTERM."""
    parser = argparse.ArgumentParser(prog="web", description="Serves the pages.")
    parser.add_argument("--socket", type=int, required=True, help="descriptor that listens")
    parser.add_argument("--settings", required=True, help="`WebSettings` as JSON")
    arguments = parser.parse_args()
    logs.set_up()
    os.nice(_NICE)
    data_folder = config.locate()
    named = redis_server.configured()
    with socket.socket(fileno=arguments.socket) as listening:
        listening.set_inheritable(False)
        settings = ServerSettings(
            **asdict(msgspec.json.decode(arguments.settings, type=WebSettings)),
            redis=named.url if named else "",
            pending_uploads=PendingUploads(data_folder.submissions),
            data=data_folder.root,
        )
        server.serve(database.open(data_folder.database_url()), settings, listening)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
