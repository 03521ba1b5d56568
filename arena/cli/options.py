"""Options shared by several commands."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import fields
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast
from urllib.parse import urlsplit

import rich_click as click

from arena.cli import completers
from arena.cli.errors import name_of, source_of, usage_error
from arena.config import (
    ALLOWANCE_MS,
    BANK_MS,
    BOARDS,
    CORRECTIONS,
    REMOTE_WAIT_SECONDS,
    SEATS,
    START_MS,
    Bounds,
    setting,
)
from referee.sanitizing import is_blank

if TYPE_CHECKING:
    from arena.services.relay_process import RelayOptions

F = TypeVar("F", bound=Callable[..., Any])
Decorator = Callable[[Any], Any]


_COUNT = click.IntRange(0, 100_000)


def bounded(bounds: Bounds) -> click.IntRange:
    """Return the type of an option for a whole number in a range."""
    return click.IntRange(bounds.least, bounds.most)


def _with_options(command: F, options: Sequence[Decorator]) -> F:
    """Add options, in the order in which `--help` prints them."""
    decorated: Any = command
    for option in reversed(options):
        decorated = option(decorated)
    return cast(F, decorated)


def data_option(command: F) -> F:
    """Add --data: the data folder, which is passed as `workspace`."""

    @wraps(command)
    def opened(*given: Any, data: Path | None, **named: Any) -> Any:
        from arena.cli.workspace import Workspace

        return command(*given, workspace=Workspace(data), **named)

    return click.option(
        "--data",
        envvar="POKEARENA_DATA",
        type=click.Path(path_type=Path, file_okay=False),
        metavar="FOLDER",
        help="Data folder. [default: .pokearena in the current folder]",
    )(cast(F, opened))


def json_option(command: F) -> F:
    """Add --json: data for programs."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON on standard output.")(
        command
    )


def given_text(context: click.Context, parameter: click.Parameter, text: str | None) -> str | None:
    """Return the value of an option; refuse an empty one, as an unset shell variable gives it."""
    if text is not None and is_blank(text):
        raise click.BadParameter("is empty; write a text, or leave the option out.")
    return text


def reason_option(shown: str) -> Callable[[F], F]:
    """Return a decorator that adds --reason, which a correction requires; `shown` is its help."""

    def reason(context: click.Context, parameter: click.Parameter, text: str) -> str:
        return (given_text(context, parameter, text) or "").strip()

    return click.option("--reason", required=True, callback=reason, metavar="TEXT", help=shown)


def scope_options(command: F) -> F:
    """Add [GAME] and --tournament, which select the matches that are ranked together."""
    command = click.option(
        "--tournament",
        metavar="ID",
        shell_complete=completers.tournaments,
        help="Only the matches of this tournament.",
    )(command)
    return click.argument("game", required=False, shell_complete=completers.forms)(command)


def sprt_options(command: F) -> F:
    """Add --alpha, --beta and --model: error rates and scale of an SPRT."""
    command = click.option(
        "--model",
        type=click.Choice(["logistic", "normalized"]),
        default="logistic",
        show_default=True,
        help="Unit of LOW and HIGH: Elo points, or normalized by the standard deviation of a game.",
    )(command)
    command = click.option(
        "--beta",
        type=float,
        default=0.05,
        show_default=True,
        help="Probability of the verdict LOW if HIGH is true.",
    )(command)
    return click.option(
        "--alpha",
        type=float,
        default=0.05,
        show_default=True,
        help="Probability of the verdict HIGH if LOW is true.",
    )(command)


def token_from_environment() -> str | None:
    """Return the token from the environment or from the file in POKEARENA_TOKEN_FILE."""
    token = setting(("POKEARENA_TOKEN",))
    return token[1] if token is not None else None


def required_token(token: str | None) -> str:
    """Return the token; raises CommandError without one."""
    if not token:
        raise usage_error(
            "no token given; set POKEARENA_TOKEN or use --token. The organiser of the arena "
            "creates tokens.",
            "no-token",
        )
    return token


def ca_option(command: F) -> F:
    """Add --ca: the certificates that are trusted instead of those of the system."""
    return click.option(
        "--ca",
        "authority",
        type=click.Path(path_type=Path, exists=True, dir_okay=False),
        metavar="FILE",
        help="Trusted certificates (PEM). [default: those of the system]",
    )(command)


