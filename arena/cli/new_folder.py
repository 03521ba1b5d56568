"""Write a folder of files completely or not at all."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from arena.cli.errors import FAILED, CommandError
from arena.system.temporary_folder import remove_abandoned, temporary_folder


@contextmanager
def new_folder(folder: Path, status: int = FAILED) -> Iterator[Path]:
    """Yield a folder whose content is in `folder` after the block; after an error nothing is."""
    try:
        remove_abandoned(folder)
        exists = folder.exists()
        if exists and (not folder.is_dir() or any(folder.iterdir())):
            sentence = f"{folder} is not empty; choose a new folder."
            raise CommandError(sentence, status, code="not-empty")
        base = next(path for path in (folder, *folder.absolute().parents) if path.exists())
        with temporary_folder(base) as staging:
            staged = staging / "new"
            staged.mkdir()
            yield staged
            if not exists:
                folder.parent.mkdir(parents=True, exist_ok=True)
                staged.rename(folder)
                return
            for path in staged.iterdir():
                path.rename(folder / path.name)
    except OSError as error:
        reason = error.strerror or str(error)
        sentence = f"{folder} cannot be written: {reason}. Nothing was left behind."
        raise CommandError(sentence, FAILED, code="cannot-write") from None
