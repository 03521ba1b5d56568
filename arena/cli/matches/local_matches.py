"""The local matches: records that `play` and `test` keep in the data folder, newest first."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from arena.cli.workspace import Workspace
from arena.matches import local_records
from referee.games.game_packages import EXAMPLE_GAME

LAST: Final = "last"
"""Name of the newest local match wherever a command takes a match."""
_SUMMARISED: Final = ('{"type":"match"', '{"type":"game"', '{"type":"result"', '{"type":"fault"')
"""How the lines of a record begin that a summary needs; parsing the others takes long."""


def summaries(workspace: Workspace) -> Iterator[dict[str, Any]]:
    """Yield the local matches as JSON values, the newest first.

    A bot wins the games in which it is the only one on the first place; `drawn` counts the games in
    which several share it. Files that are not valid records are omitted.
    """
    for path in local_records.records(workspace.folder):
        with contextlib.suppress(FileNotFoundError, ValueError, KeyError, TypeError, IndexError):
            yield _summary(path)


def _summary(path: Path) -> dict[str, Any]:
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
    return {
        "match": match["match"],
        "time": datetime.fromtimestamp(time, UTC).isoformat(timespec="milliseconds"),
        "game": match["game"],
        "options": match["options"],
        "seats": match["seats"],
        "games": games,
        "total": match["boards"] * table_count(match),
        "bots": [{"bot": bot, "wins": wins[bot], "faults": faults[bot]} for bot in bots],
        "drawn": drawn,
        "record": str(path),
    }


def show(workspace: Workspace, *, as_json: bool) -> None:
    """Print the local matches, the newest first, as a table or as one JSON document a line."""
    from arena.cli import output

    listed = list(summaries(workspace))
    headings = ("id", "<time", "<game", "<bots", "games", "won", "drawn", "faults")
    output.listing(as_json, listed, headings, map(_row, listed))
    if as_json:
        return
    if listed:
        output.next_step(f"pokearena replay {LAST}", f"pokearena why {LAST}")
    else:
        output.hint(f"no local matches in {workspace.folder.plays}")
        output.next_step(f"pokearena play {EXAMPLE_GAME} sample:greedy sample:random")


def _row(match: Mapping[str, Any]) -> tuple[object, ...]:
    from arena.cli import output

    bots, games, total = match["bots"], match["games"], match["total"]
    return (
        match["match"],
        output.local_time(datetime.fromisoformat(match["time"]).timestamp()),
        _form(match),
        " v ".join(bot["bot"] for bot in bots),
        games if games == total else f"{games} of {total}",
        " : ".join(str(bot["wins"]) for bot in bots),
        match["drawn"],
        " : ".join(str(bot["faults"]) for bot in bots),
    )


def _form(match: Mapping[str, Any]) -> str:
    """Return the form of a match; its game if this version does not have the game or an option."""
    from referee.games.contract import SetupError
    from referee.games.registry import form_of

    try:
        return form_of(match["game"], match["seats"], match["options"])
    except (SetupError, KeyError):
        return str(match["game"])
