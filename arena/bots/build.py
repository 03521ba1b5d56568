"""Build a bot: run the build commands of its manifest in its folder."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final

from arena.bots import exit_report
from arena.bots.bot import Bot
from arena.bots.exit_report import MIB, Limits
from arena.bots.manifest import Manifest
from arena.bots.sandbox import runtimes
from arena.errors import BotError
from arena.system import parent_death_signal, process_info
from referee.sanitizing import quote, sanitized

if TYPE_CHECKING:
    from arena.bots.processes import BuildRights

BUILD_SECONDS: Final = 600.0
"""Time limit of all build commands of an untrusted bot together, in seconds.

Builds of trusted bots have no time limit.
"""
MAX_OUTPUT_BYTES: Final = 4096
"""Maximum number of bytes shown of a failed command's output, from its end."""
KEPT_VARIABLES: Final = (
    *("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "USER"),
    *("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "no_proxy"),
    *("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE"),
    *("CARGO_HOME", "RUSTUP_HOME", "RUSTUP_TOOLCHAIN"),
    *("GOPATH", "GOCACHE", "GOMODCACHE", "GOPROXY"),
    *("JAVA_HOME", "MAVEN_OPTS", "GEM_HOME", "NPM_CONFIG_CACHE", "UV_CACHE_DIR", "XDG_CACHE_HOME"),
)
"""Environment variables passed to the build of a trusted bot.

Compilers and package installers need them to find programs, caches and the network.
"""


Report = Callable[[str], None]
"""Receives the last line that a running build command has printed."""
_REPORT_SECONDS: Final = 0.5

NETWORK: Final = "POKEARENA_BUILD_NETWORK"
"""Environment variable that, set to 1, gives builds of untrusted bots network access."""
UNTRUSTED_LIMITS: Final = Limits(
    nofile=4096,
    fsize=512 * MIB,
    data=8192 * MIB,
    memory=3072 * MIB,
    processes=512,
    scratch=1024 * MIB,
    files=20_000,
)
"""Limits of a build of an untrusted bot; ``scratch`` and ``files`` include its folder."""


def build(
    manifest: Manifest,
    folder: Path,
    trusted: bool = True,
    report: Report = lambda line: None,
    seconds: float = BUILD_SECONDS,
) -> None:
    """Run the build commands one after another, if there are any.

    Commands of an untrusted bot run in a sandbox, together at most `seconds`. There they can write
    to the bot's folder, but use the network only if the organiser allows it (:data:`NETWORK`).

    Raises:
        BotError: a command failed; the text holds the end of its output.
        InfrastructureError: the bot is not trusted, and a sandbox is not available or failed.
    """
    if not trusted:
        _build_in_sandbox(manifest, folder, seconds)
        return
    for words in manifest.build:
        try:
            command = runtimes.grants(folder, words).argv
        except BotError as error:
            raise BotError(
                f"{manifest.name} could not be built: {error}.", code="build-failed"
            ) from None
        with tempfile.TemporaryFile() as output:
            failure = _run(command, folder, output, report)
            if failure:
                raise BotError(
                    f'{manifest.name} could not be built: "{quote(shlex.join(words))}" {failure}'
                    f"{_output_clause(_end_of(output))}",
                    code="build-failed",
                )


def _build_in_sandbox(manifest: Manifest, folder: Path, seconds: float) -> None:
    # Imported here because a trusted bot is built without these modules.
    from arena.bots.processes import BuildRights

    until = time.monotonic() + seconds
    build_rights = BuildRights(network=os.environ.get(NETWORK) == "1")
    for number, words in enumerate(manifest.build):
        end = _end_in_sandbox(manifest, words, folder, build_rights, until)
        if end.ended == "exited with status 0":
            continue
        failure = end.ended or (
            f"(command {number + 1} of {len(manifest.build)}) was running when all commands "
            f"together had taken their time limit, {seconds:g} s,"
        )
        place = "" if build_rights.network else ", without network access,"
        raise BotError(
            f'{manifest.name} could not be built{place}: "{quote(shlex.join(words))}" {failure}'
            f"{_output_clause(end.output[-MAX_OUTPUT_BYTES:].strip())}",
            code="build-failed" if end.ended else "build-timeout",
        )


def _end_in_sandbox(
    manifest: Manifest,
    words: tuple[str, ...],
    folder: Path,
    build_rights: BuildRights,
    until: float,
) -> exit_report.Report:
    """Run one command; `ended` of its report is empty if it has been stopped at `until`."""
    from arena.bots.processes import Processes
    from arena.bots.sandbox import available_levels

    bot = Bot(manifest.name, Manifest(manifest.name, words), folder, trusted=False)
    with Processes(
        limits=UNTRUSTED_LIMITS, level=available_levels.best_level(), build_rights=build_rights
    ) as processes:
        processes.start(0, bot)
        end = processes.await_end(0, max(0.0, until - time.monotonic()))
        if end is not None:
            return end
        processes.stop(0)
        return replace(processes.ends(0)[0], ended="")


def _run(command: tuple[str, ...], folder: Path, output: IO[bytes], report: Report) -> str:
    """Run one command without a time limit; return why it failed, or an empty text."""
    environment = {name: os.environ[name] for name in KEPT_VARIABLES if name in os.environ}
    try:
        process = subprocess.Popen(
            parent_death_signal.killed_with_parent(command),
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    except OSError as error:
        return f"could not be started: {error.strerror}"
    try:
        while True:
            try:
                status = process.wait(_REPORT_SECONDS)
                break
            except subprocess.TimeoutExpired:
                report(_last_line(output))
    finally:
        _kill_group(process)
    if status < 0:
        return f"was killed by {signal.Signals(-status).name}"
    return f"exited with status {status}" if status else ""


def _last_line(output: IO[bytes]) -> str:
    """Return the last line of the output so far, without moving the file's offset.

    The running command writes at the same offset.
    """
    if not hasattr(os, "pread"):  # Windows
        return ""
    size = os.fstat(output.fileno()).st_size
    end = os.pread(output.fileno(), MAX_OUTPUT_BYTES, max(0, size - MAX_OUTPUT_BYTES))
    lines = sanitized(end.decode("utf-8", "replace")).split("\n")
    return next((line.strip() for line in reversed(lines) if line.strip()), "")


def _kill_group(process: subprocess.Popen[bytes]) -> None:
    process_info.kill_group(process)
    process.wait()


def _end_of(output: IO[bytes]) -> str:
    size = output.seek(0, os.SEEK_END)
    output.seek(max(0, size - MAX_OUTPUT_BYTES))
    return sanitized(output.read().decode("utf-8", "replace")).strip()


def _output_clause(text: str) -> str:
    return f" and wrote:\n{text}" if text else " and wrote nothing."
