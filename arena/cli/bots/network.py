"""Let a local bot reach its language model, if its author grants that."""

from __future__ import annotations

import os
from dataclasses import replace

from arena.bots import manifest
from arena.bots.bot import Bot
from arena.cli import output
from arena.cli.errors import usage_error


def with_network(bot: Bot, *, granted: bool) -> Bot:
    """Return a bot of a local folder with [model] in its manifest as one with the network.

    Other bots stay as they are: a stored version came from somebody else.

    Args:
        bot: the bot.
        granted: whether the author has set `--network`. Without it, a hint is printed, unless the
            bot uses models of a `models.toml`.
    """
    if bot.manifest is None or bot.folder is None or bot.file is not None or bot.content:
        return bot
    endpoint = manifest.read_model(bot.folder, bot.manifest_file)
    if endpoint is None:
        return bot
    if not granted and bot.manifest.models:
        return bot
    if not granted:
        output.hint(f"{bot.label} has [model] in its manifest; --network lets it reach its model")
        return bot
    if endpoint.key and not os.environ.get(endpoint.key):
        raise usage_error(
            f"{bot.folder / bot.manifest_file}: the environment variable {endpoint.key}, which "
            f'"model.key" names, is not set; set it to the key of the endpoint.',
            "missing-key",
        )
    return replace(bot, network_key=endpoint.key)
