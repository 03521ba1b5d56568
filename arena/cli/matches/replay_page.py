"""Write the replay of a match as one HTML file, and open it in a browser."""

from __future__ import annotations

import time
import webbrowser
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from arena.cli import output
from arena.cli.errors import CommandError
from arena.cli.workspace import Workspace
from arena.matches import local_records
from arena.system import output_file

if TYPE_CHECKING:
    from arena.matches.local_match import LocalMatch
    from referee.record import GameRecord, MatchRecord


def write(
    record: MatchRecord,
    path: Path,
    games: Sequence[GameRecord] | None = None,
    *,
    private: bool = False,
    reasoning: Sequence[str] = (),
) -> None:
    """Write the replay of these games; by default of the first ones and the one with a fault.

    A `private` file, as in the data folder, can be read only by this user. `reasoning` has the
    lines of the reasoning of the bots (`referee.reasoning`).

    Raises:
        OSError: the file cannot be written; the error names it.
    """
    from arena.web import replay_file
    from arena.web.pages.replay import UNTRUE
    from referee.reasoning import read_line

    games = replay_file.chosen_games(record) if games is None else games
    match = record.match["match"]
    if not games:
        raise CommandError(f"{match} has no finished game to show.", code="no-games")
    try:
        text = replay_file.html(record, games, time.time(), list(map(read_line, reasoning)))
    except UNTRUE as error:
        raise CommandError(
            f"{match} cannot be shown, because its record is not correct: {error}.",
            code="invalid-record",
        ) from None
    output_file.write_text(path, text, private=private)
    if len(games) < len(record.games):
        shown = f"{len(games)} of {len(record.games)} games"
        output.hint(f"{path} contains {shown}; `pokearena replay {match} --game N` selects another")


def of_local_match(match: LocalMatch, workspace: Workspace) -> Path:
    """Write the replay of a local match into the data folder; return the file.

    Raises:
        OSError: the file cannot be written; the error names it.
    """
    from referee.record import read

    path = local_records.path_of(workspace.folder, match.spec.id, ".html")
    write(read(match.record), path, private=True, reasoning=match.reasoning)
    return path


def open_in_browser(path: Path) -> None:
    """Open a file in the browser of the desktop, or in that of the variable BROWSER."""
    try:
        opened = webbrowser.open(path.absolute().as_uri())
    except webbrowser.Error:
        opened = False
    if not opened:
        output.hint("no browser could be started; open the file in one")
