"""Re-plays records: the positions of a game, and whether a record is true."""

from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from typing import Any

from referee.codec import Codec, DecodeError
from referee.dealing import Seeded, board_seed, commitment
from referee.games.contract import Action, Game, SetupError, State
from referee.games.registry import find
from referee.play import places_with_faults
from referee.record import GameRecord, Line, MatchRecord, RecordError
from referee.verdict import Verdict


@dataclass(frozen=True, slots=True)
class Step:
    """A position of a recorded game and what was done in it."""

    decision: int
    """The number of its first decision."""
    state: State
    lines: tuple[Line, ...]
    """The action lines of all who acted; empty at the end of the record."""


class Mismatch(ValueError):
    """A record that is not true. Its text is a sentence for people."""


@cache
def codec_of(game: Game) -> Codec:
    """The codec of a game."""
    return Codec(game)


def steps(match: Line, record: GameRecord, seed: bytes) -> Iterator[Step]:
    """The positions of a recorded game, from the deal to where it ended.

    Args:
        match: the record's match line.
        record: the game.
        seed: the seed of the match, 32 bytes.

    Raises:
        Mismatch: the record is not that of a game that could have been played.
    """
    game = find(match["game"])
    codec = codec_of(game)
    state = game.start(
        Seeded(board_seed(seed, record.game["board"])), match["seats"], match["options"]
    )
    left = list(record.actions)
    decision = 0
    while state.actors:
        lines, left = left[: len(state.actors)], left[len(state.actors) :]
        # A fault may end a game while some have made a choice that all make at once.
        if len(lines) < len(state.actors):
            yield Step(decision, state, tuple(lines))
            return
        yield Step(decision, state, tuple(lines))
        moves = {}
        for number, line in enumerate(sorted(lines, key=_decision), decision):
            moves[line["seat"]] = _checked(state, codec, line, number)
        state = state.play(moves)
        decision += len(lines)
    if left:
        raise Mismatch(f"game {record.number} goes on after its end: {len(left)} actions too many")
    yield Step(decision, state, ())


def _decision(line: Line) -> int:
    return int(line["decision"])


def _checked(state: State, codec: Codec, line: Line, decision: int) -> Action:
    """The action of a line that could have been made now."""
    where = f"game {line['game']}, decision {line['decision']}"
    if line["decision"] != decision or line["seat"] not in state.actors:
        raise Mismatch(f"{where}: it was decision {decision}, for seats {state.actors}")
    try:
        action = codec.decode_json(line["action"])
    except DecodeError as error:
        raise Mismatch(f"{where}: the action {error}") from error
    legal = state.legal(line["seat"])
    if action not in legal:
        raise Mismatch(f"{where}: {line['action']} was not legal")
    if line.get("by") == "referee" and action != next(iter(legal)):
        raise Mismatch(f"{where}: the referee did not play the most harmless action")
    return action


def position(state: State) -> dict[str, Any]:
    """A position in full as JSON: all hands, stocks and layouts, whoever may see them."""
    return {
        field.name: _plain(getattr(state, field.name))
        for field in fields(state)  # type: ignore[arg-type]
        if field.name != "luck"
    }


def _plain(value: Any) -> Any:
    if is_dataclass(value):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, (tuple, list)):
        return [_plain(item) for item in value]
    return value


def verify(record: MatchRecord) -> list[str]:
    """What is not true of a record, in sentences; nothing if it verifies.

    Every deal is made again from the seed, every action is replayed by the rules, and every
    score and place is computed anew.
    """
    if record.seed is None:
        return ["the seed is not revealed yet; a record can be verified once its match is over"]
    if commitment(record.seed) != record.match.get("commitment"):
        return ["the seed is not the one that was committed to when the match was scheduled"]
    problems = _misnumbered(record)
    for game in record.games:
        try:
            _verify_game(record.match, game, record.seed)
        except (Mismatch, SetupError, RecordError) as error:
            problems.append(str(error))
        except (KeyError, TypeError, IndexError, AttributeError) as error:
            problems.append(f"game {game.number}: a line lacks what it should say: {error!r}")
    return problems


def _misnumbered(record: MatchRecord) -> list[str]:
    """Games that are there twice, missing, or played on a board that is not theirs."""
    boards, tables = record.match["boards"], len(record.match["entrants"])
    numbers = sorted(game.number for game in record.games)
    if numbers != list(range(boards * tables)):
        return [
            f"it has games {numbers}; {tables} tables of {boards} boards are 0 to "
            f"{boards * tables - 1}, each once"
        ]
    mirrored = record.match.get("mirrored", True)
    return [
        f"game {game.number} was played on board {game.game['board']}"
        for game in record.games
        if game.game["board"] != (game.number % boards if mirrored else game.number)
    ]


def _verify_game(match: Line, record: GameRecord, seed: bytes) -> None:
    game = find(match["game"])
    options = game.settle(match["options"])
    sides = game.sides(match["seats"], options)
    *_, last = steps(match, record, seed)
    verdicts = record.result["verdicts"]
    out = {sides[seat] for seat, verdict in enumerate(verdicts) if verdict != Verdict.FINISHED}
    over = not last.state.actors
    if not over and not out:
        raise Mismatch(f"game {record.number} ends before it is over, and nobody faulted")
    scores = last.state.scores if over else None
    places = places_with_faults(scores, sides, out)
    for name, true in (("scores", scores), ("places", places)):
        told = record.result[name]
        if told != (None if true is None else list(true)):
            raise Mismatch(f"game {record.number}: its {name} are {told}; the rules give {true}")
    for line in record.actions:
        if line.get("by") == "referee" and verdicts[line["seat"]] == Verdict.FINISHED:
            raise Mismatch(
                f"game {record.number}, decision {line['decision']}: the referee acted for a "
                "seat that did not fault"
            )
