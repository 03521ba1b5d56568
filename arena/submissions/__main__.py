"""The process of `pokearena serve` that handles submissions."""

from __future__ import annotations

import argparse
import functools
import os
import signal
import sys
from collections.abc import Iterator
from dataclasses import replace
from types import FrameType

from arena import config
from arena.bots.bot import Bot
from arena.store import database
from arena.store.bots import version_files
from arena.submissions.conformance import examination
from arena.submissions.conformance.check import Check
from arena.submissions.pending_uploads import PendingUploads
from arena.submissions.pipeline import SubmissionPipeline, run
from referee import logs

_NICE = 10
"""Niceness of the process: matches have priority, because their clocks are running."""


def main() -> int:
    """Handle submissions until SIGTERM. The next process resumes an interrupted submission."""
    parser = argparse.ArgumentParser(prog="submissions", description="Handles submissions.")
    parser.add_argument("--max-active-versions", type=int, default=0, dest="most")
    parser.add_argument("--approve-pushes", action="store_true", dest="needs_approval")
    arguments = parser.parse_args()
    logs.set_up()
    os.nice(_NICE)
    signal.signal(signal.SIGTERM, _leave)
    data_folder = config.locate().create()
    referee = os.environ[config.REFEREE]

    def examine(bot: Bot) -> Iterator[Check]:
        return examination.examine(
            bot,
            referee,
            thorough=False,
            is_built=True,
            seconds=examination.SUBMISSION_SECONDS,
        )

    engine = database.open(data_folder.database_url())
    pipeline = SubmissionPipeline(
        engine,
        PendingUploads(data_folder.submissions),
        data_folder.versions,
        examine,
        most_active=arguments.most,
        needs_approval=arguments.needs_approval,
    )
    if data_folder.stores_builds():
        pipeline = replace(pipeline, keep=functools.partial(version_files.keep, engine))
    run(pipeline)
    return 0


def _leave(number: int, _: FrameType | None) -> None:
    raise SystemExit(0)


if __name__ == "__main__":
    sys.exit(main())
