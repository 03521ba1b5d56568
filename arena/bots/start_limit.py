"""Limit the time to start: that of the match, or more if the `bot.toml` of the bot requests it."""

from __future__ import annotations

from arena import config
from arena.bots.bot import Bot


def granted_start_ms(bot: Bot, start_ms: int) -> int:
    """Return the milliseconds that a bot has to start.

    Args:
        bot: the bot; the `start_ms` of its manifest is granted up to the organiser's limit.
        start_ms: the milliseconds of the match, which apply to every bot.

    Raises:
        SettingError: the organiser's limit is not valid.
    """
    requested = bot.manifest.start_ms if bot.manifest else 0
    return max(start_ms, min(requested, config.most_start_ms())) if requested else start_ms
