"""Convert finished games: from their records, and to and from rows of `games` and `faults`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import Row

from arena.ratings.closed_match import FINISHED, PlayedFault, PlayedGame
from arena.ratings.decision_histogram import DecisionHistogram
from referee.games.shared.coded_errors import InvalidValue
from referee.numbering import game_text
from referee.reasoning import digests
from referee.record import optional_tally, read_games

if TYPE_CHECKING:
    from pokearena.v1 import referee_pb2

    from referee.record import GameRecord


LISTED_OUTPUT: Final = 8 * 1024
"""Maximum length in characters of a fault's output in lists: its tail. The record has more."""
_OWN_COLUMNS: Final = frozenset(
    ("type", "game", "places", "scores", "verdicts", "corrections", "defaults")
)
"""Fields of a result line that are not part of the column `tally`."""


def stored_game(row: Row[Any]) -> PlayedGame:
    """Return the game in a row of `games`; unread columns have the defaults of `PlayedGame`.

    Args:
        row: ``game``, ``places``, ``scores``, ``verdicts``, ``faults``; optionally other columns.
    """
    column = row._asdict()
    scores = column["scores"]
    return PlayedGame(
        game=column["game"],
        places=tuple(column["places"]),
        scores=None if scores is None else tuple(scores),
        verdicts=tuple(column["verdicts"]),
        faults=tuple(column["faults"]),
        corrections=tuple(column.get("corrections") or ()),
        defaults=tuple(column.get("defaults") or ()),
        table=column.get("table_number", 0),
        board=column.get("board", 0),
        tally=column.get("tally", {}),
        thinking=tuple(map(DecisionHistogram.read, column.get("thinking") or ())),
        committed=column.get("committed", 0.0),
    )


def game_values(game: PlayedGame) -> dict[str, Any]:
    """Return the values of a game's row in `games` that follow from its record."""
    return {
        "table_number": game.table,
        "board": game.board,
        "places": list(game.places),
        "scores": None if game.scores is None else list(game.scores),
        "verdicts": list(game.verdicts),
        "faults": list(game.faults),
        "corrections": list(game.corrections) or None,
        "defaults": list(game.defaults) or None,
        "tally": {name: list(values) for name, values in game.tally.items()},
        "thinking": [times.stored() for times in game.thinking],
    }


def fault_values(match: str, game: PlayedGame) -> list[dict[str, Any]]:
    """Return the rows of `faults` for a game of this match."""
    rows = []
    for number, fault in enumerate(game.faulted):
        row = asdict(fault) | {"match": match, "number": number}
        del row["tournament"]
        rows.append(row)
    return rows


def total_thinking(games: Sequence[PlayedGame]) -> tuple[DecisionHistogram, ...]:
    """Return the decision times of each entrant in all games; empty unless all games have them."""
    if not all(game.thinking for game in games):
        return ()
    times = zip(*(game.thinking for game in games), strict=True)
    return tuple(sum(of_entrant, DecisionHistogram()) for of_entrant in times)


def read(record: str, entrants: Sequence[str]) -> PlayedGame:
    """Parse the record of exactly one game.

    Args:
        record: the lines from ``game`` (with its table and seating) to ``result``.
        entrants: the match's entrants as ``name@number``, in order.

    Raises:
        ValueError: the text is not the record of one game of these entrants; states the reason.
    """
    records = list(read_games(record))
    if len(records) != 1:
        raise InvalidValue(
            f"this is the record of {len(records)} games; it must be of one", code="not-one-game"
        )
    return replace(recorded_game(records[0], entrants), record=record)


def recorded_game(lines: GameRecord, entrants: Sequence[str]) -> PlayedGame:
    """Return a game from its parsed record, without the text of the record.

    Args:
        lines: the record of the game, with its table and seating.
        entrants: the match's entrants as ``name@number``, in order.

    Raises:
        ValueError: the record is not of a game of these entrants; states the reason.
    """
    try:
        return _played(lines, entrants)
    except KeyError as error:
        raise InvalidValue(
            f"{game_text(lines.number)}: a line of its record has no {error}", code="field-missing"
        ) from None


