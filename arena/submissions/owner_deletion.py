"""Delete the data of an owner: source files, builds, output, notes, submissions and tokens.

Records and results stay, with a pseudonym instead of the owner's name, so that all ratings can
still be computed again and all matches verified.
"""

from __future__ import annotations

import errno
import logging
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from arena.bots import resolver
from arena.errors import Conflict, StoreError
from arena.models.transcripts import TRANSCRIPT
from arena.records import published_faults
from arena.store.bots import owner_data
from arena.store.objects import object_storage, stored_objects
from arena.submissions.pending_uploads import PendingUploads
from arena.system import file_tree

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from arena.config import Folder
    from arena.store.bots.owner_data import OwnerData


log = logging.getLogger("arena.submissions")


class StillInUse(Conflict):
    """A match or a submission of the owner is still being processed; retry when it has ended."""


def delete(
    engine: Engine,
    data_folder: Folder,
    owner: str,
    report: Callable[[int, int], None] = lambda *_: None,
) -> tuple[OwnerData, str]:
    """Delete the data of an owner; return what was deleted, and the pseudonym.

    The deletion may be interrupted at any time, and continues when it is started again.

    Args:
        report: is called with the numbers of redacted matches and of all matches.

    Raises:
        NotFound: the arena holds nothing of this owner.
        StillInUse: the owner's bots are withdrawn and the tokens revoked, but a match or a
            submission is still being processed.
        OSError: a file cannot be deleted.
    """
    data = owner_data.survey(engine, owner)
    owner_data.withdraw(engine, owner)
    pending_uploads = PendingUploads(data_folder.submissions)
    played, processed = owner_data.running(engine, owner)
    if played or (processed and pending_uploads.is_attended):
        raise StillInUse(
            f"{owner} is withdrawn, but {played} matches and {processed} submissions of {owner} "
            "are still being processed. Run the command again when they have ended."
        )
    names = frozenset(data.versions)
    matches = owner_data.matches(engine, owner)
    for number, match in enumerate(matches, 1):
        owner_data.redact(
            engine, match, data.versions, lambda text: published_faults.without_data_of(text, names)
        )
        report(number, len(matches))
    for submission in data.submissions:
        pending_uploads.clear(submission)
    for path in files(data_folder, data, matches):
        if not file_tree.remove(path):
            raise OSError(errno.EACCES, "the file system refuses the removal", str(path))
    pseudonym = owner_data.forget(engine, data)
    _sweep(engine)
    return data, pseudonym


def _sweep(engine: Engine) -> None:
    """Delete the objects of the owner; the services sweep too if that is not possible now."""
    try:
        storage = object_storage.storage_of(engine)
        if storage is not None:
            stored_objects.sweep(engine, storage)
    except StoreError as error:
        log.warning("objects of the owner are not deleted yet: %s", error)


def files(data_folder: Folder, data: OwnerData, matches: tuple[str, ...]) -> Iterator[Path]:
    """Yield the existing files and folders with data of an owner, without uploads."""
    for content in data.contents:
        folder = data_folder.versions / content
        for path in (folder, resolver.strangers(folder), resolver.fetched(folder)):
            if path.exists():
                yield path
    for match in matches:
        folder = data_folder.outputs / match
        if folder.is_dir():
            for version in data.versions:
                logs = (folder / f"{version}{end}" for end in (".log", TRANSCRIPT))
                yield from (path for path in logs if path.exists())
