"""The files of an upload form, as an upload archive."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import IO, Final

from starlette.datastructures import UploadFile

from arena.bots import browser_archive
from arena.bots.browser_archive import SentFile
from arena.errors import BotError

UPLOAD: Final = "account.upload"
"""Name of the form."""
_ZIP: Final = b"PK"


def packing_of(uploads: Sequence[UploadFile]) -> Callable[[IO[bytes]], None]:
    """Return the function that writes the sent files as an upload archive.

    One file that begins like a zip archive is one. The function raises BotError.
    """
    sent = [each for each in uploads if each.filename]

    def pack(output: IO[bytes]) -> None:
        if not sent:
            raise BotError("choose a zip archive or a folder.", code="missing")
        first = sent[0].file
        if len(sent) == 1 and _begins_like_zip(first):
            browser_archive.pack_zip(first, output)
        else:
            browser_archive.pack_files(list(map(_sent_file, sent)), output)

    return pack


def _begins_like_zip(file: IO[bytes]) -> bool:
    file.seek(0)
    return file.read(2) == _ZIP


def _sent_file(upload: UploadFile) -> SentFile:
    @contextlib.contextmanager
    def opened() -> Iterator[IO[bytes]]:
        # The form closes its files.
        upload.file.seek(0)
        yield upload.file

    return SentFile(upload.filename or "", upload.size or 0, 0, opened)
