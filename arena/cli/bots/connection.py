"""Run a remote bot's connection and print its events for the author."""

from __future__ import annotations

import asyncio
import shutil
import signal
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from google.protobuf.message import Message
from pokearena.v1 import bot_pb2, relay_pb2

from arena.cli import output
from arena.cli.errors import FAILED, INTERRUPTED, OK, UNREACHABLE, CommandError, usage_error
from arena.errors import BotError
from arena.remote import relay_url
from arena.remote.connector import Connector, RefusedByRelay, RelayUnreachable
from arena.remote.connector_process import Command
from arena.remote.relay_url import RelayTarget

EXPOSED: Final = (
    "the connection is not encrypted, so others can read the token; use grpcs:// for TLS."
)


def command_of(words: tuple[str, ...]) -> Command:
    """Return the command that runs the bot named by these words."""
    from arena.bots import resolver
    from arena.bots.sandbox.runtimes import bot_grants
    from arena.cli.bots import registration
    from arena.cli.workspace import Workspace

    named = Path(words[0]).expanduser()
    is_bot = words[0].startswith(resolver.SAMPLE) or named.is_dir()
    if len(words) == 1 and (is_bot or named.suffix in (".py", ".toml")):
        try:
            bot = registration.up_to_date(Workspace(), resolver.resolve(words[0]))
            assert bot.folder is not None
            return Command(bot_grants(bot).argv, bot.folder)
        except BotError as error:
            raise usage_error(str(error)) from None
    program = shutil.which(words[0])
    if program is None:
        raise usage_error(
            f'program "{words[0]}" not found; a bot is a folder with a '
            "bot.toml, a .py file, sample:NAME, or a command after --."
        )
    return Command((str(Path(program).absolute()), *words[1:]), Path.cwd())


def target_of(url: str, authority: Path | None) -> RelayTarget:
    """Return the relay at this URL."""
    try:
        return relay_url.find_relay(url, authority)
    except relay_url.InvalidRelayUrl as error:
        raise usage_error(str(error)) from None
    except relay_url.RelayNotFound as error:
        raise CommandError(str(error), UNREACHABLE) from None


def stay(
    target: RelayTarget,
    token: str,
    command: Command,
    tables: int,
    authority: Path | None,
    as_json: bool,
) -> int:
    """Stay connected until Ctrl-C or until the arena ends the connection.

    Returns:
        The exit status.
    """
    if target.exposed:
        output.warn(EXPOSED)
    messages = _ConnectionLog(as_json)
    connector = Connector(target, token, command, tables, messages, authority)
    try:
        return asyncio.run(_stay(connector, messages))
    except RefusedByRelay as refused:
        raise CommandError(str(refused), FAILED) from None
    except RelayUnreachable as error:
        raise CommandError(str(error), UNREACHABLE) from None


async def _stay(connector: Connector, messages: _ConnectionLog) -> int:
    running = asyncio.ensure_future(connector.run())
    interrupts = 0

    def interrupted() -> None:
        nonlocal interrupts
        interrupts += 1
        if interrupts == 1:
            messages("leaving", {})
            connector.leave()
        else:
            running.cancel()

    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, interrupted)
    try:
        await running
    except asyncio.CancelledError:
        messages("left", {"at_once": True})
        return INTERRUPTED
    messages("left", {"at_once": False})
    output.next_step("pokearena bot connect URL --token TOKEN -- COMMAND")
    return OK


class _ConnectionLog:
    """Prints events, one line each, as text or JSON."""

    def __init__(self, as_json: bool) -> None:
        self._as_json = as_json
        self._lost = False

    def __call__(self, word: str, what: dict[str, Any]) -> None:
        """Print one event with its details; repeated losses of the connection are printed once."""
        if word == "lost" and self._lost:
            return
        self._lost = word == "lost"
        if self._as_json:
            output.document({"event": word, **{k: _plain(v) for k, v in what.items()}})
            sys.stdout.flush()
            return
        text = _TEXTS[word](**what)
        if word in ("table", "outcome", "connected"):
            output.line(text)
            sys.stdout.flush()
        else:
            output.hint(text)


def _connected(version: str, tables: int) -> str:
    at = "one table" if tables == 1 else f"{tables} tables"
    return f"connected · {version} · plays {at} at a time · waiting"


def _table(start: bytes) -> str:
    request = bot_pb2.StartRequest.FromString(start)
    games = f"{request.games} game{'s' * (request.games != 1)}"
    return f"{request.match}  {request.game}, seat {request.seat + 1} of {request.seats}, {games}"


def _outcome(outcome: relay_pb2.Outcome) -> str:
    against = f"{outcome.match}  v {', '.join(outcome.opponents)}"
    if outcome.void_reason:
        return f"{against}  no result: {outcome.void_reason}"
    lost = outcome.games - outcome.wins - outcome.draws
    points = "–".join(map(str, (outcome.points, *outcome.others)))
    faults = f" · faults {outcome.faults}" if outcome.faults else ""
    return f"{against}  {points} · won {outcome.wins}, lost {lost} of {outcome.games}{faults}"


def _left(at_once: bool) -> str:
    return "left at once; open tables end with timeouts" if at_once else "left"


_TEXTS: Final[Mapping[str, Callable[..., str]]] = {
    "connected": _connected,
    "again": "connected again · {version}".format,
    "lost": "connection lost, reconnecting ({reason})".format,
    "table": _table,
    "outcome": _outcome,
    "leaving": "leaving after the current tables; press Ctrl-C again to leave at once".format,
    "left": _left,
}
"""The text of each event, from its details."""


def _plain(value: object) -> object:
    from google.protobuf.json_format import MessageToDict

    if isinstance(value, bytes):
        value = bot_pb2.StartRequest.FromString(value)
    if not isinstance(value, Message):
        return value
    return MessageToDict(
        value, preserving_proto_field_name=True, always_print_fields_with_no_presence=True
    )
