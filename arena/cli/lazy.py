"""A group of commands whose modules are imported only when one of them is called."""

from __future__ import annotations

import importlib
from typing import Any

import rich_click as click


class Later(click.RichCommand):
    """Stands for a command in the help of its group until it is called.

    where: "module:name" of the command itself.
    """

    def __init__(self, name: str, where: str, short: str) -> None:
        super().__init__(name=name, help=short, add_help_option=False)
        self._where = where

    def load(self) -> click.Command:
        """The command itself."""
        module, _, name = self._where.partition(":")
        found: click.Command = getattr(importlib.import_module(module), name)
        return found


class LazyGroup(click.RichGroup):
    """Knows its commands by name and a few words; imports the one that is called."""

    def later(self, name: str, where: str, short: str) -> None:
        """Adds a command that is imported when it is called."""
        self.add_command(Later(name, where, short))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, Any, list[str]]:
        """The command that the arguments name, imported."""
        name, command, rest = super().resolve_command(ctx, args)
        return name, command.load() if isinstance(command, Later) else command, rest
