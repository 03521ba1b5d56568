"""Read the bot in an upload archive, from a program or a browser, with the same checks."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from arena.bots import resolver, upload_archive, version_store
from arena.bots.bot import Bot
from arena.errors import BotError
from arena.submissions.admission import SubmissionRefused
from arena.system import file_tree


def read_uploaded_bot(archive: Path, folder: Path) -> tuple[Bot, str]:
    """Extract an archive into a new folder; return its bot, which is not trusted, and its hash.

    Raises:
        SubmissionRefused: the archive is missing, or it or its bot is not valid.
    """
    file_tree.remove(folder)
    folder.mkdir(mode=0o700)
    try:
        upload_archive.unpack(archive, folder)
        bot = replace(resolver.from_folder(folder), trusted=False)
        return bot, version_store.content_hash(bot)
    except FileNotFoundError:
        raise SubmissionRefused(422, "the upload is missing; push it again.") from None
    except BotError as error:
        raise SubmissionRefused(422, str(error)) from None
