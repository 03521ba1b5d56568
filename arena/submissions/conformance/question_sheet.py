"""Awkward questions for bots, found in games with random actions."""

from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from random import Random
from typing import Final

from pokearena.v1 import bot_pb2

from arena.matches.runner import record_text
from arena.store.match_settings import MatchSettings
from arena.store.matches.spec import Entrant, MatchSpec
from arena.submissions.conformance.check import CheckRecord
from arena.submissions.conformance.examined_forms import match_of
from referee.games.contract import Legal, State
from referee.games.shared.dealing import Seeded, board_seed
from referee.record import (
    GameRecord,
    Remarks,
    action_line,
    dump,
    game_line,
    read_games,
    result_line,
)
from referee.replay import RecordedClock, RecordedQuestion, codec_of, questions

HUNDREDS: Final = 200
"""Number of legal actions from which a question counts as HUNDREDS."""


class QuestionKind(StrEnum):
    """Reason why a question is awkward; the value is the check's name."""

    SINGLE = "one legal action"
    HUNDREDS = "hundreds of legal actions"
    SAMPLE = "a list that is not complete"
    TOGETHER = "choices all make at once"
    EDGE = "first and last decisions"
    ANY = "the middle of games"


@dataclass(frozen=True, slots=True)
class PreparedQuestion:
    """A question of a prepared game."""

    kind: QuestionKind
    recorded: RecordedQuestion
    listed: int
    """Number of listed legal actions."""

    @property
    def place(self) -> tuple[int, int]:
        """Game and decision of the question."""
        return self.recorded.request.game, self.recorded.request.decision


@dataclass(frozen=True, slots=True)
class QuestionSheet:
    """Prepared questions for one seat, with the records that contain them."""

    spec: MatchSpec
    seat: int
    positions: tuple[PreparedQuestion, ...]
    records: tuple[GameRecord, ...]

    @property
    def record(self) -> CheckRecord:
        """The games as the record of a match between random players."""
        text = record_text(self.spec, {r.number: r.text for r in self.records}, self.spec.seed)
        return CheckRecord(self.spec.id, text)

    def question(self, *places: tuple[int, int]) -> str:
        """Return these questions, sent in one message, as an argument of `pokearena ask`."""
        return f"{self.spec.id}:" + ",".join(f"{game}:{decision}" for game, decision in places)

    def before(self, position: PreparedQuestion) -> list[bot_pb2.ActRequest]:
        """Return the seat's earlier requests in this game, in order."""
        game, decision = position.place
        record = next(r for r in self.records if r.number == game)
        requests = []
        for question in self._replayed(record):
            if question.request.decision >= decision:
                break
            if question.request.seat == self.seat:
                requests.append(question.request)
        return requests

    def _replayed(self, record: GameRecord) -> Iterator[RecordedQuestion]:
        return questions(
            self.spec.line(), record, self.spec.seed, recorded_clocks(self.spec, self.seat)
        )


def recorded_clocks(spec: MatchSpec, seat: int) -> list[RecordedClock]:
    """Return the initial rights of the seats; only `seat` receives its legal actions."""
    return [RecordedClock(spec.clock.message(), seat == other) for other in range(spec.seats)]


def prepare_questions(
    form: MatchSettings, seat: int, seed: bytes, games: int, each: int
) -> QuestionSheet:
    """Prepare questions for a seat.

    Args:
        seat: the seat that receives the questions.
        seed: the seed of the examination, 32 bytes.
        games: the number of random games to search.
        each: the maximum number of questions per kind.

    Returns:
        The questions, sorted by kind and place, with the records of all games.
    """
    names = ["chance", *(f"chance-{number}" for number in range(2, form.sides + 1))]
    entrants = tuple(Entrant(name, "", ".", {}) for name in names)
    spec = match_of(form, "questions", seed, games, entrants)
    played = [_RandomGame(form, spec, number) for number in range(games)]
    chosen: dict[tuple[int, int], QuestionKind] = {}
    for kind in QuestionKind:
        for place in _chosen(kind, seat, played, each, chosen):
            chosen[place] = kind
    positions: list[PreparedQuestion] = []
    records = tuple(recorded.record for recorded in played)
    sheet = QuestionSheet(spec, seat, (), records)
    for recorded in played:
        decisions = [decision for game, decision in chosen if game == recorded.number]
        positions += _positions(sheet, recorded, chosen, max(decisions, default=-1))
    order = list(QuestionKind)
    positions.sort(key=lambda position: (order.index(position.kind), position.place))
    return QuestionSheet(spec, seat, tuple(positions), records)


