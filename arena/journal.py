"""The journal of the services: what their supervisor logs, in a file."""

import contextlib
import logging
from collections.abc import Iterator, Mapping
from pathlib import Path

from referee import logs


@contextlib.contextmanager
def kept_in(path: Path, environment: Mapping[str, str]) -> Iterator[None]:
    """Keeps what the arena logs in a file, for as long as the block lasts.

    environment: says in which form (referee.logs).
    """
    handler = logging.FileHandler(path)
    handler.setFormatter(logs.formatter(environment))
    logger = logging.getLogger("arena")
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        handler.close()
