"""A finished game as the store keeps it: its record, and what must be known without reading it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from arena.ratings.closed_match import FINISHED
from arena.ratings.decision_histogram import Thinking

if TYPE_CHECKING:
    from referee.record import GameRecord


LISTED_OUTPUT: Final = 8 * 1024
"""Characters of a bot's output, from its end, that lists of faults show; its record has more."""


@dataclass(frozen=True, slots=True)
class PlayedFault:
    """A fault of a bot in a game."""

    decision: int
    seat: int
    version: str
    verdict: str
    sentence: str
    ended: str = ""
    """How the bot's process ended, as a clause; empty while it ran on."""
    output: str = ""
    """The tail of the bot's output."""


@dataclass(frozen=True, slots=True)
class PlayedGame:
    """A game that is over. What is by entrant follows the match's entrants, not the seats."""

    game: int
    table: int
    board: int
    record: str
    """Its lines from ``game`` to ``result``."""
    places: tuple[int, ...]
    scores: tuple[int, ...] | None
    verdicts: tuple[str, ...]
    faults: tuple[int, ...]
    """How many were counted against each entrant."""
    tally: Mapping[str, Sequence[Any]]
    """What else the result line counts, by seat."""
    faulted: tuple[PlayedFault, ...] = ()
    thinking: tuple[Thinking, ...] = ()
    """How long each entrant took for its decisions; what the referee did for it does not count."""


@dataclass(frozen=True, slots=True)
class CommittedGame:
    """A game that needs no playing any more, and what it took from the seats of its table."""

    game: int
    table: int
    board: int
    tally: Mapping[str, Sequence[Any]]
    """By seat, as in the result line: ``bank_ms``, ``faults``, ``crashes``, ``slowest_ms``."""


def read(record: str, entrants: Sequence[str]) -> PlayedGame:
    """The one game in a text of record lines.

    Args:
        record: the lines from ``game`` (with its table and seating) to ``result``.
        entrants: the match's entrants as ``name@number``, in order.

    Raises:
        ValueError: it is not the record of one game of these entrants; says why.
    """
    from referee.record import read_games

    found = list(read_games(record))
    if len(found) != 1:
        raise ValueError(f"this is the record of {len(found)} games; it must be of one")
    lines = found[0]
    try:
        return _played(record, entrants, lines)
    except KeyError as error:
        raise ValueError(f"game {lines.number}: a line of its record has no {error}") from None


def _played(
    record: str,
    entrants: Sequence[str],
    lines: GameRecord,
) -> PlayedGame:
    game, result = lines.game, lines.result
    seating: Sequence[str] = game["seating"]
    seats = [[i for i, name in enumerate(seating) if name == who] for who in entrants]
    if sum(map(len, seats)) != len(seating) or not all(seats):
        raise ValueError(
            f"game {game['game']} seats {', '.join(seating)}; "
            f"the entrants are {', '.join(entrants)}"
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
) -> tuple[Thinking, ...]:
    """The decision times of entrants that have these seats."""
    own = [
        (line["seat"], line["ms"])
        for line in actions
        if line.get("by") != "referee" and "ms" in line
    ]
    return tuple(Thinking.of(ms for seat, ms in own if seat in mine) for mine in seats)


def _verdict(verdicts: Sequence[str]) -> str:
    """The verdict of an entrant with these seats: that of the first that did not finish."""
    return next((verdict for verdict in verdicts if verdict != FINISHED), FINISHED)


def _storable(text: str) -> str:
    """The text without NUL characters: a bot can write them, PostgreSQL does not take them."""
    return text.replace("\0", "\N{REPLACEMENT CHARACTER}")
