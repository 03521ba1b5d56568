"""Options shared by several commands."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar, cast

import rich_click as click

from arena.cli.errors import USAGE, CommandError
from arena.config import ALLOWANCE_MS, BANK_MS, REMOTE_WAIT_SECONDS, SEATS, START_MS, Bounds
from arena.services.relay_process import ADDRESS, RelayOptions
from arena.services.web_process import WebSettings

F = TypeVar("F", bound=Callable[..., Any])


def bounded(bounds: Bounds) -> click.IntRange:
    """Return the type of an option for a whole number in a range."""
    return click.IntRange(bounds.least, bounds.most)


def data_option(command: F) -> F:
    """Add --data: the data folder."""
    return click.option(
        "--data",
        envvar="POKEARENA_DATA",
        type=click.Path(path_type=Path, file_okay=False),
        metavar="FOLDER",
        help="The data folder. [default: .pokearena here]",
    )(command)


def json_option(command: F) -> F:
    """Add --json: data for programs."""
    return click.option("--json", "as_json", is_flag=True, help="JSON on standard output.")(command)


def scope_options(command: F) -> F:
    """Add [GAME] and --tournament, which select the matches that are ranked together."""
    command = click.option(
        "--tournament", metavar="ID", help="Only the matches of this tournament."
    )(command)
    return click.argument("game", required=False)(command)


def token_from_environment() -> str | None:
    """Return the token from the environment or from the file in POKEARENA_TOKEN_FILE."""
    from arena.config import setting

    token = setting(("POKEARENA_TOKEN",))
    return token[1] if token is not None else None


def workers_option(command: F) -> F:
    """Add --workers: the number of local workers."""
    return click.option(
        "--workers",
        type=click.IntRange(1, 1024),
        help="How many matches are played at a time. [default: one per core]",
    )(command)


def pages_option(default: bool) -> Callable[[F], F]:
    """Return a decorator that adds --web/--no-web: whether the pages are served as well."""
    usual = "yes" if default else "no"
    return click.option(
        "--web/--no-web", default=default, help=f"Whether pages are served. [default: {usual}]"
    )


def web_options(command: F) -> F:
    """Add --host, --port and the web settings, which are passed as `manners`."""

    @wraps(command)
    def gathered(*given: Any, **named: Any) -> Any:
        values = {field.name: named.pop(field.name) for field in fields(WebSettings)}
        return command(*given, manners=WebSettings(**values), **named)

    usual = WebSettings()
    decorated: Any = gathered
    for option in reversed(
        (
            click.option(
                "--host", default="127.0.0.1", show_default=True, help="Where the pages listen."
            ),
            click.option(
                "--port",
                type=click.IntRange(0, 65535),
                default=8000,
                show_default=True,
                help="Their port; 0 takes a free one.",
            ),
            click.option(
                "--delay",
                type=click.FloatRange(0, 86400),
                default=usual.delay,
                metavar="SECONDS",
                help="Show tables that are being played so much later.",
            ),
            click.option(
                "--spectators/--no-spectators",
                default=usual.spectators,
                help="Whether tables are shown while they are played. [default: yes]",
            ),
            click.option(
                "--watchers",
                type=click.IntRange(0, 100_000),
                default=usual.watchers,
                show_default=True,
                help="How many are told what moves at a time; one address has a quarter of it.",
            ),
            click.option(
                "--rate",
                type=click.FloatRange(0, 1e6),
                default=usual.rate,
                show_default=True,
                metavar="N",
                help="Pages a second that one address may ask for, after 200; 0: any number.",
            ),
            click.option(
                "--behind-proxy",
                "proxied",
                is_flag=True,
                help="Believe X-Forwarded-For: there is a proxy that sets it.",
            ),
            click.option(
                "--pushes",
                type=click.IntRange(0, 100_000),
                default=usual.pushes,
                show_default=True,
                metavar="N",
                help="Versions that one owner may push here within a day; 0: none.",
            ),
            click.option(
                "--push-mib",
                type=click.IntRange(1, 1024),
                default=usual.push_mib,
                show_default=True,
                metavar="MIB",
                help="How large what is pushed may be, packed.",
            ),
        )
    ):
        decorated = option(decorated)
    return cast(F, decorated)


def relay_options(command: F) -> F:
    """Add --relay and related options, which are passed as `relaying`."""

    @wraps(command)
    def gathered(*given: Any, **named: Any) -> Any:
        listen, wait = named.pop("relay"), named.pop("relay_wait")
        certificate, key = named.pop("relay_cert"), named.pop("relay_key")
        workers = named.pop("relay_workers")
        if (certificate is None) != (key is None):
            raise CommandError("--relay-cert and --relay-key belong together.", USAGE)
        if listen is not None and not ADDRESS.fullmatch(listen):
            raise CommandError(f'"{listen}" is no address to listen at; write HOST:PORT.', USAGE)
        if workers is not None:
            _check_way(listen, workers)
        relaying = RelayOptions(listen, certificate, key, wait, workers)
        return command(*given, relaying=relaying, **named)

    decorated: Any = gathered
    a_file = click.Path(path_type=Path, exists=True, dir_okay=False)
    for option in reversed(
        (
            click.option(
                "--relay",
                envvar="POKEARENA_RELAY",
                metavar="HOST:PORT",
                help="Let remote bots connect here. [default: no]",
            ),
            click.option(
                "--relay-cert",
                envvar="POKEARENA_RELAY_CERT",
                type=a_file,
                metavar="FILE",
                help="Its certificate (PEM): it speaks TLS.",
            ),
            click.option(
                "--relay-key",
                envvar="POKEARENA_RELAY_KEY",
                type=a_file,
                metavar="FILE",
                help="The key of that (PEM).",
            ),
            click.option(
                "--relay-workers",
                envvar="POKEARENA_RELAY_WORKERS",
                metavar="HOST:PORT",
                help="Let workers on other machines play the bots that connect: where they reach "
                "this one. [default: only workers here play them]",
            ),
            click.option(
                "--relay-wait",
                envvar="POKEARENA_RELAY_WAIT",
                type=click.FloatRange(0, 1e7),
                default=REMOTE_WAIT_SECONDS,
                show_default=True,
                metavar="SECONDS",
                help="How long matches wait for a remote bot that is not there.",
            ),
        )
    ):
        decorated = option(decorated)
    return cast(F, decorated)


def _check_way(listen: str | None, workers: str) -> None:
    """Raise CommandError if other machines cannot use the value of --relay-workers."""
    if listen is None:
        raise CommandError("--relay-workers says how to reach the relay of --relay.", USAGE)
    address = ADDRESS.fullmatch(workers)
    if address is None or int(address[2]) > 65535:
        raise CommandError(f'"{workers}" is no address to listen at; write HOST:PORT.', USAGE)
    if address[1].strip("[]") in ("0.0.0.0", "::", "*"):
        raise CommandError(
            f'"{workers}" is no address that another machine can reach; name the one of this '
            "machine in the workers' network.",
            USAGE,
        )


def host_and_port(
    context: click.Context, option: click.Parameter, text: str | None
) -> tuple[str, int] | None:
    """Parse HOST:PORT."""
    if text is None:
        return None
    address = ADDRESS.fullmatch(text)
    if address is None or int(address[2]) > 65535:
        raise CommandError(f'"{text}" is no address to listen at; write HOST:PORT.', USAGE)
    return address[1].strip("[]"), int(address[2])


def metrics_option(command: F) -> F:
    """Add --metrics: the address for Prometheus."""
    return click.option(
        "--metrics",
        envvar="POKEARENA_METRICS",
        metavar="HOST:PORT",
        callback=host_and_port,
        help="Tell Prometheus at /metrics there; keep it from the public. [default: no]",
    )(command)


def seats_option(command: F) -> F:
    """Add --seats: the number of seats of a game."""
    return click.option(
        "--seats",
        type=bounded(SEATS),
        help="Seats of a table. [default: the usual number of the game that fits]",
    )(command)


def game_options(command: F) -> F:
    """Add --option NAME=VALUE, and the clock of a match."""
    for option in reversed(
        (
            click.option(
                "--option",
                "pairs",
                multiple=True,
                metavar="NAME=VALUE",
                help="An option of the game, as often as needed; NAME alone means NAME=true.",
            ),
            click.option(
                "--allowance",
                type=bounded(ALLOWANCE_MS),
                default=200,
                show_default=True,
                metavar="MS",
                help="What every decision has for nothing.",
            ),
            click.option(
                "--bank",
                type=bounded(BANK_MS),
                default=10_000,
                show_default=True,
                metavar="MS",
                help="What is drawn on beyond that, once for a table.",
            ),
            click.option(
                "--start",
                type=bounded(START_MS),
                default=10_000,
                show_default=True,
                metavar="MS",
                help="What a bot has to start.",
            ),
        )
    ):
        command = option(command)
    return command


def unknown(what: str, word: str, known: list[str]) -> CommandError:
    """Return the error for an unknown name, with the nearest known one."""
    from arena.errors import nearest

    hint = nearest(word, known) or f"; there are {', '.join(known)}." * bool(known)
    return CommandError(f'there is no {what} "{word}"{hint}', USAGE)