def workers_option(command: F) -> F:
    """Add --workers: the number of local workers."""
    return click.option(
        "--workers",
        type=click.IntRange(1, 1024),
        help="Number of matches played at the same time. [default: one per core]",
    )(command)


def pages_option(default: bool) -> Callable[[F], F]:
    """Return a decorator that adds --web/--no-web: whether the pages are served as well."""
    usual = "yes" if default else "no"
    return click.option(
        "--web/--no-web", default=default, help=f"Serve the web pages. [default: {usual}]"
    )


def _site(context: click.Context, parameter: click.Parameter, url: str) -> str:
    """Return a public URL without the slash at its end."""
    try:
        parts = urlsplit(url)
        is_valid = parts.scheme in ("http", "https") and bool(parts.hostname)
    except ValueError:
        is_valid = False
    if url and (not is_valid or parts.query or parts.fragment):
        raise click.BadParameter("write an address such as https://arena.example.org.")
    return url.rstrip("/")


def _root_path(context: click.Context, parameter: click.Parameter, path: str) -> str:
    """Return the path of a proxy without the slash at its end."""
    from arena.services.web_process import checked_root_path

    checked = checked_root_path(path)
    if checked is None:
        raise click.BadParameter(
            "write a path such as /arena, of letters, digits and the characters . _ ~ -."
        )
    return checked


def _agents(context: click.Context, parameter: click.Parameter, value: bool) -> bool:
    """Check that the package for agents is installed."""
    from importlib.util import find_spec

    if value and find_spec("mcp") is None:
        raise click.BadParameter("the package mcp is not installed; install pokearena[mcp].")
    return value


def _common_root_path(root_path: str, site: str) -> str:
    """Return the path that `--root-path` and `--site` name; one of them may be empty."""

    from arena.services.web_process import checked_root_path

    path = checked_root_path(urlsplit(site).path)
    if path is None or (site and root_path and path != root_path):
        expected = root_path or "/arena"
        raise usage_error(
            f"--site {site}: the path must be the one of --root-path, for example "
            f"https://arena.example.org{expected}.",
            "root-path",
        )
    return path or root_path


def web_options(command: F) -> F:
    """Add --host, --port and the web settings, which are passed as `web_settings`."""
    from arena.services.web_process import WebSettings

    @wraps(command)
    def gathered(*given: Any, **named: Any) -> Any:
        values = {field.name: named.pop(field.name) for field in fields(WebSettings)}
        values["root_path"] = _common_root_path(values["root_path"], values["site"])
        return command(*given, web_settings=WebSettings(**values), **named)

    options = [*_access_options(), *_submission_options(), *_play_options(), *_site_options()]
    return _with_options(cast(F, gathered), options)


def _web_setting(
    flag: str,
    kind: click.ParamType[Any],
    shown: str,
    *,
    metavar: str | None = "N",
    name: str = "",
) -> Decorator:
    """Return the option of a setting of the web pages, with its default.

    The setting has the name of the flag unless another one is given.
    """
    from arena.services.web_process import WebSettings

    name = name or flag.removeprefix("--").replace("-", "_")
    usual = getattr(WebSettings(), name)
    return click.option(
        flag, name, type=kind, default=usual, show_default=True, metavar=metavar, help=shown
    )


def _access_options() -> list[Decorator]:
    """Return the options of addresses, and the limits of clients that read pages."""
    return [
        click.option(
            "--host",
            default="127.0.0.1",
            show_default=True,
            help="Address at which the web pages listen.",
        ),
        click.option(
            "--port",
            type=click.IntRange(0, 65535),
            default=8000,
            show_default=True,
            help="Port of the web pages; 0 chooses a free one.",
        ),
        click.option(
            "--delay",
            type=click.FloatRange(0, 86400),
            default=0.0,
            metavar="SECONDS",
            help="Delay with which running tables are shown.",
        ),
        click.option(
            "--spectators/--no-spectators",
            default=True,
            help="Show tables while they are played. [default: yes]",
        ),
        _web_setting(
            "--watchers",
            click.IntRange(0, 100_000),
            "Maximum number of clients with live updates; one address gets at most a quarter.",
            metavar=None,
        ),
        _web_setting(
            "--rate",
            click.FloatRange(0, 1e6),
            "Requests per second and address, after a burst of 200; 0: no limit.",
        ),
        click.option(
            "--behind-proxy",
            "proxied",
            is_flag=True,
            help="Trust X-Forwarded-For, -Host, -Proto and -Prefix; only behind a proxy that sets "
            "or removes them.",
        ),
    ]


