"""The process of `pokearena serve` that handles submissions."""

from __future__ import annotations

import argparse
import functools
import os
import signal
import sys
from collections.abc import Iterator
from dataclasses import replace

from arena import config
from arena.bots.bot import Bot
from arena.bots.build import BUILD_SECONDS
from arena.matches.private_referee import own_referee
from arena.store import database
from arena.store.bots import version_files
from arena.submissions.conformance import examination
from arena.submissions.conformance.check import Check
from arena.submissions.pending_uploads import PendingUploads
from arena.submissions.pipeline import SubmissionPipeline
from arena.submissions.runner import BUILDS, leave, run
from referee import logs

_NICE = 10
"""Niceness of the process: matches have priority, because their clocks are running."""


def main() -> int:
    """Handle submissions until SIGTERM. The next process resumes interrupted submissions."""
    parser = argparse.ArgumentParser(prog="submissions", description="Handles submissions.")
    parser.add_argument("--max-active-versions", type=int, default=0, dest="most")
    parser.add_argument("--approve-pushes", action="store_true", dest="needs_approval")
    parser.add_argument("--open-ladders", action="store_true", dest="opens_ladders")
    parser.add_argument("--builds", type=int, default=BUILDS)
    parser.add_argument("--build-seconds", type=float, default=BUILD_SECONDS)
    arguments = parser.parse_args()
    logs.set_up()
    os.nice(_NICE)
    signal.signal(signal.SIGTERM, leave)
    data_folder = config.locate().create()
    engine = database.open(data_folder.database_url())
    pipeline = SubmissionPipeline(
        engine,
        PendingUploads(data_folder.submissions),
        data_folder.versions,
        _examine,
        most_active=arguments.most,
        needs_approval=arguments.needs_approval,
        opens_ladders=arguments.opens_ladders,
        build_seconds=arguments.build_seconds,
    )
    if data_folder.stores_builds():
        pipeline = replace(pipeline, keep=functools.partial(version_files.keep, engine))
    run(pipeline, builds=arguments.builds)
    return 0


def _examine(bot: Bot) -> Iterator[Check]:
    # Bots that are tested at the same time share no referee, as in matches.
    with own_referee() as referee:
        yield from examination.examine(
            bot,
            referee,
            thorough=False,
            is_built=True,
            seconds=examination.SUBMISSION_SECONDS,
        )


if __name__ == "__main__":
    sys.exit(main())
