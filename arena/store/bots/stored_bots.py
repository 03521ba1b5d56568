"""Find stored versions as bots that can be started or reached."""

from sqlalchemy import Engine

from arena.bots.bot import Bot
from arena.config import Folder
from arena.store.bots import remote_bots, version_files, versions
from arena.store.bots.versions import Version
from arena.system.tunnel.endpoint import needed


def find_stored_bot(engine: Engine, folder: Folder, name: str, number: str | None) -> Bot | None:
    """Return a stored version as a bot; None if it does not exist.

    Args:
        folder: the data folder with the files of the versions.
        number: the number of the version; None for the newest that is not retired.
    """
    listed = versions.list_versions(engine, name=name, retired=number is not None)
    fitting = [v for v in listed if number is None or v.number == number]
    return _bot(engine, folder, fitting[-1]) if fitting else None


def active_versions(engine: Engine) -> list[str]:
    """Return all versions that are not retired, as "name@version"."""
    return [version.id for version in versions.list_versions(engine)]


def _bot(engine: Engine, folder: Folder, version: Version) -> Bot:
    if version.folder:
        where = folder.versions
        return version_files.bot(engine, version.id, version.content_hash, version.folder, where)
    if version.manifest.get("remote"):
        address = remote_bots.relay_address(engine, version.id)
        return Bot(version.id, relay=address.address, tunnel=needed(*address))
    return Bot(version.id, address=str(version.manifest["address"]))