def _submission_options() -> list[Decorator]:
    """Return the limits of what owners of bots can send."""
    return [
        _web_setting(
            "--pushes",
            _COUNT,
            "Maximum number of versions that an owner can push per day; 0: none.",
        ),
        _web_setting(
            "--push-mib",
            click.IntRange(1, 1024),
            "Maximum size of a pushed bot, packed.",
            metavar="MIB",
        ),
        _web_setting(
            "--max-active-versions",
            _COUNT,
            "Maximum number of versions of an owner that are not retired; 0: no limit.",
            name="active_versions",
        ),
        click.option(
            "--approve-pushes",
            is_flag=True,
            help="Hold pushed bots after their tests until an organiser approves them "
            "(/organiser/submissions, `bot approve`).",
        ),
        _web_setting(
            "--builds",
            click.IntRange(1, 64),
            "Maximum number of pushed bots, of different owners, that are built and tested at "
            "the same time; each build may use 3 GiB of memory.",
        ),
        _web_setting(
            "--build-seconds",
            click.FloatRange(1, 86_400),
            "Time limit of all build commands of a pushed bot together.",
            metavar="SECONDS",
        ),
        _web_setting(
            "--challenges", _COUNT, "Maximum number of challenges of an owner per day; 0: none."
        ),
        _web_setting(
            "--challenge-boards", bounded(BOARDS), "Maximum number of boards of a challenge."
        ),
    ]


def _play_options() -> list[Decorator]:
    """Return the options of matches that people play on the pages."""
    return [
        click.option(
            "--play/--no-play",
            default=None,
            help="Let people play against bots on the pages. [default: only if --host is a "
            "loopback address, without --behind-proxy]",
        ),
        _web_setting(
            "--play-tables",
            click.IntRange(1, 1000),
            "Maximum number of matches of people at the same time; one client gets at most half.",
        ),
        click.option(
            "--agents",
            is_flag=True,
            callback=_agents,
            help="Let agents with a token play unrated matches by the Model Context Protocol, at "
            "/mcp (`owner agent`).",
        ),
    ]


def _site_options() -> list[Decorator]:
    """Return the options of the public address of the pages."""
    return [
        click.option(
            "--site",
            default="",
            metavar="URL",
            callback=_site,
            help="Public address of the web pages, for links in feeds and webhooks.",
        ),
        click.option(
            "--root-path",
            default="",
            metavar="PATH",
            callback=_root_path,
            help="Path below which a proxy shows the web pages, such as /arena. [default: that of "
            "--site; with --behind-proxy also that of X-Forwarded-Prefix]",
        ),
    ]


def relay_options(command: F) -> F:
    """Add --relay and related options, which are passed as `relaying`."""

    @wraps(command)
    def gathered(*given: Any, **named: Any) -> Any:
        from arena.services.relay_process import RelayOptions

        names = ("relay", "relay_cert", "relay_key", "relay_wait", "relay_workers")
        relaying = RelayOptions(*(named.pop(name) for name in names))
        _check_relay(relaying)
        return command(*given, relaying=relaying, **named)

    a_file = click.Path(path_type=Path, exists=True, dir_okay=False)
    options = [
        click.option(
            "--relay",
            envvar="POKEARENA_RELAY",
            metavar="HOST:PORT",
            help="Address at which remote bots connect. [default: none]",
        ),
        click.option(
            "--relay-cert",
            envvar="POKEARENA_RELAY_CERT",
            type=a_file,
            metavar="FILE",
            help="Certificate of the relay (PEM); it then uses TLS.",
        ),
        click.option(
            "--relay-key",
            envvar="POKEARENA_RELAY_KEY",
            type=a_file,
            metavar="FILE",
            help="Private key of the certificate (PEM).",
        ),
        click.option(
            "--relay-workers",
            envvar="POKEARENA_RELAY_WORKERS",
            metavar="HOST:PORT",
            help="Address of this machine in the workers' network, so that "
            "workers on other machines can play remote bots. [default: "
            "only local workers]",
        ),
        click.option(
            "--relay-wait",
            envvar="POKEARENA_RELAY_WAIT",
            type=click.FloatRange(0, 1e7),
            default=REMOTE_WAIT_SECONDS,
            show_default=True,
            metavar="SECONDS",
            help="Time for which a match waits for a remote bot that is not connected.",
        ),
    ]
    return _with_options(cast(F, gathered), options)


