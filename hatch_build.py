"""Puts the Python kit into the wheel as a module of its own, which is what hosted bots import.

A build hook, because an editable installation must find the kit in its folder, not a copy of it.
"""

from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

KIT = "sample_bots/python/pokearena_bot.py"


class KitHook(BuildHookInterface):  # type: ignore[misc]
    """Runs before a wheel is built."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Adds the kit to a wheel that is not editable."""
        if version == "standard":
            build_data["force_include"][KIT] = "pokearena_bot.py"
