"""A response of an arena, and the content of an upload."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import IO, Any, TypeAlias

Upload: TypeAlias = bytes | tuple[IO[bytes], int]
"""The body of an upload: bytes, or a binary file and the number of its bytes."""


@dataclass(frozen=True, slots=True)
class ApiAnswer:
    """A response of an arena.

    Attributes:
        status: HTTP status.
        content: members of the JSON object in its body.
        wait: seconds to wait, from the Retry-After header; None without a valid one.
    """

    status: int
    content: Mapping[str, Any]
    wait: float | None = None

    @property
    def is_success(self) -> bool:
        """Whether the arena has carried out the request."""
        return self.status < 300

    @property
    def sentence(self) -> str:
        """The reason of a refusal."""
        return str(self.content.get("error") or f"HTTP status {self.status}.")