def _positions(
    sheet: QuestionSheet,
    played: "_RandomGame",
    chosen: dict[tuple[int, int], QuestionKind],
    last: int,
) -> Iterator[PreparedQuestion]:
    if last < 0:
        return
    for question in sheet._replayed(played.record):
        decision = question.request.decision
        kind = chosen.get((played.number, decision))
        if kind is not None and question.request.seat == sheet.seat:
            yield PreparedQuestion(kind, question, len(question.request.legal))
        if decision >= last:
            return


def _chosen(
    kind: QuestionKind,
    seat: int,
    played: Sequence["_RandomGame"],
    each: int,
    taken: Container[tuple[int, int]],
) -> list[tuple[int, int]]:
    """Select questions of one kind, as (game, decision).

    Selects them in the order of the games. Exceptions: HUNDREDS prefers the longest lists of
    actions, SAMPLE the shortest; ANY selects one random question per game.
    """
    candidates = [
        (listed, recorded.number, decision)
        for recorded in played
        for decision, who, kinds, listed in recorded.decisions
        if who == seat and kind in kinds and (recorded.number, decision) not in taken
    ]
    if kind is QuestionKind.ANY:
        # If all questions of the seat are of another kind, use those.
        candidates = candidates or [
            (listed, recorded.number, decision)
            for recorded in played
            for decision, who, _, listed in recorded.decisions
            if who == seat
        ]
        chance = Random(0)
        by_game = {
            n: [d for _, g, d in candidates if g == n] for n in {g for _, g, _ in candidates}
        }
        return [(game, chance.choice(decisions)) for game, decisions in sorted(by_game.items())]
    if kind is QuestionKind.HUNDREDS:
        candidates.sort(key=lambda candidate: -candidate[0])
    if kind is QuestionKind.SAMPLE:
        candidates.sort()
    return [(game, decision) for _, game, decision in candidates[:each]]


class _RandomGame:
    """A game with random actions."""

    def __init__(self, form: MatchSettings, spec: MatchSpec, number: int) -> None:
        self.number = number
        self.decisions: list[tuple[int, int, set[QuestionKind], int]] = []
        """(decision, seat, kinds, number of listed actions) of each decision."""
        self._chance = Random(f"{spec.seed.hex()} {number}")
        self._codec = codec_of(form.rules)
        sides = form.rules.sides(spec.seats, form.options)
        self._lines = [dump(game_line(number, number, 0, [spec.versions[side] for side in sides]))]
        state = form.rules.start(
            Seeded(board_seed(spec.seed, number)), spec.seats, dict(form.options)
        )
        while state.actors:
            state = self._follow(state)
        outcome = form.rules.outcome(state, sides)
        nothing = [0] * spec.seats
        tally = {"bank_ms": nothing, "slowest_ms": nothing, "faults": nothing, "crashes": nothing}
        verdicts = ["finished"] * spec.seats
        ended = result_line(number, outcome.places, outcome.scores, verdicts, tally)
        (self.record,) = read_games("".join([*self._lines, dump(ended)]))
        seats = {who for _, who, _, _ in self.decisions}
        for seat in seats:
            seat_kinds = [kinds for _, who, kinds, _ in self.decisions if who == seat]
            for kinds in (seat_kinds[0], seat_kinds[-1]):
                if QuestionKind.HUNDREDS not in kinds:
                    kinds.add(QuestionKind.EDGE)

    def _follow(self, state: State) -> State:
        moves = {}
        first = len(self.decisions)
        for number, seat in enumerate(state.actors, first):
            legal = state.legal(seat)
            listed = list(legal)
            moves[seat] = self._chance.choice(listed)
            kinds = _kinds(legal, len(listed), len(state.actors))
            self.decisions.append((number, seat, kinds, len(listed)))
            text = self._codec.action_text(moves[seat])
            self._lines.append(action_line(self.number, number, seat, text, 0.0, Remarks()))
        return state.after(moves)


def _kinds(legal: Legal, listed: int, actors: int) -> set[QuestionKind]:
    """Return the kinds of a question; one with HUNDREDS of actions is never ANY."""
    kinds = {QuestionKind.HUNDREDS} if listed >= HUNDREDS else {QuestionKind.ANY}
    if not legal.complete:
        kinds.add(QuestionKind.SAMPLE)
    if actors > 1:
        kinds.add(QuestionKind.TOGETHER)
    elif listed == 1:
        kinds.add(QuestionKind.SINGLE)
    return kinds
