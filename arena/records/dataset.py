"""Export records as a Parquet data set with game_record row per decision (docs/reference/data.md).

Requires pyarrow, the extra ``data``.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from arena.store.match_settings import Clock, ladder_name
from arena.system import output_file
from referee import replay
from referee.field_names import camel
from referee.game_codec import json_of
from referee.games.registry import find_game, form_of
from referee.reasoning import read_line

if TYPE_CHECKING:
    from pathlib import Path

    from referee.record import GameRecord, Line, MatchRecord

Row = dict[str, Any]

ROWS: Final = 5_000
"""Number of decisions in a row group, and so the maximum held in memory."""

SCHEMA: Final = pa.schema(
    [
        ("tournament", pa.string()),
        ("match", pa.string()),
        ("round", pa.int32()),
        ("game", pa.string()),
        ("form", pa.string()),
        ("ladder", pa.string()),
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
        ("reasoning", pa.string()),
        ("usage", pa.string()),
        ("by_referee", pa.bool_()),
        ("corrections", pa.int16()),
        ("default", pa.bool_()),
        ("verdict", pa.string()),
        ("place", pa.int8()),
        ("score", pa.int32()),
        ("view", pa.string()),
    ]
)
"""The columns; docs/reference/data.md describes them."""


def rows(record: MatchRecord, views: bool = False, reasoning: Iterable[str] = ()) -> Iterator[Row]:
    """Yield a row for each decision of a record, in its order.

    Args:
        record: the match. While its seed is secret, its rows have no views.
        views: whether to add the acting seat's view, which deals and replays every game.
        reasoning: the lines of the bots' reasoning to add (`referee.reasoning`).

    Raises:
        Mismatch: views are requested, and a game of the record cannot have been played.
    """
    match = record.match
    game = find_game(match["game"])
    hashes = dict(map(tuple, match["entrants"]))
    form = form_of(game.id, match["seats"], match["options"])
    agreed = {
        "tournament": match["tournament"],
        "match": match["match"],
        "round": match["round"],
        "game": game.id,
        "form": form,
        "ladder": ladder_name(form, Clock(**match["clock"]).clock_class),
        "options": _text(match["options"]),
        "seats": match["seats"],
        "mirrored": match.get("mirrored", True),
        "seed": record.seed.hex() if record.seed else None,
    }
    reasons = _reasoning_by_decision(reasoning)
    for game_record in record.games:
        seating, result = game_record.game["seating"], game_record.result
        scores = result["scores"]
        views_by_decision = _views(match, game_record, record.seed) if views and record.seed else {}
        for line in game_record.actions:
            seat, bot = line["seat"], seating[line["seat"]]
            reason = reasons.get((game_record.number, line["decision"]), {})
            yield agreed | {
                "number": game_record.number,
                "table": game_record.game["table"],
                "board": game_record.game["board"],
                "decision": line["decision"],
                "seat": seat,
                "bot": bot,
                "hash": hashes[bot],
                "seating": seating,
                "action": _text(line["action"]),
                "words": replay.in_words(game, line["action"]),
                "ms": line["ms"],
                "note": line.get("note"),
                "reasoning": reason.get("text"),
                "usage": _text(reason["usage"]) if "usage" in reason else None,
                "by_referee": line.get("by") == "referee",
                "corrections": line.get("corrections", 0),
                "default": line.get("default", False),
                "verdict": result["verdicts"][seat],
                "place": result["places"][seat],
                "score": None if scores is None else scores[seat],
                "view": views_by_decision.get(line["decision"]),
            }


def _reasoning_by_decision(lines: Iterable[str]) -> dict[tuple[int, int], Line]:
    """Return the reasoning of the last answer to each question, by game and decision."""
    return {
        (line["game"], decision["decision"]): decision
        for line in map(read_line, lines)
        for decision in line["decisions"]
    }


def _views(match: Line, game: GameRecord, seed: bytes) -> dict[int, str]:
    """Return the acting seat's view at each decision of a game, as the protocol's JSON."""
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
    """A Parquet file that is being written."""

    _file: pq.ParquetWriter
    _waiting: list[Row]
    written: int = 0
    """Number of decisions added, including those that wait for their row group."""

    def add(self, rows: Iterable[Row]) -> None:
        """Add rows; write each complete row group."""
        for row in rows:
            self._waiting.append(row)
            self.written += 1
            if len(self._waiting) == ROWS:
                self.flush()

    def flush(self) -> None:
        """Write the waiting rows as a row group."""
        self._file.write_table(pa.Table.from_pylist(self._waiting, schema=SCHEMA))
        self._waiting.clear()


@contextmanager
def writing(file: Path) -> Iterator[Writing]:
    """Open a data set for writing; the file appears only after all of it has been written.

    Raises:
        OSError: the file cannot be written; the error names it.
    """
    with (
        output_file.complete(file) as part,
        part.open("wb") as sink,
        pq.ParquetWriter(sink, SCHEMA, compression="zstd") as parquet,
    ):
        dataset = Writing(parquet, [])
        yield dataset
        if dataset._waiting or not dataset.written:
            dataset.flush()
