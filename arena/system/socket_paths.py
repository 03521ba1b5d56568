"""Which folders can hold a Unix socket whose path becomes part of an address."""

from __future__ import annotations

import re
from typing import Final

# gRPC and Redis decode %XX in `unix:PATH`, other clients do not, and gRPC refuses spaces.
# A path of these characters is the same for all of them.
_PLAIN: Final = re.compile(r"[A-Za-z0-9/._-]*")


def is_plain(path: str) -> bool:
    """Return whether a path means the same inside an address, quoted and unquoted."""
    return _PLAIN.fullmatch(path) is not None
