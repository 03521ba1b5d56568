"""Read and write records: append-only JSON lines of a match (docs/reference/record.md)."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from referee.faults import Fault, TimeSpent
from referee.generic_codec import json_of_message
from referee.sanitizing import escaped_json

FORMAT = 1
TAGS = "tags"
"""The member of a result line with the tags that bots have set on the game."""

Line = dict[str, Any]


class RecordError(ValueError):
    """A text is not a valid record. The message is a full sentence."""


def dump(line: Line) -> str:
    """Serialize one line of a record with its newline; hidden characters use JSON escapes."""
    return escaped_json(json.dumps(line, ensure_ascii=False, separators=(",", ":"))) + "\n"


def table_count(match: Line) -> int:
    """Return the number of tables of a match line; by default one per entrant."""
    return int(match.get("tables", len(match["entrants"])))


def game_line(
    game: int,
    board: int,
    table: int,
    seating: Sequence[str],
    sandbox: str = "",
    package: Mapping[str, str] | None = None,
) -> Line:
    """Build the first line of a game; an empty `sandbox` and an empty `package` are omitted."""
    line: Line = {"type": "game", "game": game, "board": board, "table": table}
    line["seating"] = list(seating)
    if sandbox:
        line["sandbox"] = sandbox
    if package:
        line["package"] = dict(package)
    return line


@dataclass(frozen=True, slots=True)
class Remarks:
    """What the line of an action states besides the action and its time."""

    note: str = ""
    """The bot's note on its action."""
    by_referee: bool = False
    """Whether the referee acted for a seat that is out."""
    corrections: int = 0
    """Number of corrections before the answer."""
    played_default: bool = False
    """Whether the bot did not decide, and played a default action."""
    excused_ms: float = 0.0
    """Milliseconds in which a model of the bot failed, beside the time of the decision."""


BY_REFEREE = Remarks(by_referee=True)


def action_line(
    game: int,
    decision: int,
    seat: int,
    action: str,
    ms: float,
    remarks: Remarks,
    bank_ms: int | None = None,
    message: tuple[int, int] | None = None,
) -> str:
    """Serialize the line of an action.

    Args:
        game: the game's number within the match.
        decision: the decision's number within the game.
        seat: the seat that acted.
        action: the action in the protocol's JSON form, as text.
        ms: the time of the decision in milliseconds.
        remarks: what else the line states.
        bank_ms: the bank in the question; None if unchanged since the seat's previous one.
        message: number of the message that held the question, and the question's index in it. None
            if the order of messages follows from the games.
    """
    # Formatted by hand because every decision writes a line: 8 times as fast as json.
    remark = f',"note":{json.dumps(remarks.note, ensure_ascii=False)}' if remarks.note else ""
    by = ',"by":"referee"' if remarks.by_referee else ""
    tries = f',"corrections":{remarks.corrections}' if remarks.corrections else ""
    default = ',"default":true' if remarks.played_default else ""
    excused = f',"excused_ms":{remarks.excused_ms:.3f}' if remarks.excused_ms else ""
    bank = "" if bank_ms is None else f',"bank_ms":{bank_ms}'
    within = "" if message is None else f',"message":[{message[0]},{message[1]}]'
    return (
        f'{{"type":"action","game":{game},"decision":{decision},"seat":{seat},'
        f'"action":{action},"ms":{ms:.3f}{excused}{remark}{by}{tries}{default}{bank}{within}}}\n'
    )


def fault_line(fault: Fault) -> Line:
    """Build the line of a fault; empty details are omitted."""
    line: Line = {
        "type": "fault",
        "game": fault.game,
        "decision": fault.decision,
        "seat": fault.seat,
        "verdict": str(fault.verdict),
        "sentence": fault.sentence,
    }
    if fault.spent is not None:
        line["clock"] = _clock(fault.spent)
    if fault.question is not None:
        line["question"] = json_of_message(fault.question)
    if fault.answer is not None:
        line["answer"] = json_of_message(fault.answer)
    if fault.exit_status is not None:
        line["exit_status"] = fault.exit_status
    if fault.output_in is not None:
        line["output_in"] = fault.output_in
    for name in ("ended", "signal", "peak_memory", "output"):
        if value := getattr(fault, name):
            line[name] = value
    return line


def _clock(spent: TimeSpent) -> Line:
    clock: Line = {"ms": round(spent.ms, 3), "limit_ms": round(spent.limit_ms, 3)}
    if spent.allowance_ms is not None:
        clock["allowance_ms"] = spent.allowance_ms
    if spent.bank_ms is not None:
        clock["bank_ms"] = round(spent.bank_ms, 3)
    if spent.questions > 1:
        clock["questions"] = spent.questions
    if spent.message is not None:
        clock["message"] = list(spent.message)
    return clock


