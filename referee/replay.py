"""Replay records: rebuild the positions of a game and verify a record."""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from typing import Any, Final

from google.protobuf.json_format import ParseError
from pokearena.v1 import bot_pb2, referee_pb2

from referee.action_phrases import describe
from referee.faults import Verdict
from referee.game_codec import DecodeError, GameCodec
from referee.games.contract import Action, Game, Legal, SetupError, State, View
from referee.games.game_packages import game_code
from referee.games.registry import find_game
from referee.games.shared.dealing import Seeded, board_seed, commitment
from referee.generic_codec import action_message, new_codec, view_message
from referee.numbering import decision_text, game_text, number_text, seat_text
from referee.record import GameRecord, Line, MatchRecord, RecordError, table_count
from referee.running_game import RunningGame, TableSetting, WrongAnswer, places_with_faults
from referee.sanitizing import quote

_VERSION: Final = re.compile(r"[0-9A-Za-z.+!]{1,40}")
"""Versions of packages that are part of a command."""


@dataclass(frozen=True, slots=True)
class ReplayStep:
    """A position of a recorded game with the actions made in it."""

    decision: int
    """Number of the first decision of this position."""
    state: State
    lines: tuple[Line, ...]
    """Action lines of all seats that acted; empty at the end of the record."""


class Mismatch(ValueError):
    """A record contradicts the rules or itself. The message is a full sentence."""


@cache
def codec_of(game: Game) -> GameCodec:
    """Return the codec of a game, constructed once per game."""
    return new_codec(game)


def steps(match: Line, record: GameRecord, seed: bytes) -> Iterator[ReplayStep]:
    """Yield the positions of a recorded game, from the deal to the last recorded position.

    Raises:
        Mismatch: the rules do not allow this sequence of actions.
    """
    game = find_game(match["game"])
    _check_package(game.id, record, ("name", "version"))
    codec = codec_of(game)
    state = game.start(
        Seeded(board_seed(seed, record.game["board"])), match["seats"], match["options"]
    )
    left = list(record.actions)
    decision = 0
    while state.actors:
        lines, left = left[: len(state.actors)], left[len(state.actors) :]
        # A fault may end a game after only some seats have made a simultaneous choice.
        if len(lines) < len(state.actors):
            yield ReplayStep(decision, state, tuple(lines))
            return
        yield ReplayStep(decision, state, tuple(lines))
        moves = {}
        for number, line in enumerate(sorted(lines, key=_decision), decision):
            moves[line["seat"]] = _checked(state, codec, line, number)
        state = state.play(moves)
        decision += len(lines)
    if left:
        raise Mismatch(
            f"{game_text(record.number)} continues after its end: {len(left)} extra actions"
        )
    yield ReplayStep(decision, state, ())


def _check_package(game_id: str, record: GameRecord, members: Sequence[str]) -> None:
    """Check that the installed package of the game is the one that played it.

    Args:
        game_id: the game.
        record: the game's record; one without a package is not checked.
        members: the members of the package that must be equal.
    """
    played, installed = record.game.get("package"), game_code(game_id)
    if played is None or not installed:
        return
    if not isinstance(played, dict) or not all(
        isinstance(played.get(member), str) for member in installed
    ):
        raise Mismatch(f"{game_text(record.number)}: its package is not valid")
    if all(played[member] == installed[member] for member in members):
        return
    version = played["version"] if _VERSION.fullmatch(played["version"]) else "VERSION"
    # The record may be that of somebody else: the command names the installed package only.
    raise Mismatch(
        f"{game_id} was played with {_package_text(played)}, and {_package_text(installed)} is "
        f"installed; install the same: pip install {installed['name']}=={version}"
    )


def _package_text(package: Mapping[str, str]) -> str:
    return (
        f"{quote(package['name'])} {quote(package['version'])} (code {quote(package['code'][:8])})"
    )


def _decision(line: Line) -> int:
    return int(line["decision"])


