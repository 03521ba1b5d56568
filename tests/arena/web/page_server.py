"""Serve the pages over HTTP in a thread of the test."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn

from arena.services import web_process
from arena.web import server
from arena.web.data.web_state import WebState
from tests.waiting import wait_until


@contextmanager
def served(web: WebState) -> Iterator[str]:
    """Serve until the block ends; yield the URL without a trailing slash."""
    running = uvicorn.Server(server.config(web))
    with web_process.listen("127.0.0.1", 0) as listening:
        thread = threading.Thread(target=running.run, kwargs={"sockets": [listening]})
        thread.start()
        try:
            wait_until(lambda: running.started)
            yield web_process.address_of(listening).rstrip("/")
        finally:
            running.should_exit = True
            thread.join()
