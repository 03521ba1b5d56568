"""Transcripts of calls: one private file per version and match, for its owner and the organiser.

They contain hidden cards and the author's prompts, so no page shows them.
"""

from __future__ import annotations

import errno
import hashlib
import json
import threading
from collections import defaultdict, deque
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from arena.system import private_files

TRANSCRIPT: Final = ".models.jsonl"
"""End of the name of a transcript, after the version."""
MOST_BYTES: Final = 64 << 20
"""Size of a transcript above which nothing is added: a token can have a hundred bytes."""
_Key = tuple[int, int, str]


@dataclass(frozen=True, slots=True)
class TranscriptEntry:
    """A call as it is stored.

    Attributes:
        attempt: number of the match's attempt.
        table: number of the table.
        seat: number of the seat.
        model: name of the model in `models.toml`.
        request: the forwarded members.
        text: the text of the reply.
        refusal: the text of a refusal by the model.
        finish: why the reply ended.
        tokens: tokens of input and output, or null if the endpoint sent none.
    """

    attempt: int
    table: int
    seat: int
    model: str
    request: dict[str, Any]
    text: str
    refusal: str
    finish: str
    tokens: tuple[int, int] | None


class TranscriptWriter:
    """Appends the calls of a version in a match to its file. Thread-safe."""

    def __init__(self, folder: Path, version: str) -> None:
        self._path = folder / f"{version}{TRANSCRIPT}"
        self._lock = threading.Lock()

    def add(self, entry: TranscriptEntry) -> None:
        """Append a call, as long as the file has at most `MOST_BYTES`.

        Raises:
            OSError: the file cannot be written, or is full.
        """
        values = {name: getattr(entry, name) for name in entry.__slots__}
        line = json.dumps(values) + "\n"
        with self._lock:
            private_files.create_folder(self._path.parent)
            with open(self._path, "a", encoding="utf-8", opener=private_files.opener) as file:
                if file.tell() + len(line) > MOST_BYTES:
                    raise OSError(errno.EFBIG, "it is full")
                file.write(line)


class RecordedReplies:
    """The replies of a transcript, by table, seat and request. Thread-safe."""

    def __init__(self, folder: Path, version: str) -> None:
        """Read the transcript of a version.

        Raises:
            OSError, ValueError: it cannot be read.
        """
        self._lock = threading.Lock()
        self._replies: dict[_Key, deque[TranscriptEntry]] = defaultdict(deque)
        entries = list(_entries(folder / f"{version}{TRANSCRIPT}"))
        # A game that an attempt did not finish was played again by a later one.
        for entry in sorted(entries, key=lambda entry: -entry.attempt):
            request = request_hash(entry.model, entry.request)
            self._replies[entry.table, entry.seat, request].append(entry)

    def take(
        self, table: int, seat: int, model: str, request: dict[str, Any]
    ) -> TranscriptEntry | None:
        """Return the next reply to a request; None if the transcript has no further one."""
        with self._lock:
            entries = self._replies.get((table, seat, request_hash(model, request)))
            return entries.popleft() if entries else None


def transcript_files(outputs: Path, match: str) -> list[Path]:
    """Return the transcripts of a match on this machine, one for each version, by name."""
    return sorted((outputs / match).glob(f"*{TRANSCRIPT}"))


def request_hash(model: str, request: dict[str, Any]) -> str:
    """Return a hash of a request."""
    text = json.dumps([model, request], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def _entries(path: Path) -> Iterator[TranscriptEntry]:
    with open(path, encoding="utf-8") as file:
        for line in file:
            values = json.loads(line)
            tokens = values["tokens"]
            values["tokens"] = None if tokens is None else (int(tokens[0]), int(tokens[1]))
            yield TranscriptEntry(**values)