def _played(lines: GameRecord, entrants: Sequence[str]) -> PlayedGame:
    game, result = lines.game, lines.result
    seating: Sequence[str] = game["seating"]
    by_seat = PlayedGame(
        game=game["game"],
        places=tuple(result["places"]),
        scores=None if result["scores"] is None else tuple(result["scores"]),
        verdicts=tuple(result["verdicts"]),
        faults=tuple(result["faults"]),
        corrections=tuple(result.get("corrections", ())),
        defaults=tuple(result.get("defaults", ())),
        table=game["table"],
        board=game["board"],
        tally={word: value for word, value in result.items() if word not in _OWN_COLUMNS},
        faulted=tuple(
            PlayedFault(
                game=line["game"],
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
        thinking=_thinking(len(seating), lines.actions),
    )
    return _by_entrant(by_seat, seating, entrants)


def finished_game(
    game: referee_pb2.GameFinished, table: int, seating: Sequence[str], entrants: Sequence[str]
) -> PlayedGame:
    """Return a game that the referee has finished; equal to `read` of its record.

    Args:
        seating: the entrant at each seat, as ``name@number``.
        entrants: the match's entrants as ``name@number``, in order.
    """
    by_seat = PlayedGame(
        game=game.game,
        places=tuple(game.places),
        scores=tuple(game.scores) or None,
        verdicts=tuple(game.verdicts),
        faults=tuple(game.faults),
        corrections=tuple(game.corrections),
        defaults=tuple(game.defaults),
        table=table,
        board=game.board,
        record=game.record,
        tally={
            "bank_ms": list(game.bank_ms),
            "slowest_ms": list(game.slowest_ms),
            "faults": list(game.faults),
            "crashes": list(game.crashes),
            **optional_tally((), (), [seat.tags for seat in game.tags]),
            **({"reasoning": digests(game.reasoning)} if game.reasoning else {}),
        },
        faulted=tuple(
            PlayedFault(
                game=game.game,
                decision=fault.decision,
                seat=fault.seat,
                version=seating[fault.seat],
                verdict=fault.verdict,
                sentence=_storable(fault.sentence),
                ended=_storable(fault.ended),
                output=_storable(fault.output)[-LISTED_OUTPUT:],
            )
            for fault in game.faulted
        ),
        thinking=tuple(DecisionHistogram.of(times.ms) for times in game.decision_times),
        reasoning=tuple(game.reasoning),
    )
    return _by_entrant(by_seat, seating, entrants)


def _by_entrant(game: PlayedGame, seating: Sequence[str], entrants: Sequence[str]) -> PlayedGame:
    """Return a game whose results are by seat with the results by entrant."""
    seats = [[seat for seat, name in enumerate(seating) if name == who] for who in entrants]
    if sum(map(len, seats)) != len(seating) or not all(seats):
        raise InvalidValue(
            f"{game_text(game.game)} seats {', '.join(seating)}; "
            f"the entrants are {', '.join(entrants)}",
            code="other-entrants",
        )
    scores = game.scores
    return replace(
        game,
        places=tuple(game.places[mine[0]] for mine in seats),
        scores=None if scores is None else tuple(scores[mine[0]] for mine in seats),
        verdicts=tuple(_verdict([game.verdicts[seat] for seat in mine]) for mine in seats),
        faults=_sums(game.faults, seats),
        corrections=_sums(game.corrections, seats),
        defaults=_sums(game.defaults, seats),
        thinking=tuple(
            sum((game.thinking[seat] for seat in mine), DecisionHistogram()) for mine in seats
        ),
    )


def _sums(by_seat: Sequence[int], seats: Sequence[Sequence[int]]) -> tuple[int, ...]:
    """Return the sum over the seats of each entrant; empty if nothing was counted."""
    return tuple(sum(by_seat[seat] for seat in mine) for mine in seats) if by_seat else ()


def _thinking(seats: int, actions: Sequence[Mapping[str, Any]]) -> tuple[DecisionHistogram, ...]:
    """Return the decision times of each seat."""
    times: list[list[float]] = [[] for _ in range(seats)]
    for line in actions:
        if line.get("by") != "referee" and "ms" in line:
            times[line["seat"]].append(line["ms"])
    return tuple(map(DecisionHistogram.of, times))


def _verdict(verdicts: Sequence[str]) -> str:
    """Return the verdict of an entrant with several seats: the first that is not `FINISHED`."""
    return next((verdict for verdict in verdicts if verdict != FINISHED), FINISHED)


def _storable(text: str) -> str:
    """Replace NUL characters: bots can output them, but PostgreSQL rejects them in text."""
    return text.replace("\0", "\N{REPLACEMENT CHARACTER}")
