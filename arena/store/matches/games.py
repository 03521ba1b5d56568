"""Finished games as they are stored: records and queried values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from arena.ratings.closed_match import FINISHED
from arena.ratings.decision_histogram import DecisionHistogram
from referee.games.shared.coded_errors import InvalidValue
from referee.numbering import game_text

if TYPE_CHECKING:
    from referee.record import GameRecord


LISTED_OUTPUT: Final = 8 * 1024
"""Maximum length in characters of a fault's output in lists: its tail. The record has more."""


@dataclass(frozen=True, slots=True)
class PlayedFault:
    """A fault of a bot in a game."""

    decision: int
    seat: int
    version: str
    verdict: str
    sentence: str
    ended: str = ""
    """How the bot's process ended, as a clause; empty if it continued to run."""
    output: str = ""
    """The tail of the bot's output."""


@dataclass(frozen=True, slots=True)
class PlayedGame:
    """A finished game; tuples are in order of the match's entrants, not of the seats."""

    game: int
    table: int
    board: int
    record: str
    """The record's lines from ``game`` to ``result``."""
    places: tuple[int, ...]
    scores: tuple[int, ...] | None
    verdicts: tuple[str, ...]
    faults: tuple[int, ...]
    """Number of faults counted against each entrant."""
    tally: Mapping[str, Sequence[Any]]
    """The remaining fields of the result line, by seat."""
    faulted: tuple[PlayedFault, ...] = ()
    thinking: tuple[DecisionHistogram, ...] = ()
    """Decision times of each entrant, without decisions that the referee made for it."""


@dataclass(frozen=True, slots=True)
class CommittedGame:
    """A stored game, and the resources that the seats of its table used in it."""

    game: int
    table: int
    board: int
    tally: Mapping[str, Sequence[Any]]
    """By seat, as in the result line: ``bank_ms``, ``faults``, ``crashes``, ``slowest_ms``."""


def read(record: str, entrants: Sequence[str]) -> PlayedGame:
    """Parse the record of exactly one game.

    Args:
        record: the lines from ``game`` (with its table and seating) to ``result``.
        entrants: the match's entrants as ``name@number``, in order.

    Raises:
        ValueError: the text is not the record of one game of these entrants; states the reason.
    """
    from referee.record import read_games

    records = list(read_games(record))
    if len(records) != 1:
        raise InvalidValue(
            f"this is the record of {len(records)} games; it must be of one", code="not-one-game"
        )
    lines = records[0]
    try:
        return _played(record, entrants, lines)
    except KeyError as error:
        raise InvalidValue(
            f"{game_text(lines.number)}: a line of its record has no {error}", code="field-missing"
        ) from None


def _played(
    record: str,
    entrants: Sequence[str],
    lines: GameRecord,
) -> PlayedGame:
    game, result = lines.game, lines.result
    seating: Sequence[str] = game["seating"]
    seats = [[i for i, name in enumerate(seating) if name == who] for who in entrants]
    if sum(map(len, seats)) != len(seating) or not all(seats):
        raise InvalidValue(
            f"{game_text(game['game'])} seats {', '.join(seating)}; "
            f"the entrants are {', '.join(entrants)}",
            code="other-entrants",
        )
    scores = result["scores"]
    verdicts = result["verdicts"]
    return PlayedGame(
        game=game["game"],
        table=game["table"],
        board=game["board"],
        record=record,
        places=tuple(result["places"][mine[0]] for mine in seats),
        scores=None if scores is None else tuple(scores[mine[0]] for mine in seats),
        verdicts=tuple(_verdict([verdicts[seat] for seat in mine]) for mine in seats),
        faults=tuple(sum(result["faults"][seat] for seat in mine) for mine in seats),
        tally={
            word: value
            for word, value in result.items()
            if word not in ("type", "game", "places", "scores", "verdicts")
        },
        faulted=tuple(
            PlayedFault(
                decision=line["decision"],
                seat=line["seat"],
                version=seating[line["seat"]],
                verdict=line["verdict"],
                sentence=_storable(line["sentence"]),
                ended=_storable(line.get("ended", "")),
                output=_storable(line.get("output", ""))[-LISTED_OUTPUT:],
            )
            for line in lines.faults
        ),
        thinking=_thinking(seats, lines.actions),
    )


def _thinking(
    seats: Sequence[Sequence[int]], actions: Sequence[Mapping[str, Any]]
) -> tuple[DecisionHistogram, ...]:
    """Return the decision times of each entrant; `seats` are the seats of each."""
    moves = [
        (line["seat"], line["ms"])
        for line in actions
        if line.get("by") != "referee" and "ms" in line
    ]
    return tuple(DecisionHistogram.of(ms for seat, ms in moves if seat in mine) for mine in seats)


def _verdict(verdicts: Sequence[str]) -> str:
    """Return the verdict of an entrant with several seats: the first that is not `FINISHED`."""
    return next((verdict for verdict in verdicts if verdict != FINISHED), FINISHED)


def _storable(text: str) -> str:
    """Replace NUL characters: bots can output them, but PostgreSQL rejects them in text."""
    return text.replace("\0", "\N{REPLACEMENT CHARACTER}")
