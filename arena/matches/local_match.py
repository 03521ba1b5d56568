"""Play one match locally, without a queue and a database, and keep its record."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

from arena.bots.bot import Bot
from arena.bots.exit_report import Report
from arena.bots.version_store import content_hash
from arena.config import KEPT_MATCHES, Folder
from arena.matches import human_seats, local_records
from arena.matches.private_referee import own_referee
from arena.matches.runner import play_match, record_text
from arena.matches.table import Watch
from arena.models.transcripts import TRANSCRIPT
from arena.ratings.closed_match import PlayedGame
from arena.store.match_settings import MatchSettings
from arena.store.matches.spec import Entrant, MatchSpec, single_match
from arena.system import output_file, private_files
from referee.numbering import seat_text
from referee.record import Line, read_games

if TYPE_CHECKING:
    from pokearena.v1 import referee_pb2

    from arena.models.match_models import MatchModels
    from arena.store.matches.table_plan import TablePlan

_DECISIONS_MS: Final = 1000
"""Interval at which the referee reports the number of decisions."""


@dataclass(slots=True)
class LocalMatch:
    """A local match and its finished games."""

    spec: MatchSpec
    bots: tuple[Bot, ...]
    seed: str
    """The text that reproduces the same cards."""
    games: list[PlayedGame] = field(default_factory=list)
    decisions: int = 0
    """Number of decisions of the game that is being played, about once per second."""
    trace: Path | None = None
    """File to which the referee appends the messages from and to bots, if they are traced."""
    output_error: OSError | None = None
    """Why output of the bots could not be stored, if so."""
    complete: bool = False
    """Whether every game was played; a fault ends a strict match early."""

    @property
    def has_person(self) -> bool:
        """Whether a person plays."""
        return any(bot.person for bot in self.bots)

    @property
    def record(self) -> str:
        """The record of the match as text."""
        return record_text(self.spec, {g.game: g.record for g in self.games}, self.spec.seed)

    @property
    def reasoning(self) -> tuple[str, ...]:
        """The reasoning of its bots: a line for each seat and game that has some."""
        games = sorted(self.games, key=lambda game: game.game)
        return tuple(line for game in games for line in game.reasoning if line)

    @property
    def fault(self) -> tuple[Line, int] | None:
        """The line of the first fault in the record, and the index of its entrant."""
        for game in self.games:
            if game.faulted:
                (record,) = read_games(game.record)
                return record.faults[0], self.spec.versions.index(game.faulted[0].version)
        return None


def local_match(
    bots: Sequence[Bot],
    settings: MatchSettings,
    seed: bytes,
    seed_text: str = "",
    *,
    all_seatings: bool = False,
) -> LocalMatch:
    """Return a match; the same arguments give the same id, so that a repeated match replaces it.

    Args:
        bots: the entrants in order of the seats, with unique labels.
        settings: the settled settings.
        seed: the seed, 32 bytes.
        seed_text: a text that reproduces the same cards; empty: the seed in hexadecimal digits.
        all_seatings: whether a match with a person has a table for every seating, not only one.
    """
    entrants = [entrant_of(bot, content_hash(bot)) for bot in bots]
    tables = None if all_seatings or not any(bot.person for bot in bots) else 1
    spec = single_match("play", settings, seed, entrants, tables)
    return LocalMatch(spec, tuple(bots), seed_text or seed.hex())


def entrant_of(bot: Bot, content: str) -> Entrant:
    """Return a bot as an entrant of a match's record."""
    manifest = {} if bot.manifest is None else bot.manifest.values()
    return Entrant(bot.label, content, "" if bot.remote else str(bot.folder), manifest)


class _StrictMatchEnded(Exception):
    """A fault has ended a strict match; the remaining tables are not played."""


def play(
    match: LocalMatch,
    folder: Folder,
    on_game: Callable[[PlayedGame], None],
    person: human_seats.Person | None = None,
    models: MatchModels | None = None,
) -> None:
    """Play a match against its own referee; call `on_game` with every finished game.

    After an error or Ctrl-C, the finished games are in the match. `person` is the interface of the
    people in the match; None without any. `models` are those of its bots. If `on_game` raises
    PersonLeft, the match ends.

    Raises:
        InfrastructureError: a part of the arena failed.
    """
    outputs = folder.outputs / match.spec.id
    for old in outputs.glob("*.log"):
        # Another `play` of the same match may delete it first.
        old.unlink(missing_ok=True)
    if models is not None and not models.file.transcripts:
        for old in outputs.glob(f"*{TRANSCRIPT}"):
            old.unlink(missing_ok=True)
    texts: dict[int, list[str]] = {}

    def sink(game: PlayedGame) -> None:
        match.games.append(game)
        match.decisions = 0
        on_game(game)
        if game.faulted and match.spec.faults == "strict":
            raise _StrictMatchEnded

    def keep(entrant: int, reports: Sequence[Report]) -> None:
        path = outputs / f"{match.spec.versions[entrant]}.log"
        written = texts.setdefault(entrant, [])
        written += [
            f"--- {seat_text(r.seat)}: {r.ended}\n{r.output}\n" for r in reports if r.output
        ]
        try:
            if written:
                private_files.create_folder(path.parent)
                # A surrogate cannot be encoded.
                text = "".join(written).encode("utf-8", "replace").decode()
                output_file.write_text(path, text, private=True)
        except OSError as error:
            # The match is worth more than the output.
            match.output_error = output_file.named(error, path)

    def note(_: TablePlan, shown: referee_pb2.PositionShown) -> None:
        match.decisions = shown.decision

    with (
        own_referee(match.trace) as referee,
        human_seats.seated_people(match.spec, match.bots, person) as bots,
        contextlib.suppress(_StrictMatchEnded, human_seats.PersonLeft),
    ):
        watch = Watch(note, _DECISIONS_MS)
        match.complete = play_match(
            match.spec, referee, bots, sink, on_reports=keep, watch=watch, models=models
        )


def write_record(
    match: LocalMatch,
    folder: Folder,
    path: Path | None = None,
    kept: int = KEPT_MATCHES,
) -> Path:
    """Write the record atomically into the data folder, and to `path` if given; return its path.

    The reasoning of the bots is written beside each.

    Args:
        match: the match.
        folder: the data folder, which keeps the record.
        path: another file for the record.
        kept: number of local matches to keep; the oldest ones are deleted.

    Raises:
        OSError: the record cannot be written; the error names the file.
    """
    try:
        default = local_records.path_of(folder, match.spec.id)
        output_file.write_text(default, match.record, private=True)
        local_records.write_reasoning(default, match.reasoning)
        local_records.delete_oldest(folder, kept)
    finally:
        # An error of one file does not prevent the other.
        if path is not None:
            output_file.write_text(path, match.record)
            if path.is_file():
                local_records.write_reasoning(path, match.reasoning)
    return path or default


def check_writable(match: LocalMatch, folder: Folder, path: Path | None) -> None:
    """Check that the record, and the output of the bots in the data folder, can be written.

    Raises:
        OSError: a file or a folder cannot be written; the error names it.
    """
    if path is not None:
        output_file.check_writable(path)
    output_file.check_writable(local_records.path_of(folder, match.spec.id))
