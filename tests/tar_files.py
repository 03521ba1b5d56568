"""Unpack archives that the tests trust, on every supported Python."""

import tarfile
from pathlib import Path
from typing import Any


def extract_all(archive: tarfile.TarFile, folder: Path) -> None:
    """Unpack an archive; Python 3.11.0 to 3.11.3 lack the filters that later ones ask for."""
    options: dict[str, Any] = {"filter": "tar"} if hasattr(tarfile, "tar_filter") else {}
    archive.extractall(folder, **options)