def _checked(state: State, codec: GameCodec, line: Line, decision: int) -> Action:
    """Decode the action of a line and check that it was possible in this position."""
    where = decision_text(line["game"], line["decision"])
    if line["decision"] != decision:
        raise Mismatch(f"{where}: expected decision {decision + 1}")
    if line["seat"] not in state.actors:
        turn = " and ".join(map(seat_text, state.actors))
        raise Mismatch(f"{where}: {seat_text(line['seat'])} acts, where {turn} must")
    try:
        action = codec.decode_json(line["action"])
    except DecodeError as error:
        raise Mismatch(f"{where}: the action {error}") from error
    legal = state.legal(line["seat"])
    if action not in legal:
        raise Mismatch(f'{where}: "{describe(action)}" by {seat_text(line["seat"])} was not legal')
    if line.get("by") == "referee" and action != next(iter(legal)):
        raise Mismatch(f"{where}: the referee did not play the most harmless action")
    return action


def in_words(game: Game, action: Mapping[str, Any]) -> str:
    """Describe an action given in the protocol's JSON form: ``lead 4C 4H``.

    An action that cannot be decoded is returned as JSON.
    """
    try:
        return describe(codec_of(game).decode_json(dict(action)))
    except DecodeError:
        return json.dumps(action)


def view_of_json(view: Mapping[str, Any]) -> View:
    """Decode a view from the protocol's JSON form into the dataclass of its game.

    Raises:
        DecodeError: the JSON is not a view of a registered game.
    """
    try:
        message = view_message(view)
    except ParseError as error:
        raise DecodeError(f"is not a valid JSON view: {error}") from error
    member = message.WhichOneof("game")
    game: str | None = message.generic.game if member == "generic" else member
    if game is None:
        raise DecodeError("is a view of no game")
    try:
        codec = codec_of(find_game(game))
    except SetupError as error:
        raise DecodeError(f"is a view of another game: {error}") from error
    return codec.decode_view(message)


@dataclass(slots=True)
class RecordedClock:
    """Remaining time of a seat, and whether it requests the legal actions and the text."""

    clock: bot_pb2.Clock
    wants_legal: bool = True
    wants_text: bool = False


@dataclass(frozen=True, slots=True)
class RecordedQuestion:
    """A question of a recorded game, rebuilt as it was sent to the seat."""

    request: bot_pb2.ActRequest
    legal: Legal


def question(
    match: Line, record: GameRecord, seed: bytes, decision: int, rights: Sequence[RecordedClock]
) -> RecordedQuestion:
    """Rebuild the question of one decision of a recorded game, answered or not.

    Args:
        match: the record's match line.
        record: the game.
        seed: the seed of the match, 32 bytes.
        decision: number of the decision within the game, from 0.
        rights: clock and settings of each seat; a record does not contain them.

    Raises:
        Mismatch: the decision does not exist, or the record is not valid up to it.
    """
    for recorded in questions(match, record, seed, rights):
        if recorded.request.decision == decision:
            return recorded
    raise Mismatch(
        f"{game_text(record.number)} has no decision {decision + 1}; it has {len(record.actions)}"
    )


def questions(
    match: Line, record: GameRecord, seed: bytes, rights: Sequence[RecordedClock]
) -> Iterator[RecordedQuestion]:
    """Yield the questions of a recorded game in order, up to the end of the record.

    The arguments are those of :func:`question`. A bank that a line records replaces the one in
    ``rights``.

    Raises:
        Mismatch: the record is not valid.
    """
    game = find_game(match["game"])
    _check_package(game.id, record, ("name", "version"))
    options = game.settle(match["options"])
    sides = game.sides(match["seats"], options)
    setting = TableSetting(match["match"], game, codec_of(game), match["seats"], options, sides)
    number = record.game["board"]
    board = referee_pb2.Board(game=record.number, number=number, seed=board_seed(seed, number))
    lines = {line["decision"]: line for line in record.actions}
    play = RunningGame(setting, board)
    untimed = [RecordedClock(each.clock, each.wants_legal, each.wants_text) for each in rights]
    while open_questions := dict(play.ask(_with_banks(untimed, play, lines))):
        for open_one in open_questions.values():
            yield RecordedQuestion(open_one.question, open_one.legal)
        for seat, open_one in open_questions.items():
            line = lines.get(open_one.decision)
            if line is None or line["seat"] != seat:
                return
            action = action_message(line["action"])
            try:
                play.answer(seat, bot_pb2.ActResponse(action=action), 0.0)
            except WrongAnswer as wrong:
                where = decision_text(record.number, open_one.decision)
                raise Mismatch(f"{where}: {wrong.clause}") from None