@dataclass(frozen=True, slots=True)
class GameRecord:
    """One game of a record: its parsed lines by type."""

    game: Line
    actions: tuple[Line, ...]
    faults: tuple[Line, ...]
    result: Line

    @property
    def number(self) -> int:
        """Return the game's number within the match."""
        return int(self.game["game"])

    @property
    def text(self) -> str:
        """Serialize the lines of the game."""
        lines: Iterable[Line] = (self.game, *self.actions, *self.faults, self.result)
        return "".join(map(dump, lines))


@dataclass(frozen=True, slots=True)
class MatchRecord:
    """A record, complete or up to the games finished so far."""

    match: Line
    games: tuple[GameRecord, ...]
    seed: bytes | None = None
    """The match's seed, 32 bytes; None until it is revealed."""


@dataclass(slots=True)
class _Reading:
    game: Line
    actions: list[Line] = field(default_factory=list)
    faults: list[Line] = field(default_factory=list)


def read(text: str) -> MatchRecord:
    """Parse a record.

    Raises:
        RecordError: the text is not a valid record; the message names the line and the error.
    """
    match: Line | None = None
    seed: bytes | None = None
    games: list[GameRecord] = []
    for number, line in _numbered(text):
        if number == 1 or line["type"] == "match":
            match = _match_line(line, number)
        elif line["type"] == "seed":
            seed = _seed(line, number)
    games = list(read_games(text))
    if match is None:
        raise RecordError('the record is empty; its first line would be a "match" line')
    return MatchRecord(match, tuple(games), seed)


def read_games(text: str) -> Iterator[GameRecord]:
    """Parse the games in record lines, which may be a part of a record.

    Raises:
        RecordError: a line is out of order.
    """
    reading: _Reading | None = None
    for number, line in _numbered(text):
        kind = line["type"]
        if kind == "game":
            if reading is not None:
                raise RecordError(f"line {number}: a game begins before the last has its result")
            reading = _Reading(line)
        elif kind in ("action", "fault", "result"):
            if reading is None or line.get("game") != reading.game.get("game"):
                raise RecordError(f"line {number}: {kind} of a game that has not begun")
            if kind == "result":
                yield GameRecord(reading.game, tuple(reading.actions), tuple(reading.faults), line)
                reading = None
            else:
                (reading.actions if kind == "action" else reading.faults).append(line)
    if reading is not None:
        raise RecordError(f"its last game, {reading.game.get('game')}, has no result line")


def _numbered(text: str) -> Iterator[tuple[int, Line]]:
    for number, row in enumerate(text.split("\n"), 1):
        if not row.strip():
            continue
        try:
            line = json.loads(row)
        except ValueError as error:
            raise RecordError(f"line {number} is not valid JSON: {error}") from error
        if not isinstance(line, dict) or not isinstance(line.get("type"), str):
            raise RecordError(f'line {number} is not an object with a "type"')
        yield number, line


def _match_line(line: Line, number: int) -> Line:
    if line["type"] != "match" or number != 1:
        raise RecordError(f'line {number}: the first line, and no other, must be a "match" line')
    if line.get("format") != FORMAT:
        raise RecordError(f"record format {line.get('format')}; this program reads {FORMAT}")
    return line


def _seed(line: Line, number: int) -> bytes:
    try:
        return bytes.fromhex(line["seed"])
    except (KeyError, TypeError, ValueError) as error:
        raise RecordError(f"line {number}: a seed is 64 hexadecimal digits") from error


def optional_tally(
    corrections: Sequence[int], defaults: Sequence[int], tags: Sequence[Sequence[str]]
) -> dict[str, list[Any]]:
    """Return the counts and tags of a game that most games do not have, by seat."""
    values: dict[str, list[Any]] = {
        "corrections": list(corrections),
        "defaults": list(defaults),
        TAGS: list(map(list, tags)),
    }
    return {name: by_seat for name, by_seat in values.items() if any(by_seat)}


def result_line(
    game: int,
    places: Sequence[int],
    scores: Sequence[int] | None,
    verdicts: Sequence[str],
    tally: dict[str, list[Any]],
) -> Line:
    """Build the result line of a game; ``tally`` holds further counts by seat."""
    line: Line = {"type": "result", "game": game, "places": list(places)}
    line["scores"] = None if scores is None else list(scores)
    line["verdicts"] = list(verdicts)
    return line | tally
