"""Records as a data set: a line for every decision, as Parquet (docs/data.md).

Needs pyarrow, the extra ``data``.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from arena.presentation.form_name import form_of
from referee import replay
from referee.codec import camel, json_of
from referee.games.registry import find

if TYPE_CHECKING:
    from pathlib import Path

    from referee.record import GameRecord, Line, MatchRecord

Row = dict[str, Any]

ROWS: Final = 5_000
"""The decisions of a row group, and so the most that are in memory."""

SCHEMA: Final = pa.schema(
    [
        ("tournament", pa.string()),
        ("match", pa.string()),
        ("round", pa.int32()),
        ("game", pa.string()),
        ("form", pa.string()),
        ("options", pa.string()),
        ("seats", pa.int8()),
        ("mirrored", pa.bool_()),
        ("seed", pa.string()),
        ("number", pa.int32()),
        ("table", pa.int32()),
        ("board", pa.int32()),
        ("decision", pa.int32()),
        ("seat", pa.int8()),
        ("bot", pa.string()),
        ("hash", pa.string()),
        ("seating", pa.list_(pa.string())),
        ("action", pa.string()),
        ("words", pa.string()),
        ("ms", pa.float64()),
        ("note", pa.string()),
        ("by_referee", pa.bool_()),
        ("verdict", pa.string()),
        ("place", pa.int8()),
        ("score", pa.int32()),
        ("view", pa.string()),
    ]
)
"""The columns; docs/data.md says what they mean."""


def rows(record: MatchRecord, views: bool = False) -> Iterator[Row]:
    """The decisions of a record, in its order.

    Args:
        record: the match; while its seed is secret no views can be made.
        views: whether what the seat saw is worked out, which deals and plays every game again.

    Raises:
        Mismatch: views are wanted, and the record is not that of games that could have been played.
    """
    match = record.match
    game = find(match["game"])
    hashes = dict(map(tuple, match["entrants"]))
    agreed = {
        "tournament": match["tournament"],
        "match": match["match"],
        "round": match["round"],
        "game": game.id,
        "form": form_of(game.id, match["seats"], match["options"]),
        "options": _text(match["options"]),
        "seats": match["seats"],
        "mirrored": match.get("mirrored", True),
        "seed": record.seed.hex() if record.seed else None,
    }
    for one in record.games:
        seating, result = one.game["seating"], one.result
        scores = result["scores"]
        seen = _views(match, one, record.seed) if views and record.seed else {}
        for line in one.actions:
            seat, bot = line["seat"], seating[line["seat"]]
            yield agreed | {
                "number": one.number,
                "table": one.game["table"],
                "board": one.game["board"],
                "decision": line["decision"],
                "seat": seat,
                "bot": bot,
                "hash": hashes[bot],
                "seating": seating,
                "action": _text(line["action"]),
                "words": replay.in_words(game, line["action"]),
                "ms": line["ms"],
                "note": line.get("note"),
                "by_referee": line.get("by") == "referee",
                "verdict": result["verdicts"][seat],
                "place": result["places"][seat],
                "score": None if scores is None else scores[seat],
                "view": seen.get(line["decision"]),
            }


def _views(match: Line, game: GameRecord, seed: bytes) -> dict[int, str]:
    """What was seen at each decision of a game, in the protocol's JSON form."""
    name = camel(match["game"])
    return {
        line["decision"]: _text({name: json_of(step.state.view(line["seat"]))})
        for step in replay.steps(match, game, seed)
        for line in step.lines
    }


def _text(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


@dataclass(slots=True)
class Writing:
    """A file that is being written."""

    _file: pq.ParquetWriter
    _waiting: list[Row]
    written: int = 0
    """How many decisions, those that wait for their row group included."""

    def add(self, some: Iterable[Row]) -> None:
        """Writes these too."""
        for row in some:
            self._waiting.append(row)
            self.written += 1
            if len(self._waiting) == ROWS:
                self.flush()

    def flush(self) -> None:
        """Ends a row group."""
        self._file.write_table(pa.Table.from_pylist(self._waiting, schema=SCHEMA))
        self._waiting.clear()


@contextmanager
def writing(file: Path) -> Iterator[Writing]:
    """Writes a data set; the file is there when all of it has been written, and not before.

    Raises:
        OSError: it cannot be written.
    """
    part = file.with_name(f"{file.name}.part")
    try:
        with (
            part.open("wb") as sink,
            pq.ParquetWriter(sink, SCHEMA, compression="zstd") as parquet,
        ):
            dataset = Writing(parquet, [])
            yield dataset
            if dataset._waiting or not dataset.written:
                dataset.flush()
        part.replace(file)
    finally:
        part.unlink(missing_ok=True)
