"""Build bots, and register them as versions in the store, for `bot add` and tournaments."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shlex
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from arena.bots.bot import Bot
from arena.bots.build import Report, build
from arena.bots.manifest import NAME, VERSION, read_model
from arena.bots.version_store import FETCHED, admit, content_hash
from arena.cli import output
from arena.cli.errors import usage_error
from arena.cli.output import long_operation
from arena.cli.workspace import Workspace
from arena.errors import Conflict
from arena.store.bots import remote_bots, version_files, versions
from arena.system import private_files
from referee.sanitizing import quote

if TYPE_CHECKING:
    from arena.store.bots.versions import Version


def with_network(bot: Bot, *, granted: bool) -> Bot:
    """Return a bot of a local folder with [model] in its manifest as one with the network.

    Other bots stay as they are: a stored version came from somebody else. Unless the author has
    `granted` it by `--network`, a hint is printed; bots with models of a `models.toml` need none.
    """
    if bot.manifest is None or bot.folder is None or bot.file is not None or bot.content:
        return bot
    endpoint = read_model(bot.folder, bot.manifest_file)
    if endpoint is None or (bot.manifest.models and not granted):
        return bot
    if not granted:
        output.hint(f"{bot.label} has [model] in its manifest; --network lets it reach its model")
        return bot
    if endpoint.key and not os.environ.get(endpoint.key):
        raise usage_error(
            f"{bot.folder / bot.manifest_file}: the environment variable {endpoint.key}, which "
            '"model.key" names, is not set; set it to the key of the endpoint.',
            "missing-key",
        )
    return replace(bot, network_key=endpoint.key)


def up_to_date(workspace: Workspace, bot: Bot) -> Bot:
    """Build the bot if necessary and return it; stored versions are already built.

    The hash of the state after the last build is kept in the data folder.

    Raises:
        BotError: the build failed.
    """
    if bot.manifest is None or bot.folder is None or bot.content or not bot.manifest.build:
        return bot
    known = _note(workspace, bot)
    with contextlib.suppress(FileNotFoundError):
        if known.read_text(encoding="ascii") == _state(bot, bot.folder):
            return bot
    with building(bot) as report:
        build(bot.manifest, bot.folder, report=report)
    workspace.folder.create()
    private_files.create_folder(known.parent)
    private_files.write_text(known, _state(bot, bot.folder))
    return bot


def building(bot: Bot) -> contextlib.AbstractContextManager[Report]:
    """Print the progress of a build, unless it is quick; yield a function that receives lines."""
    commands = bot.manifest.build if bot.manifest else ()
    if not commands:
        return contextlib.nullcontext(lambda line: None)
    words = " && ".join(map(shlex.join, commands))
    return long_operation(f"building {bot.label}: {words}")


def _note(workspace: Workspace, bot: Bot) -> Path:
    """Return the file that holds the hash of the bot's state after its last build here."""
    where = hashlib.sha256(f"{bot.folder}\n{bot.manifest_file}".encode()).hexdigest()
    return workspace.folder.root / "builds" / where[:32]


def _state(bot: Bot, folder: Path) -> str:
    """Return the hash of a bot's files and of the file names that building left behind.

    The bot is built again if the hash differs.
    """
    left = [
        (name, sorted(os.listdir(folder / name)))
        for name in sorted(FETCHED | {".venv"})
        if (folder / name).is_dir()
    ]
    return hashlib.sha256(f"{content_hash(bot)}\n{left}".encode()).hexdigest()


def register(
    workspace: Workspace,
    bot: Bot,
    *,
    name: str | None = None,
    number: str | None = None,
    owner: str = "",
) -> Version:
    """Return the version of a bot in the store; build and add it if it is new.

    A bot without a version number gets that of the same content, or else the next whole number.

    Args:
        workspace: the data folder and its store.
        bot: the bot.
        name: replaces the name in its bot.toml; required for a remote bot.
        number: replaces the version in its bot.toml.
        owner: the owner; "" keeps the stored one.

    Raises:
        BotError: the bot cannot be stored or built.
        Conflict: the version exists with other content.
    """
    _check(name, number)
    stored = _stored(workspace, bot)
    if stored is not None and name is None and number is None:
        return versions.set_owner(workspace.store, stored, owner)
    # Before the build, which can take long.
    if new_name := name or (bot.manifest.name if bot.manifest else ""):
        versions.check_known_or_new(workspace.store, new_name)
    if bot.remote:
        return versions.set_owner(
            workspace.store, _register_remote(workspace, bot, name, number), owner
        )
    with building(bot) as report:
        kept = admit(bot, workspace.folder.versions, report)
    assert kept.manifest is not None
    assert kept.folder is not None
    name = name or kept.manifest.name
    number = number or kept.manifest.version
    number = number or versions.number_for(workspace.store, name, kept.content)
    values: dict[str, Any] = kept.manifest.stored_values()
    if workspace.folder.stores_builds():
        version_files.keep(workspace.store, kept)
    return versions.add_version(
        workspace.store, name, number, kept.content, str(kept.folder), values, owner
    )


def register_house_bot(workspace: Workspace, bot: Bot) -> Version:
    """Register a house bot, whose content may have changed with the arena."""
    try:
        return register(workspace, bot)
    except Conflict:
        changed = replace(bot, content="")
        kept = admit(changed, workspace.folder.versions)
        assert kept.manifest is not None
        return register(workspace, bot, number=f"{kept.manifest.version}-{kept.content[:6]}")


def _check(name: str | None, number: str | None) -> None:
    if name is not None and not NAME.fullmatch(name):
        raise usage_error(
            f'"{quote(name, 60)}" is not a valid bot name; use 1 to 40 '
            "lowercase letters, digits, - and _.",
            "invalid-name",
        )
    if number is not None and not VERSION.fullmatch(number):
        raise usage_error(
            f'"{quote(number, 60)}" is not a valid version; use 1 to 40 '
            "letters, digits, ., - and _.",
            "invalid-version",
        )


def register_relayed(
    workspace: Workspace, name: str, number: str | None = None, owner: str = ""
) -> tuple[Version, str]:
    """Add a new version of a bot that connects to the relay; return it with its token."""
    _check(name, number)
    return remote_bots.add_relayed(
        workspace.store, name, number or versions.free_number(workspace.store, name), owner
    )


def _register_remote(
    workspace: Workspace, bot: Bot, name: str | None, number: str | None
) -> Version:
    if bot.address is None:
        raise usage_error(
            f"{bot.label} is registered already as a bot that connects to the "
            "relay; `pokearena bot add --remote NAME` registers another."
        )
    if name is None:
        raise usage_error(
            f"{bot.label} has no bot.toml with a name; add --name NAME.", "name-required"
        )
    manifest = {"address": bot.address}
    for version in versions.list_versions(workspace.store, name=name):
        if version.manifest == manifest and number in (None, version.number):
            return version
    number = number or versions.free_number(workspace.store, name)
    return remote_bots.add_direct(workspace.store, name, number, bot.address)


def _stored(workspace: Workspace, bot: Bot) -> Version | None:
    """Return the stored version from which a bot was resolved, if any."""
    name, at, _ = bot.label.partition("@")
    if not at:
        return None
    for version in versions.list_versions(workspace.store, name=name, retired=True):
        if version.id == bot.label and version.content_hash == bot.content:
            return version
    return None
