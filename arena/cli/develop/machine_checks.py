"""Check the arena's requirements on this machine, one after another."""

from __future__ import annotations

import contextlib
import importlib.metadata
import os
import platform
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import filterfalse
from typing import TYPE_CHECKING, Final, TypeVar

from redis.exceptions import RedisError
from sqlalchemy import exc
from sqlalchemy.exc import DBAPIError

from arena import config
from arena.bots.sandbox import stored_level
from arena.bots.sandbox.available_levels import chosen_level, has_disk
from arena.bots.sandbox.level import SETTING, Level, is_explicit
from arena.cli.errors import CommandError
from arena.cli.services.running_services import running
from arena.cli.workspace import Workspace
from arena.errors import InfrastructureError, StoreError
from arena.ladders import ladder_rows
from arena.matches.private_referee import own_referee
from arena.models.models_file import ModelsFileError, missing_keys, read_models
from arena.ratings.strength import fit, kept_strengths
from arena.services.queue import redis_server
from arena.store import database, webhooks
from arena.store.bots import remote_bots
from arena.store.events import incidents
from arena.store.match_settings import ClockClass
from arena.store.matches import listing, model_calls, offline_bot_waits
from arena.store.objects import object_storage, stored_objects
from arena.store.schema import OPEN, MatchState
from arena.store.tournaments import tournaments
from arena.system import grpc_probe, redis_connection
from arena.system.private_files import is_private
from arena.system.redis_connection import connect
from referee.games import game_packages
from referee.games.contract import SetupError
from referee.games.game_packages import BUILT_IN
from referee.rules_build import rules_build
from referee.sanitizing import one_line

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from arena.bots.sandbox.available_levels import Choice

T = TypeVar("T")
OK: Final = "ok"
WARN: Final = "warn"
FAIL: Final = "fail"

