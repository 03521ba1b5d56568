"""The command `pokearena serve`: run all services until Ctrl-C."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import rich_click as click

from arena import config
from arena.bots.sandbox import available_levels
from arena.bots.sandbox.available_levels import Choice
from arena.cli import completers, output
from arena.cli.errors import FAILED, UNREACHABLE, CommandError, usage_error
from arena.cli.options import (
    data_option,
    json_option,
    metrics_option,
    pages_option,
    relay_options,
    sandbox_option,
    web_options,
)
from arena.cli.workspace import Workspace
from arena.errors import InfrastructureError, InvalidSettings
from arena.services.relay_process import RelayOptions
from arena.services.web_process import WebSettings
from arena.system.process_info import cores
from referee.games.game_packages import EXAMPLE_GAME

if TYPE_CHECKING:
    from arena.cli.services.running_services import RunningServices
    from arena.services.local import Services
    from arena.store.match_settings import TournamentPlan

_POLL_SECONDS = 0.5
_MODEL_WORKERS_ABOVE_CORES = 4
_MODEL_WORKER_BYTES = 2**29
"""Memory that a worker, its referee and the bots of a match usually need together."""


@dataclass(frozen=True, slots=True)
class SandboxReport:
    """The chosen level, or the error that keeps bots from playing now."""

    choice: Choice | None
    error: str = ""

    @classmethod
    def read(cls) -> SandboxReport:
        """Choose the level.

        Raises:
            InfrastructureError: the setting is not a level, or this machine does not offer it. In
                other cases the services start, and workers wait until the level is back.
        """
        try:
            return cls(available_levels.chosen_level())
        except InfrastructureError as error:
            if error.code in available_levels.WRONG_SETTING:
                raise
            return cls(None, str(error))

    def text(self) -> str:
        """Return the level with its reason, or the error."""
        return f"unavailable: {self.error}" if self.choice is None else self.choice.sentence()

    def to_json(self) -> dict[str, object]:
        """Return the level, its reason, and the error as JSON values."""
        level = None if self.choice is None else self.choice.level
        return {
            "level": level,
            "reason": None if self.choice is None else self.choice.reason,
            "keeps_tables_apart": level is not None and level.keeps_tables_apart,
            "error": self.error or None,
        }


@click.command(epilog="Example: pokearena serve --workers 4")
@click.option(
    "--workers",
    type=click.IntRange(0, 1024),
    help="Number of matches played at the same time; 0: only other machines play. "
    "[default: one per core]",
)
@click.option(
    "--model-workers",
    type=click.IntRange(0, 1024),
    metavar="N",
    help="Number of additional workers for matches of the clock class model; 0: the others play "
    "them too. [default: 4 more than cores, at most one per 512 MiB, if models.toml or a ladder of "
    "this class exists; else 0]",
)
@sandbox_option
@pages_option(default=True)
@web_options
@relay_options
@metrics_option
@click.option(
    "--ladder",
    "forms",
    shell_complete=completers.forms,
    multiple=True,
    metavar="FORM",
    help="Open a ladder of this form, for example GAME or GAME-4, which pushed bots enter; "
    "repeatable.",
)
@click.option(
    "--ladders/--no-ladders",
    default=True,
    help="Open a ladder in the default form of each game that a hosted bot plays, now or when the "
    "first such bot is pushed. [default: yes]",
)
@json_option
@data_option
def serve(
    workers: int | None,
    model_workers: int | None,
    web: bool,
    host: str,
    port: int,
    web_settings: WebSettings,
    relaying: RelayOptions,
    metrics: tuple[str, int] | None,
    forms: tuple[str, ...],
    ladders: bool,
    as_json: bool,
    workspace: Workspace,
) -> None:
    """Run all services of an arena until Ctrl-C: Redis, workers with referees, and the web pages.

    POKEARENA_REDIS_URL, POKEARENA_DATABASE_URL and POKEARENA_REFEREE are addresses of existing
    services, which are used instead. At the end, workers finish their current games and return
    their matches to the queue.
    """
    from arena.cli.services import running_services
    from arena.services.local import Services
    from arena.services.web_process import Pages, PortTaken, listen
    from arena.submissions import open_ladders

    plans = [ladder_of(form, "--ladder") for form in forms]
    running = running_services.running(workspace)
    if running is not None:
        raise CommandError(
            f"services already run for {workspace.folder.root}, as process {running.pid}.",
            FAILED,
            "pokearena tournament list",
            code="already-running",
        )
    sandbox = SandboxReport.read()
    if model_workers is None:
        model_workers = 0 if workers == 0 else usual_model_workers(workspace, plans)
    try:
        pages = Pages(listen(host, port), web_settings, ladders) if web else None
    except PortTaken as error:
        raise CommandError(str(error), UNREACHABLE) from None
    try:
        with (
            Services(
                workspace.folder,
                workers,
                pages=pages,
                relaying=relaying,
                on_wait=output.hint,
                model_workers=model_workers,
            ) as services,
            _measured(workspace, services, metrics) as measured,
        ):
            plans += open_ladders.default_plans(workspace.store) if ladders else []
            open_ladders.create_missing(workspace.store, plans)
            services.nudge()
            _announce(workspace, services, measured, sandbox, as_json)
            _stay(running_services.RunningServices(workspace, services))
    except SystemExit:
        # SIGTERM is a regular end, like Ctrl-C.
        output.hint("stopped")


def ladder_of(form: str, option: str) -> TournamentPlan:
    """Return the settings of an open ladder, for example "GAME-3-OPTION" or "GAME~slow"."""
    from arena.store import match_settings
    from arena.submissions import open_ladders

    try:
        game, seats, options, clock_class = match_settings.parse_ladder(form)
        return open_ladders.plan_of(game.id, seats, options, clock_class)
    except InvalidSettings as error:
        raise usage_error(f"{option} {form}: {error}", "unknown-form") from None


def usual_model_workers(workspace: Workspace, plans: list[TournamentPlan]) -> int:
    """Return the default number of workers for the clock class `model`.

    `plans` are the ladders to be opened. The store may be of an older version.
    """
    from arena.models import models_file
    from arena.store import database
    from arena.store.match_settings import ClockClass
    from arena.store.tournaments import tournaments

    if config.setting((config.REFEREE,)):
        # It serves one worker.
        return 0
    if workspace.has_store:
        engine = database.open(workspace.folder.database_url())
        if database.version(engine) == database.HEAD:
            running = tournaments.list_tournaments(engine, over=False)
            plans = [*plans, *(tournament.plan for tournament in running)]
        engine.dispose()
    is_needed = (workspace.folder.root / models_file.FILE).exists() or any(
        plan.clock.clock_class is ClockClass.MODEL for plan in plans
    )
    if not is_needed or sys.platform != "linux":
        # Services run on Linux only; elsewhere their start is refused.
        return 0
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    most = max(1, memory // _MODEL_WORKER_BYTES)
    return min(cores() + _MODEL_WORKERS_ABOVE_CORES, most)


@contextlib.contextmanager
def _measured(
    workspace: Workspace, services: Services, listen: tuple[str, int] | None
) -> Iterator[str]:
    """Serve the metrics if requested; yield their address, or ""."""
    if listen is None:
        yield ""
        return
    from arena.services import metrics_server
    from arena.services.metrics_collector import ArenaCollector, connect

    snapshot = services.snapshot
    collector = ArenaCollector(
        workspace.existing_store,
        connect(snapshot.redis.url),
        snapshot.referee,
        lambda: services.snapshot.services,
        workspace.folder.root,
    )
    try:
        with metrics_server.served(collector, *listen) as address:
            yield address
    except metrics_server.CannotListen as error:
        raise CommandError(str(error), UNREACHABLE) from None


def _announce(
    workspace: Workspace,
    services: Services,
    measured: str,
    sandbox: SandboxReport,
    as_json: bool,
) -> None:
    from arena.services.queue import redis_server
    from arena.submissions import open_ladders

    ladders = open_ladders.list_open_ladders(workspace.store)
    snapshot = services.snapshot
    redis, children = redis_server.without_password(snapshot.redis.url), snapshot.services
    if as_json:
        output.document(
            {
                "data": str(workspace.folder.root),
                "redis": redis,
                "referee": snapshot.referee or None,
                "page": snapshot.page or None,
                "relay": snapshot.relay or None,
                "metrics": measured or None,
                "sandbox": sandbox.to_json(),
                "ladders": {ladder.plan.ladder: ladder.id for ladder in ladders},
                "processes": [
                    {"name": child.name, "pid": child.pid, "log": str(child.log)}
                    for child in children
                ],
            }
        )
        return
    output.line(f"data     {workspace.folder.root}")
    output.line(f"Redis    {redis} ({snapshot.redis.source})")
    output.line("referees one for each worker")
    workers = [child for child in children if child.name.startswith("worker")]
    output.line(f"workers  {len(workers)}; logs in {snapshot.logs}")
    output.line(f"sandbox  {sandbox.text()}")
    if snapshot.relay:
        output.line(f"relay    {snapshot.relay}")
    if measured:
        output.line(f"metrics  {measured}")
    if ladders:
        forms = ", ".join(ladder.plan.ladder for ladder in ladders)
        output.line(f"ladders  {forms}")
    if snapshot.page:
        output.line(f"page     {snapshot.page}")
    output.hint("Ctrl-C stops it; in another terminal:")
    output.next_step(f"pokearena tournament run {EXAMPLE_GAME} sample:greedy sample:random")


def _stay(services: RunningServices) -> None:
    try:
        while True:
            for restart in services.new_restarts():
                output.hint(restart)
            time.sleep(_POLL_SECONDS)
    except KeyboardInterrupt:
        output.hint(
            "stopping: workers finish their current games and return their matches to the queue"
        )
