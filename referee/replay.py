"""Re-plays records: the positions of a game, and whether a record is true."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from typing import Any

from google.protobuf.json_format import ParseDict, ParseError
from pokearena.v1 import bot_pb2, referee_pb2

from referee.codec import Codec, DecodeError
from referee.dealing import Seeded, board_seed, commitment
from referee.games.contract import Action, Game, Legal, SetupError, State, View
from referee.games.registry import find
from referee.play import Play, Setting, Wrong, places_with_faults
from referee.record import GameRecord, Line, MatchRecord, RecordError
from referee.verdict import Verdict
from referee.wording import describe


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
    if line["decision"] != decision:
        raise Mismatch(f"{where}: what must come here is decision {decision}")
    if line["seat"] not in state.actors:
        turn = " and ".join(map(str, state.actors))
        raise Mismatch(f"{where}: seat {line['seat']} acts, where seat {turn} must")
    try:
        action = codec.decode_json(line["action"])
    except DecodeError as error:
        raise Mismatch(f"{where}: the action {error}") from error
    legal = state.legal(line["seat"])
    if action not in legal:
        raise Mismatch(f'{where}: "{describe(action)}" by seat {line["seat"]} was not legal')
    if line.get("by") == "referee" and action != next(iter(legal)):
        raise Mismatch(f"{where}: the referee did not play the most harmless action")
    return action


def in_words(game: Game, action: Mapping[str, Any]) -> str:
    """An action in the protocol's JSON form, in words: ``lead 4C 4H``."""
    try:
        return describe(codec_of(game).decode_json(dict(action)))
    except DecodeError:
        return json.dumps(action)


def view_of_json(view: Mapping[str, Any]) -> View:
    """A view in the protocol's JSON form, as the rules of its game have it.

    Raises:
        DecodeError: it is no view of a registered game.
    """
    try:
        message = ParseDict(dict(view), bot_pb2.View())
    except ParseError as error:
        raise DecodeError(f"is no view in JSON: {error}") from error
    game = message.WhichOneof("game")
    if game is None:
        raise DecodeError("is a view of no game")
    return codec_of(find(game)).decode_view(message)


@dataclass(slots=True)
class Rights:
    """What a seat has left when it is asked, and wants to be told."""

    clock: bot_pb2.Clock
    wants_legal: bool = True


@dataclass(frozen=True, slots=True)
class Question:
    """A decision of a recorded game, as it was put to its seat."""

    request: bot_pb2.ActRequest
    legal: Legal


def question(
    match: Line, record: GameRecord, seed: bytes, decision: int, rights: Sequence[Rights]
) -> Question:
    """The question that a decision of a recorded game answered, or left open.

    Args:
        match: the record's match line.
        record: the game.
        seed: the seed of the match, 32 bytes.
        decision: its number within the game.
        rights: what each seat has left, and wants; a record does not say it.

    Raises:
        Mismatch: there is no such decision, or the record is not true up to it.
    """
    for one in questions(match, record, seed, rights):
        if one.request.decision == decision:
            return one
    raise Mismatch(
        f"game {record.number} has no decision {decision}; it has {len(record.actions)}, from 0"
    )


def questions(
    match: Line, record: GameRecord, seed: bytes, rights: Sequence[Rights]
) -> Iterator[Question]:
    """The questions of a recorded game in their order, to the end of what it records.

    The arguments are those of :func:`question`. Where a line says what was left in the bank, that
    holds.

    Raises:
        Mismatch: the record is not true.
    """
    game = find(match["game"])
    options = game.settle(match["options"])
    sides = game.sides(match["seats"], options)
    setting = Setting(match["match"], game, codec_of(game), match["seats"], options, sides)
    number = record.game["board"]
    board = referee_pb2.Board(game=record.number, number=number, seed=board_seed(seed, number))
    lines = {line["decision"]: line for line in record.actions}
    play = Play(setting, board)
    own = [Rights(each.clock, each.wants_legal) for each in rights]
    while asked := dict(play.ask(_with_banks(own, play, lines))):
        for open_one in asked.values():
            yield Question(open_one.question, open_one.legal)
        for seat, open_one in asked.items():
            line = lines.get(open_one.decision)
            if line is None or line["seat"] != seat:
                return
            action = ParseDict(line["action"], bot_pb2.Action())
            try:
                play.answer(seat, bot_pb2.ActResponse(action=action), 0.0)
            except Wrong as wrong:
                where = f"game {record.number}, decision {open_one.decision}"
                raise Mismatch(f"{where}: {wrong.clause}") from None


def _with_banks(
    rights: Sequence[Rights], play: Play, lines: Mapping[int, Line]
) -> Sequence[Rights]:
    """The rights with the banks that the questions of a position told of."""
    for decision, seat in enumerate(play.state.actors, play.decisions):
        bank_ms = lines.get(decision, {}).get("bank_ms")
        if bank_ms is not None:
            left = bot_pb2.Clock(allowance_ms=rights[seat].clock.allowance_ms, bank_ms=bank_ms)
            rights[seat].clock = left
    return rights


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
    checked = (game_problem(record, game) for game in record.games)
    return [*_misnumbered(record), *(problem for problem in checked if problem)]


def game_problem(record: MatchRecord, game: GameRecord) -> str | None:
    """Return why a game of a record cannot be true; None if it can be.

    Args:
        record: whose match line and seed the game was played by. The seed must be there.
        game: one of its games.
    """
    assert record.seed is not None
    try:
        _verify_game(record.match, game, record.seed)
    except (Mismatch, SetupError, RecordError) as error:
        return str(error)
    except KeyError as error:
        return f"game {game.number}: a line does not say its {error}"
    except (TypeError, IndexError, AttributeError) as error:
        return f"game {game.number}: a line says something of another kind: {error}"
    return None


def _misnumbered(record: MatchRecord) -> list[str]:
    """Games that are there twice, missing, or played on a board that is not theirs."""
    boards, tables = record.match["boards"], len(record.match["entrants"])
    numbers = sorted(game.number for game in record.games)
    # The first fault ends a strict match: the games after it were not played.
    last = numbers[-1] + 1 if numbers and _was_stopped(record) else boards * tables
    if numbers != list(range(min(last, boards * tables))):
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


def _was_stopped(record: MatchRecord) -> bool:
    """Whether the first fault ended the match."""
    strict = record.match.get("policy") == "strict"
    return strict and any(game.faults for game in record.games)


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
    places = places_with_faults(last.state.merits if over else None, sides, out)
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
