"""The process of `pokearena serve` that handles submissions."""

from __future__ import annotations

import argparse
import functools
import os
import signal
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from sqlalchemy import Engine

from arena import config
from arena.bots.bot import Bot
from arena.bots.build import BUILD_SECONDS
from arena.bots.sandbox.available_levels import best_level
from arena.matches.private_referee import own_referee
from arena.models.match_models import MatchModels, usable_models
from arena.models.models_file import EXAMINATION_TOKENS
from arena.store import database
from arena.store.bots import version_files
from arena.store.bots.model_grants import GrantedModels, granted_names
from arena.store.matches.spec import MatchSpec
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
        functools.partial(_examine, engine, data_folder.root),
        most_active=arguments.most,
        needs_approval=arguments.needs_approval,
        opens_ladders=arguments.opens_ladders,
        build_seconds=arguments.build_seconds,
    )
    if data_folder.stores_builds():
        pipeline = replace(pipeline, keep=functools.partial(version_files.keep, engine))
    run(pipeline, builds=arguments.builds)
    return 0


def _examine(engine: Engine, root: Path, bot: Bot, owner: str) -> Iterator[Check]:
    def models(spec: MatchSpec) -> MatchModels | None:
        declared = bot.manifest.models if bot.manifest is not None else ()
        names = tuple(granted_names(engine, owner, "", declared))
        granted = {spec.versions[0]: GrantedModels(bot.label, owner, names)}
        if not names:
            return None
        models = usable_models(engine, spec.id, granted, root, None, best_level())
        return models.within(EXAMINATION_TOKENS)

    # Bots that are tested at the same time share no referee, as in matches.
    with own_referee() as referee:
        yield from examination.examine(
            bot,
            referee,
            thorough=False,
            is_built=True,
            seconds=examination.SUBMISSION_SECONDS,
            models=models,
        )


if __name__ == "__main__":
    sys.exit(main())
