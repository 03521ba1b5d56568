"""Find the record of a match by its id, a prefix of the id, or a file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from arena.cli.errors import CommandError, unique_id, usage_error
from arena.cli.matches import local_matches
from arena.cli.workspace import Workspace
from arena.errors import nearest
from arena.matches import local_records
from referee.record import GameRecord, MatchRecord, RecordError, read

SeatFilter = Callable[[str, int], bool]
"""Returns whether a bot at a seat is selected."""
_PREFIX = "m-"


def seat_filter(source: RecordSource, seat: str | None) -> SeatFilter:
    """Return the filter for `seat`; None selects all."""
    names = [str(name) for name, _ in source.record.match["entrants"]]
    if seat is not None and not seat.isdecimal():
        if seat not in names and seat not in [name.partition("@")[0] for name in names]:
            hint = nearest(seat, names) or f"; available: {', '.join(names)}."
            raise usage_error(f'unknown bot in {source.id} called "{seat}"{hint}', "unknown-name")
    elif seat is not None:
        check_seat(source, int(seat))
    return lambda name, number: seat is None or seat in (name, name.partition("@")[0], str(number))


def check_seat(source: RecordSource, seat: int) -> None:
    """Raise CommandError if the match does not have this seat."""
    seats = source.record.match["seats"]
    if seat >= seats:
        raise usage_error(
            f"{source.id} has the seats 0 to {seats - 1}; there is no seat {seat}.", "unknown-seat"
        )


@dataclass(frozen=True, slots=True)
class RecordSource:
    """A record and its source."""

    record: MatchRecord
    source: Path | None
    """Its file; None if it is in the store."""

    @property
    def id(self) -> str:
        """The id of the match."""
        return str(self.record.match["match"])

    def game(self, number: int) -> GameRecord:
        """Return the game with this number."""
        for game in self.record.games:
            if game.number == number:
                return game
        numbers = [game.number for game in self.record.games]
        available = f"it has {_ranges(numbers)}" if numbers else "none is published yet"
        raise usage_error(
            f"{self.id} has no game with the number {number}, from 0; {available}.", "unknown-game"
        )

    def seed(self) -> bytes:
        """Return the seed."""
        if self.record.seed is None:
            raise CommandError(
                f"{self.id} is not closed; its cards are published after its last table.",
                code="not-closed",
            )
        return self.record.seed


def find_record(workspace: Workspace, name: str) -> RecordSource:
    """Return the record of a match.

    It is named by a file, its id, the beginning of its id, or "last": the newest local match.

    Raises:
        RecordError: the record cannot be read.
    """
    if name.strip() in ("", _PREFIX):
        raise usage_error(
            f'"{name}" names no match; write its id, a file or "{local_matches.LAST}".',
            "unknown-match",
            advice="pokearena play --list",
        )
    if name == local_matches.LAST:
        return _from_file(_last(workspace))
    path = Path(name).expanduser()
    if path.is_file():
        return _from_file(path)
    if "/" in name or name.endswith(".jsonl"):
        raise usage_error(f"file not found: {name}", "unknown-file")
    prefix = name if name.startswith(_PREFIX) else _PREFIX + name
    played = {path.stem: path for path in local_records.records(workspace.folder)}
    local = {match for match in played if match.startswith(prefix)}
    stored = _stored(workspace, prefix)
    advice = (
        "`pokearena play --list` lists the local matches, `pokearena tournament show ID` those of "
        "a tournament."
    )
    match = unique_id("match", name, prefix, local | stored, advice)
    if match in local:
        return _from_file(played[match])
    from arena.store.matches import results

    return RecordSource(read(results.record(workspace.store, match)), None)


def find_reasoning(workspace: Workspace, source: RecordSource) -> tuple[str, ...]:
    """Return the lines of the reasoning of a match (`referee.reasoning`) that are still kept.

    Raises:
        RecordError: the file with them is not valid.
    """
    if source.source is not None:
        return local_records.read_reasoning(source.source)
    from arena.store.matches import match_reasoning

    return match_reasoning.reasoning_lines(workspace.store, source.id)


def _last(workspace: Workspace) -> Path:
    kept = local_records.records(workspace.folder)
    if not kept:
        raise usage_error(
            f"no local match in {workspace.folder.plays}; `pokearena play` plays one.",
            "unknown-match",
        )
    return kept[0]


def _from_file(path: Path) -> RecordSource:
    try:
        return RecordSource(read(path.read_text(encoding="utf-8")), path)
    except RecordError as error:
        raise RecordError(f"{path} is not a valid record: {error}.") from None
    except UnicodeDecodeError:
        raise RecordError(f"{path} is not a valid record: it is not UTF-8 text.") from None


def _stored(workspace: Workspace, prefix: str) -> set[str]:
    if not workspace.has_store:
        return set()
    from arena.store import ids

    return set(ids.matches(workspace.store, prefix))


def _ranges(numbers: list[int]) -> str:
    """Format numbers as ranges: "0 to 3, 5"."""
    runs: list[list[int]] = []
    for number in sorted(numbers):
        if runs and runs[-1][-1] == number - 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return ", ".join(str(r[0]) if len(r) == 1 else f"{r[0]} to {r[-1]}" for r in runs)
