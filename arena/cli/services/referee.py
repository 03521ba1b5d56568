"""The command `pokearena referee`."""

from __future__ import annotations

import os
import sys

import rich_click as click

from arena.cli.options import host_and_port


def _address(context: click.Context, option: click.Parameter, text: str) -> str:
    if not text.startswith("unix:"):
        host_and_port(context, option, text)
    return text


@click.command(epilog="Example: pokearena referee --address 127.0.0.1:7070")
@click.option(
    "--address",
    required=True,
    metavar="ADDRESS",
    callback=_address,
    help="Address of the referee: unix:/path/to.sock or HOST:PORT.",
)
def referee(address: str) -> None:
    """Run one referee until Ctrl-C.

    A worker uses it if POKEARENA_REFEREE holds its address. Every client that reaches the referee
    can play games with it: use a private socket or network.
    """
    # Run as a separate program: the arena reaches every referee only through its address.
    os.execv(sys.executable, [sys.executable, "-P", "-m", "referee", "--address", address])
