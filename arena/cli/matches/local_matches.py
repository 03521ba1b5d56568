"""The local matches: records that `play` and `test` keep in the data folder, newest first."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from arena.cli.workspace import Workspace
from arena.matches import local_records
from referee.games.game_packages import EXAMPLE_GAME

LAST: Final = "last"
"""Name of the newest local match wherever a command takes a match."""
_SUMMARISED: Final = ('{"type":"match"', '{"type":"game"', '{"type":"result"', '{"type":"fault"')
"""How the lines of a record begin that a summary needs; parsing the others takes long."""


@dataclass(frozen=True, slots=True)
class LocalMatchSummary:
    """A local match in the list of `play --list`; the counts are in order of the bots.

    Attributes:
        id: its id.
        time: when its record was written, in seconds since 1970.
        game: the id of its game.
        options: the options of its game.
        seats: number of seats.
        bots: the entrants.
        games: number of finished games.
        total: number of games of the whole match.
        wins: games in which the bot was the only one on the first place.
        drawn: number of games in which several bots shared the first place.
        faults: faults of each bot.
        record: file of the record.
    """

    id: str
    time: float
    game: str
    options: dict[str, Any]
    seats: int
    bots: tuple[str, ...]
    games: int
    total: int
    wins: tuple[int, ...]
    drawn: int
    faults: tuple[int, ...]
    record: Path


def summaries(workspace: Workspace) -> Iterator[LocalMatchSummary]:
    """Yield the local matches, the newest first; files that are not valid records are omitted."""
    for path in local_records.records(workspace.folder):
        with contextlib.suppress(FileNotFoundError, ValueError, KeyError, TypeError, IndexError):
            yield _summary(path)


def _summary(path: Path) -> LocalMatchSummary:
    """Read the summary of a record.

    Raises:
        OSError: the file cannot be read.
        ValueError, KeyError, TypeError, IndexError: it is not a valid record.
    """
    from referee.record import table_count  # Loads protobuf, which `play --help` does not need.

    with path.open(encoding="utf-8") as file:
        lines = [json.loads(line) for line in file if line.startswith(_SUMMARISED)]
        time = path.stat().st_mtime
    match = lines[0]
    bots = tuple(str(name) for name, _ in match["entrants"])
    wins, faults, games, drawn = dict.fromkeys(bots, 0), dict.fromkeys(bots, 0), 0, 0
    seating: list[str] = []
    for line in lines[1:]:
        if line["type"] == "game":
            seating = line["seating"]
        elif line["type"] == "fault":
            faults[seating[line["seat"]]] += 1
        else:
            games += 1
            # One bot may have several seats of the same side.
            winners = {
                bot for bot, place in zip(seating, line["places"], strict=True) if place == 1
            }
            drawn += len(winners) > 1
            if len(winners) == 1:
                wins[winners.pop()] += 1
    return LocalMatchSummary(
        id=match["match"],
        time=time,
        game=match["game"],
        options=match["options"],
        seats=match["seats"],
        bots=bots,
        games=games,
        total=match["boards"] * table_count(match),
        wins=tuple(wins.values()),
        drawn=drawn,
        faults=tuple(faults.values()),
        record=path,
    )


def show(workspace: Workspace, *, as_json: bool) -> None:
    """Print the local matches, the newest first, as a table or as one JSON document a line."""
    from arena.cli import output

    listed = list(summaries(workspace))
    if as_json:
        for match in listed:
            output.document(_as_json(match))
        return
    output.table(
        ("id", "<time", "<game", "<bots", "games", "won", "drawn", "faults"),
        [
            (
                match.id,
                output.local_time(match.time),
                _form(match),
                " v ".join(match.bots),
                match.games if match.games == match.total else f"{match.games} of {match.total}",
                " : ".join(map(str, match.wins)),
                match.drawn,
                " : ".join(map(str, match.faults)),
            )
            for match in listed
        ],
    )
    if listed:
        output.next_step(f"pokearena replay {LAST}", f"pokearena why {LAST}")
    else:
        output.hint(f"no local matches in {workspace.folder.plays}")
        output.next_step(f"pokearena play {EXAMPLE_GAME} sample:greedy sample:random")


def _form(match: LocalMatchSummary) -> str:
    """Return the form of a match; its game if this version does not have the game or an option."""
    from referee.games.contract import SetupError
    from referee.games.registry import form_of

    try:
        return form_of(match.game, match.seats, match.options)
    except (SetupError, KeyError):
        return match.game


def _as_json(match: LocalMatchSummary) -> dict[str, object]:
    from datetime import UTC, datetime

    return {
        "match": match.id,
        "time": datetime.fromtimestamp(match.time, UTC).isoformat(timespec="milliseconds"),
        "game": match.game,
        "options": match.options,
        "seats": match.seats,
        "games": match.games,
        "total": match.total,
        "bots": [
            {"bot": bot, "wins": wins, "faults": faults}
            for bot, wins, faults in zip(match.bots, match.wins, match.faults, strict=True)
        ],
        "drawn": match.drawn,
        "record": str(match.record),
    }