def _check_relay(options: RelayOptions) -> None:
    """Raise CommandError if an address is invalid, or an option lacks another one."""
    if (options.certificate is None) != (options.key is None):
        given, missing = ("relay_key", "--relay-cert")
        if options.key is None:
            given, missing = ("relay_cert", "--relay-key")
        raise usage_error(
            f"{source_of(given)} also requires {missing}: TLS needs both files.",
            "option-combination",
        )
    if options.listen is not None:
        _address(source_of("relay"), options.listen)
    if options.workers is not None:
        _check_workers_address(options.listen, options.workers)


def _check_workers_address(listen: str | None, workers: str) -> None:
    """Raise CommandError if other machines cannot use the value of --relay-workers."""
    name = source_of("relay_workers")
    if listen is None:
        raise usage_error(f"{name} requires --relay (POKEARENA_RELAY).", "option-combination")
    if _address(name, workers)[0] in ("0.0.0.0", "::", "*"):
        raise usage_error(
            f'{name}: other machines cannot reach "{workers}"; write '
            "the address of this machine in the network of the workers.",
            "unreachable-address",
        )


def host_and_port(
    context: click.Context, option: click.Parameter, text: str | None
) -> tuple[str, int] | None:
    """Parse HOST:PORT."""
    return None if text is None else _address(name_of(context, option), text)


def _address(name: str, text: str) -> tuple[str, int]:
    """Return host and port of the option with this name."""
    from arena.services.relay_process import ADDRESS

    address = ADDRESS.fullmatch(text)
    if address is None or int(address[2]) > 65535:
        raise usage_error(
            f'{name}: "{text}" is not a valid address; write HOST:PORT.', "invalid-address"
        )
    return address[1].strip("[]"), int(address[2])


def sandbox_option(command: F) -> F:
    """Add --sandbox: it sets POKEARENA_SANDBOX for this process and its child processes."""
    from arena.bots.sandbox.level import SETTING, Level

    def select(context: click.Context, option: click.Parameter, level: str | None) -> None:
        if level is not None:
            os.environ[SETTING] = level

    return click.option(
        "--sandbox",
        type=click.Choice([str(level) for level in Level]),
        expose_value=False,
        callback=select,
        help="Sandbox level of bots, as with POKEARENA_SANDBOX. [default: the best available one]",
    )(command)


def network_option(command: F) -> F:
    """Add --network: bots that play with a language model may reach it."""
    return click.option(
        "--network",
        is_flag=True,
        help="Run bots of local folders with [model] in bot.toml without a sandbox, with the "
        "network and the environment variable of their key.",
    )(command)


def metrics_option(command: F) -> F:
    """Add --metrics: the address for Prometheus."""
    return click.option(
        "--metrics",
        envvar="POKEARENA_METRICS",
        metavar="HOST:PORT",
        callback=host_and_port,
        help="Serve metrics for Prometheus at this address, path /metrics. Do not "
        "make it public. [default: none]",
    )(command)


def seats_option(command: F) -> F:
    """Add --seats: the number of seats of a game."""
    return click.option(
        "--seats",
        type=bounded(SEATS),
        help="Number of seats at a table. [default: the first that fits the game and the bots]",
    )(command)


def game_options(command: F) -> F:
    """Add --option NAME=VALUE, and the clock of a match."""
    options = [
        click.option(
            "--option",
            "pairs",
            shell_complete=completers.game_options,
            multiple=True,
            metavar="NAME=VALUE",
            help="Option of the game; repeatable. NAME alone means NAME=true.",
        ),
        click.option(
            "--allowance",
            type=bounded(ALLOWANCE_MS),
            default=ALLOWANCE_MS.usual,
            show_default=True,
            metavar="MS",
            help="Time per decision that is not charged to the bank.",
        ),
        click.option(
            "--bank",
            type=bounded(BANK_MS),
            default=BANK_MS.usual,
            show_default=True,
            metavar="MS",
            help="Additional time of a bot for a whole table.",
        ),
        click.option(
            "--start",
            type=bounded(START_MS),
            default=START_MS.usual,
            show_default=True,
            metavar="MS",
            help="Time limit for the start of a bot.",
        ),
        click.option(
            "--corrections",
            type=bounded(CORRECTIONS),
            default=CORRECTIONS.usual,
            show_default=True,
            help="Number of times that a bot may correct an illegal or unreadable answer, within "
            "the same clock.",
        ),
    ]
    return _with_options(command, options)