def _with_banks(
    rights: Sequence[RecordedClock], play: RunningGame, lines: Mapping[int, Line]
) -> Sequence[RecordedClock]:
    """Update the clocks with the banks recorded for the questions of this position.

    Changes ``rights`` in place and returns it.
    """
    for decision, seat in enumerate(play.state.actors, play.decisions):
        bank_ms = lines.get(decision, {}).get("bank_ms")
        if bank_ms is not None:
            left = bot_pb2.Clock(allowance_ms=rights[seat].clock.allowance_ms, bank_ms=bank_ms)
            rights[seat].clock = left
    return rights


def position(state: State) -> dict[str, Any]:
    """Return a position as JSON with all hidden information: hands, stocks and layouts."""
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
    """Return the errors of a record as sentences; an empty list if the record is valid.

    Deals every board again from the seed, replays every action and recomputes every score and
    place.
    """
    if record.seed is None:
        return [
            "the seed is not revealed; a record can be verified once its match is closed, and a "
            "match that was cancelled before has no seed to reveal"
        ]
    if commitment(record.seed) != record.match.get("commitment"):
        return ["the seed is not the one that was committed to when the match was scheduled"]
    if others := list(dict.fromkeys(filter(None, map(_other_package(record), record.games)))):
        return others
    checked = (game_problem(record, game) for game in record.games)
    return [*_misnumbered(record), *(problem for problem in checked if problem)]


def _other_package(record: MatchRecord) -> Callable[[GameRecord], str | None]:
    def problem(game: GameRecord) -> str | None:
        try:
            _check_package(str(record.match.get("game")), game, ("name", "version", "code"))
        except (Mismatch, SetupError) as error:
            return str(error)
        return None

    return problem


def game_problem(record: MatchRecord, game: GameRecord) -> str | None:
    """Return why a game of a record is not valid; None if it is valid.

    Args:
        record: the record that contains the game's match line and seed. The seed must be known.
        game: one of its games.
    """
    assert record.seed is not None
    try:
        _verify_game(record.match, game, record.seed)
    except (Mismatch, SetupError, RecordError) as error:
        return str(error)
    except KeyError as error:
        return f"{game_text(game.number)}: a line lacks the member {error}"
    except (TypeError, IndexError, AttributeError) as error:
        return f"{game_text(game.number)}: a line has a value of the wrong type: {error}"
    return None


def _misnumbered(record: MatchRecord) -> list[str]:
    """Find games that are duplicated, missing, or played on the wrong board."""
    boards, tables = record.match["boards"], table_count(record.match)
    numbers = sorted(game.number for game in record.games)
    # The first fault ends a strict match, so later games were not played.
    last = numbers[-1] + 1 if numbers and _was_stopped(record) else boards * tables
    if numbers != list(range(min(last, boards * tables))):
        return [
            f"it has games {[number + 1 for number in numbers]}; {tables} tables of {boards} "
            f"boards are 1 to {boards * tables}, each once"
        ]
    mirrored = record.match.get("mirrored", True)
    return [
        f"{game_text(game.number)} was played on board {number_text(game.game['board'])}"
        for game in record.games
        if game.game["board"] != (game.number % boards if mirrored else game.number)
    ]


def _was_stopped(record: MatchRecord) -> bool:
    """Return whether a fault ended a match of the strict policy."""
    strict = record.match.get("policy") == "strict"
    return strict and any(game.faults for game in record.games)


def _verify_game(match: Line, record: GameRecord, seed: bytes) -> None:
    game = find_game(match["game"])
    options = game.settle(match["options"])
    sides = game.sides(match["seats"], options)
    *_, last = steps(match, record, seed)
    verdicts = record.result["verdicts"]
    out = {sides[seat] for seat, verdict in enumerate(verdicts) if verdict != Verdict.FINISHED}
    over = not last.state.actors
    if not over and not out:
        raise Mismatch(f"{game_text(record.number)} ends before it is over, and nobody faulted")
    scores = last.state.scores if over else None
    places = places_with_faults(last.state.place_keys if over else None, sides, out)
    for name, true in (("scores", scores), ("places", places)):
        recorded = record.result[name]
        if recorded != (None if true is None else list(true)):
            raise Mismatch(
                f"{game_text(record.number)}: its {name} are {recorded}; the rules give {true}"
            )
    for line in record.actions:
        if line.get("by") == "referee" and verdicts[line["seat"]] == Verdict.FINISHED:
            raise Mismatch(
                f"{decision_text(record.number, line['decision'])}: the referee acted for a "
                "seat that did not fault"
            )