TESTED_PYTHONS: Final = ((3, 11), (3, 14))
"""The oldest and the newest Python on which the project is supported."""
_PACKAGES: Final = (
    *("grpcio", "protobuf", "redis", "rq", "sqlalchemy", "alembic"),
    *("rich", "rich-click"),
)
_MIB: Final = 1 << 20
_LITTLE_DISK: Final = 1024 * _MIB
_NO_DISK: Final = 100 * _MIB
_OPEN_FILES: Final = 1024


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The result of one check: its state, a description, and a remedy."""

    name: str
    state: str
    found: str
    fix: str = ""


Finding = tuple[str, str] | tuple[str, str, str]
"""The state, the description and the remedy of a result."""


def examine(workspace: Workspace) -> list[CheckResult]:
    """Run all checks; start a Redis and a referee temporarily if none is configured."""
    checks: tuple[tuple[str, Callable[[Workspace], Finding]], ...] = (
        *(("Python", _python), ("system", _system), ("packages", _packages), ("build", _build)),
        *(("games", _games), ("data", _data), ("disk", _disk), ("database", _database)),
        *(("storage", _storage), ("Redis", _redis), ("referee", _referee)),
        *(("services", _services), ("matches", _matches), ("ladders", _ladders)),
        *(("strengths", _strengths), ("remote", _remotes), ("webhooks", _webhooks)),
        *(("models", _models), ("limits", _limits), ("sandbox", _sandbox)),
    )
    return [CheckResult(name, *_finding(check, workspace)) for name, check in checks]


class _Unknown(Exception):
    """The database cannot be read, as its own check reports."""


def _finding(check: Callable[[Workspace], Finding], workspace: Workspace) -> Finding:
    try:
        return check(workspace)
    except _Unknown:
        return OK, "unknown; see the database above"


def _stored(workspace: Workspace, query: Callable[[Engine], T]) -> T | None:
    """Return what a query finds in the database; None without a database."""
    try:
        if not workspace.has_store:
            return None
        engine = database.open(workspace.folder.database_url())
        try:
            version = database.version(engine)
            if version is None:
                return None
            if version != database.HEAD:
                raise _Unknown
            return query(engine)
        finally:
            engine.dispose()
    except (exc.SQLAlchemyError, StoreError, config.SettingError):
        raise _Unknown from None


def _python(workspace: Workspace) -> Finding:
    version = platform.python_version()
    oldest, newest = TESTED_PYTHONS
    if oldest <= sys.version_info[:2] <= newest:
        return OK, version
    tested = " to ".join(".".join(map(str, bound)) for bound in TESTED_PYTHONS)
    return WARN, f"{version}; supported are {tested}", "use Python 3.11"


def _system(workspace: Workspace) -> Finding:
    name = f"{platform.system()} {platform.release()}"
    if sys.platform == "linux":
        return OK, name
    text = f"{name}: bots run unsandboxed, and services need Linux"
    return WARN, text, "use Linux"


def _packages(workspace: Workspace) -> Finding:
    found = {package: _version(package) for package in _PACKAGES}
    missing = [package for package, version in found.items() if not version]
    if missing:
        return FAIL, f"missing: {', '.join(missing)}", "uv sync"
    versions = [f"{package} {version}" for package, version in found.items()]
    versions.append(f"elo {elo}" if (elo := _version("elo")) else "formulas equal to elo 0.1.1")
    return OK, ", ".join(versions)


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return ""


def _build(workspace: Workspace) -> Finding:
    return OK, f"the rules are {rules_build()}"


def _games(workspace: Workspace) -> Finding:
    """List the games of installed packages, and load those of the allowed ones."""
    built_in = f"{len(BUILT_IN)} built in"
    try:
        allowed = game_packages.packaged_games().values()
        for game in allowed:
            game.load()
    except SetupError as error:
        fix = f"correct {game_packages.SETTING} or the package"
        return FAIL, str(error), fix
    refused = filterfalse(game_packages.is_allowed, game_packages.installed_games())
    parts = [f"{game}, code {game.code_hash[:8]}" for game in allowed]
    parts += [f"{game}, not allowed" for game in refused]
    if missing := game_packages.missing_packages():
        names = " ".join(missing)
        parts.append(f"allowed and not installed: {names}")
        return WARN, "; ".join([built_in, *parts]), f"pip install {names}"
    return OK, "; ".join([built_in, *parts])


def _data(workspace: Workspace) -> Finding:
    root = workspace.folder.root
    existing = next(path for path in (root, *root.parents) if path.exists())
    try:
        with tempfile.TemporaryFile(dir=existing):
            pass
    except OSError as error:
        reason = error.strerror or str(error)
        return FAIL, f"{root}: {reason}", "choose another with --data FOLDER"
    if not root.exists():
        return OK, f"{root} (made when it is needed)"
    return _private_data(workspace)


def _private_data(workspace: Workspace) -> Finding:
    """Check that only this user may access the data folder: it contains seeds and hashes."""
    folder = workspace.folder
    if sys.platform == "win32":
        # Folders of a user are private there, by other means than the bits of a mode.
        return OK, str(folder.root)
    status = folder.root.stat()
    if status.st_uid != os.geteuid():
        text = f"{folder.root} belongs to the user with the id {status.st_uid}, not to this one"
        return WARN, text, f"run pokearena as that user, or chown -R {os.geteuid()} {folder.root}"
    if is_private(folder.root):
        return OK, str(folder.root)
    shares = " and also contains other files" if folder.has_other_content() else ""
    fix = f"chmod 700 {folder.root}, or choose another with --data FOLDER"
    return WARN, f"other users may enter {folder.root}{shares}", fix


def _disk(workspace: Workspace) -> Finding:
    root = workspace.folder.root
    existing = next(path for path in (root, *root.parents) if path.exists())
    free = shutil.disk_usage(existing).free
    state = FAIL if free < _NO_DISK else WARN if free < _LITTLE_DISK else OK
    fix = "" if state == OK else f"make room, or choose another place than {existing}"
    return state, f"{free // _MIB} MiB free", fix


def _database(workspace: Workspace) -> Finding:
    from sqlalchemy import inspect, text

    fix = f"check {' or '.join(config.DATABASE)}, or move {workspace.folder.database} away"
    try:
        workspace.expect_content()
        if not workspace.has_store:
            return OK, "none yet; it is made when it is needed"
        engine = database.open(workspace.folder.database_url())
        shown, backend = database.public_url(engine), engine.dialect.name
        with database.reading(engine) as connection:
            if not inspect(connection).has_table("alembic_version"):
                return OK, f"{shown}, empty; its tables are made when needed"
            version = connection.execute(text("SELECT version_num FROM alembic_version")).scalar()
        engine.dispose()
    except DBAPIError as error:
        return FAIL, str(error.orig), fix
    except CommandError as error:
        return FAIL, str(error), error.advice
    except (StoreError, config.SettingError) as error:
        return FAIL, str(error), fix
    if version == database.HEAD:
        return OK, f"{shown}, schema {version}"
    if str(version) < database.HEAD:
        step = "any command brings it up" if backend == "sqlite" else "run `pokearena db upgrade`"
        return WARN, f"{shown}, schema {version}", step
    return FAIL, f"{shown}, schema {version}", "use the pokearena that made it"


def _storage(workspace: Workspace) -> Finding:
    """Write, read and delete an object, if object storage is set."""
    name = config.OBJECT_STORAGE[0]
    try:
        storage = object_storage.from_environment()
        if storage is None:
            return _unset_storage(workspace, name)
        began = time.monotonic()
        storage.probe()
    except (StoreError, config.SettingError) as error:
        return FAIL, str(error), f"correct or unset {name}"
    seconds = time.monotonic() - began
    return OK, f"{storage.shown} answers after {seconds:.2f} s"


def _unset_storage(workspace: Workspace, name: str) -> Finding:
    """Check that the database does not refer to objects, because no object storage is set."""
    if not _stored(workspace, stored_objects.exist):
        return OK, "files are in the data folder and the database"
    text = f"builds or records are in object storage, and {name} is not set"
    return FAIL, text, f"set {name} to its address"


def _redis(workspace: Workspace) -> Finding:
    if sys.platform != "linux":
        return OK, "not needed: services run on Linux only"
    began = time.monotonic()
    try:
        server = _redis_information(workspace)
    except RedisError as error:
        fix = "restart the services, or start the Redis that they use"
        return FAIL, f"does not answer: {error}", fix
    except (redis_server.RedisUnavailable, config.SettingError, OSError) as error:
        return FAIL, str(error), redis_server.REMEDIES
    version = server.get("valkey_version") or server.get("redis_version")
    seconds = time.monotonic() - began
    text = f"{server['source']}, version {version}, answers after {seconds:.2f} s"
    services, named = running(workspace), redis_server.configured()
    if services is not None and named is not None and named.url != services.redis:
        text += f"; commands with {named.source} use another one"
        return WARN, text, f"unset {named.source}, or restart the services"
    if server.get("maxmemory_policy") != "noeviction":
        return WARN, f"{text}, may drop keys", "set maxmemory-policy noeviction"
    return OK, text


def _redis_information(workspace: Workspace) -> dict[str, object]:
    """Return the INFO data of the Redis in use, else of the one that would be used; its source.

    Running services use the Redis of their start, whatever the environment of this command names.
    """
    services = running(workspace)
    with contextlib.ExitStack() as stack:
        if services is None:
            server = redis_server.configured_and_reachable()
        else:
            source = f"that of the services, process {services.pid}"
            server = redis_server.Address(services.redis, source)
        if server is None:
            # In a temporary folder: a check must not create a data folder.
            elsewhere = stack.enter_context(tempfile.TemporaryDirectory())
            server = stack.enter_context(redis_server.resolve(config.locate(elsewhere)))
        client = stack.enter_context(connect(server.url))
        return {**client.info("server"), **client.info("memory"), "source": server.source}


def _referee(workspace: Workspace) -> Finding:
    named, services = config.setting((config.REFEREE,)), running(workspace)
    if services is not None and services.referee:
        if grpc_probe.answers(services.referee):
            return OK, f"that of the services answers, {services.referee}"
        log = workspace.folder.service_logs / "referee-worker-1.log"
        text = f"that of the services does not answer at {services.referee}"
        return FAIL, text, f"see {log} and restart the services"
    if named is not None:
        address = named[1]
        if grpc_probe.answers(address):
            return OK, f"{address} answers"
        return FAIL, f"nobody answers at {address}", f"correct or unset {config.REFEREE}"
    began = time.monotonic()
    try:
        with own_referee() as address:
            games = ", ".join(_games_at(address))
    except InfrastructureError as error:
        return FAIL, str(error), "uv sync"
    return OK, f"starts in {time.monotonic() - began:.2f} s, plays {games}"


def _games_at(address: str) -> list[str]:
    import grpc
    from pokearena.v1 import referee_pb2, referee_pb2_grpc

    from arena.matches.runner import OPTIONS

    with grpc.insecure_channel(address, options=OPTIONS) as channel:
        stub = referee_pb2_grpc.RefereeServiceStub(channel)
        try:
            answer = stub.ListGames(referee_pb2.ListGamesRequest(), timeout=10, wait_for_ready=True)
        except grpc.RpcError as error:
            raise InfrastructureError(f"the referee does not answer: {error.code()}") from None
    return [game.id for game in answer.games]


def _services(workspace: Workspace) -> Finding:
    services = running(workspace)
    if services is None:
        return OK, "none run here; demo and tournament run bring their own"
    from arena.services.queue import worker_games, worker_registrations, worker_sandboxes

    try:
        with redis_connection.connect(services.redis) as client:
            workers = worker_registrations.workers(client)
            packages = worker_games.published_packages(client)
            troubles = incidents.read(client)
    except RedisError as error:
        text = f"run as process {services.pid}, and their Redis does not answer: {error}"
        logs = workspace.folder.service_logs
        return FAIL, text, f"see {logs / 'redis.log'} and restart them"
    alive = [worker for worker in workers if worker.alive]
    if troubles.errors:
        failed = "; ".join(f"{name} failed: {text}" for name, text in troubles.errors.items())
        return WARN, failed, f"see {workspace.folder.service_logs / 'services.log'}"
    text = f"run as process {services.pid}, {len(alive)} workers"
    if problems := worker_sandboxes.sandbox_problems(workers):
        return WARN, f"{text}; {'; '.join(problems)}", "see the sandbox below"
    if problems := worker_games.game_problems(packages, workers):
        fix = "install the same packages as here, and restart the workers"
        return WARN, f"{text}; {'; '.join(problems)}", fix
    if not any(worker.plays_models for worker in alive) and _has_open_model_tournament(workspace):
        words = "none plays the queue models, so matches of models occupy the workers of others"
        fix = "restart serve, or start pokearena worker --queue models"
        return WARN, f"{text}; {words}", fix
    return OK if alive else WARN, text, "" if alive else "pokearena worker"


def _has_open_model_tournament(workspace: Workspace) -> bool:
    """Return whether a tournament of the clock class `model` is not over.

    `serve` starts workers for it only if it exists when `serve` begins.
    """
    is_open = partial(tournaments.list_tournaments, over=False)
    classes = {each.plan.clock.clock_class for each in _stored(workspace, is_open) or ()}
    return ClockClass.MODEL in classes


def _matches(workspace: Workspace) -> Finding:
    """Name the matches that failures of the arena delay or made void."""
    troubled = _stored(workspace, listing.troubled)
    if not troubled:
        return OK, "none is delayed by failures or became void in 24 hours"
    delayed = [match for match in troubled if match.state in OPEN]
    void = [match for match in troubled if match.state is MatchState.VOID]
    counts = [f"{len(delayed)} delayed"] * bool(delayed) + [f"{len(void)} void"] * bool(void)
    first = (delayed or void)[0]
    reason = one_line(listing.waiting_reason(first) or first.reason or "its worker was lost")
    logs = workspace.folder.service_logs
    fix = f"pokearena tournament show {first.tournament}; see the logs in {logs}"
    return WARN, f"{' and '.join(counts)} after failures of the arena; {first.id}: {reason}", fix


def _ladders(workspace: Workspace) -> Finding:
    from arena.submissions import open_ladders

    ladders = _stored(workspace, open_ladders.list_open_ladders)
    if not ladders:
        none = "none is open; `pokearena serve --ladder FORM` opens one"
        return OK, none
    forms = ", ".join(f"{ladder.plan.form} ({ladder.id})" for ladder in ladders)
    return OK, f"open: {forms}"


def _strengths(workspace: Workspace) -> Finding:
    """Name the ladders that are too large to be fitted without SciPy."""
    limit = f"{fit.MAX_DENSE_ENTRANTS:,} bots"
    if kept_strengths.has_scipy():
        return OK, f"fitted for more than {limit}, too, by SciPy"
    unfitted = _stored(workspace, ladder_rows.unfitted_ladders)
    if not unfitted:
        return OK, f"fitted for up to {limit}"
    text = f"not up to date, with more than {limit}: {', '.join(unfitted)}"
    return WARN, text, "pip install pokearena[large-ladders]"


def _remotes(workspace: Workspace) -> Finding:
    remotes = _stored(workspace, remote_bots.list_remote_bots)
    if not remotes:
        return OK, "no remote bots"
    lacking = _stored(workspace, offline_bot_waits.waited_for)
    connected = sum(remote.is_connected for remote in remotes.values())
    text = f"{connected} of {len(remotes)} bots are there"
    services = running(workspace)
    if services is not None and services.relay:
        text += f"; they connect to {services.relay}"
    if not lacking:
        return OK, text
    waits = ", ".join(f"{name} ({matches})" for name, matches in lacking.items())
    fix = "pokearena bot connect, where the bot is, and serve --relay here"
    return WARN, f"{text}; matches wait for {waits}", fix


def _webhooks(workspace: Workspace) -> Finding:
    hooks = _stored(workspace, webhooks.list_webhooks) or ()
    disabled = [hook for hook in hooks if hook.disabled is not None]
    if not disabled:
        return OK, f"{len(hooks) or 'none'}"
    text = "disabled: " + ", ".join(f"{hook.id} ({hook.reason})" for hook in disabled)
    return WARN, text, f"correct the receiver, then `pokearena webhook test {disabled[0].id}`"


def _models(workspace: Workspace) -> Finding:
    """Check `models.toml` and the variables of its keys."""
    try:
        file = read_models(workspace.folder.root)
        keys = () if file is None else missing_keys(file)
    except (ModelsFileError, config.SettingError) as error:
        return FAIL, str(error), "correct it; see docs/how-to/models.md"
    if file is None:
        return OK, "none; hosted bots use no language models"
    names = ", ".join(file.models) or "none"
    if keys:
        fix = f"set {keys[0]} for the workers"
        return WARN, f"{names}; not set here: {', '.join(keys)}", fix
    stopped = _stored(workspace, model_calls.are_stopped)
    if stopped:
        text = f"{names}; all calls are stopped"
        return WARN, text, "pokearena models resume"
    return OK, names


def _limits(workspace: Workspace) -> Finding:
    if sys.platform == "win32":
        return OK, "this system has none"
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    words = f"{_number(soft)} open files, at most {_number(hard)}"
    if hard != resource.RLIM_INFINITY and hard < _OPEN_FILES:
        return WARN, words, f"ulimit -n {_OPEN_FILES}"
    return OK, words


def _number(limit: int) -> str:
    return "unlimited" if limit < 0 else str(limit)


def _sandbox(workspace: Workspace) -> Finding:
    if sys.platform != "linux":
        text = "bots run unsandboxed, as processes of yours; strangers' bots are refused"
        return WARN, text, "use Linux"
    try:
        choice = chosen_level()
    except InfrastructureError as error:
        return FAIL, str(error), f"as stated, or change {SETTING}"
    level = choice.level
    fix = next((missing.fix for missing in choice.missing if missing.fix), "")
    if level is Level.UNSANDBOXED:
        text = f"bots run unsandboxed, as processes of yours; strangers' bots are refused; {level}:"
        return WARN, f"{text} {choice.reason}", fix or "add only bots you trust"
    text = f"bots run in the sandbox {choice.sentence()}; a test program could not leave it"
    if choice.is_lowered or not level.keeps_tables_apart:
        return _lowered(choice, text)
    if not has_disk(level):
        text += "; files without names do not count towards the limit of what they write"
        return WARN, text, "allow mount namespaces"
    return OK, text


def _lowered(choice: Choice, text: str) -> Finding:
    """Return the result for a level that does not keep the tables of a match apart."""
    level, stored = choice.level, stored_level.stored_level()
    if not has_disk(level):
        text += "; files without names do not count towards the limit of what they write"
    if stored is not None and level.is_below(stored):
        text += f"; this is below the level {stored} that has held on this machine"
        return WARN, text, f"unset {SETTING}"
    if is_explicit(level):
        return OK, text
    text += "; matches of pushed versions wait"
    return WARN, text, f"set {SETTING}={level} to play them"
