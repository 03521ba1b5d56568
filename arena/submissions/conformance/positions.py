"""Questions that are awkward to answer, found by playing games at random."""

from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from random import Random
from typing import Any, Final

from pokearena.v1 import bot_pb2

from arena.matches.runner import record_text
from arena.store.matches.spec import Clock, Entrant, MatchSpec
from arena.submissions.conformance.check import Record
from arena.submissions.conformance.forms import Form, match_of
from referee.dealing import Seeded, board_seed
from referee.games.contract import Legal, State
from referee.record import GameRecord, action_line, dump, game_line, read_games, result_line
from referee.replay import Question, Rights, codec_of, questions

HUNDREDS: Final = 200
"""So many legal actions are hundreds."""


class Kind(StrEnum):
    """What makes a question awkward, as its check is called."""

    SINGLE = "one legal action"
    HUNDREDS = "hundreds of legal actions"
    SAMPLE = "a list that is not complete"
    TOGETHER = "choices all make at once"
    EDGE = "first and last decisions"
    ANY = "the middle of games"


@dataclass(frozen=True, slots=True)
class Position:
    """A question of a prepared game."""

    kind: Kind
    asked: Question
    listed: int
    """How many legal actions there are, or are listed."""

    @property
    def place(self) -> tuple[int, int]:
        """Its game and decision."""
        return self.asked.request.game, self.asked.request.decision


@dataclass(frozen=True, slots=True)
class Paper:
    """An examination paper: prepared questions to one seat, and the record they are in."""

    spec: MatchSpec
    seat: int
    positions: tuple[Position, ...]
    records: tuple[GameRecord, ...]

    @property
    def record(self) -> Record:
        """The games as a match that somebody played by chance."""
        text = record_text(self.spec, {r.number: r.text for r in self.records}, self.spec.seed)
        return Record(self.spec.id, text)

    def question(self, *places: tuple[int, int]) -> str:
        """What `pokearena ask` calls these questions of one message."""
        return f"{self.spec.id}:" + ",".join(f"{game}:{decision}" for game, decision in places)

    def before(self, position: Position) -> list[bot_pb2.ActRequest]:
        """What the seat was asked in this game before, in order."""
        game, decision = position.place
        record = next(r for r in self.records if r.number == game)
        told = []
        for one in self._replayed(record):
            if one.request.decision >= decision:
                break
            if one.request.seat == self.seat:
                told.append(one.request)
        return told

    def _replayed(self, record: GameRecord) -> Iterator[Question]:
        return questions(self.spec.line(), record, self.spec.seed, rights(self.spec, self.seat))


def rights(spec: MatchSpec, seat: int) -> list[Rights]:
    """What the seats have at the beginning of a match; only this one is told what is legal."""
    return [Rights(clock_of(spec.clock), seat == other) for other in range(spec.seats)]


def clock_of(clock: Clock) -> bot_pb2.Clock:
    """A full clock, as a bot is told of it."""
    return bot_pb2.Clock(allowance_ms=clock.allowance_ms, bank_ms=clock.bank_ms)


def paper(form: Form, seat: int, seed: bytes, games: int, each: int) -> Paper:
    """Questions to a seat from so many games played by chance, `each` of every kind at most."""
    names = ["chance", *(f"chance-{number}" for number in range(2, form.sides + 1))]
    entrants = tuple(Entrant(name, "", ".", {}) for name in names)
    spec = match_of(form, "questions", seed, games, entrants)
    played = [_Played(form, spec, number) for number in range(games)]
    wanted: dict[tuple[int, int], Kind] = {}
    for kind in Kind:
        for place in _chosen(kind, seat, played, each, wanted):
            wanted[place] = kind
    positions: list[Position] = []
    records = tuple(one.record for one in played)
    made = Paper(spec, seat, (), records)
    for one in played:
        decisions = [decision for game, decision in wanted if game == one.number]
        positions += _positions(made, one, wanted, max(decisions, default=-1))
    order = list(Kind)
    positions.sort(key=lambda position: (order.index(position.kind), position.place))
    return Paper(spec, seat, tuple(positions), records)


def _positions(
    made: Paper, played: "_Played", wanted: dict[tuple[int, int], Kind], last: int
) -> Iterator[Position]:
    if last < 0:
        return
    for asked in made._replayed(played.record):
        decision = asked.request.decision
        kind = wanted.get((played.number, decision))
        if kind is not None and asked.request.seat == made.seat:
            yield Position(kind, asked, len(asked.request.legal))
        if decision >= last:
            return


def _chosen(
    kind: Kind,
    seat: int,
    played: Sequence["_Played"],
    each: int,
    taken: Container[tuple[int, int]],
) -> list[tuple[int, int]]:
    """Where questions of a kind are: one game after the other, but the longest lists of hundreds
    and the shortest that are not complete."""
    found = [
        (listed, one.number, decision)
        for one in played
        for decision, who, kinds, listed in one.decisions
        if who == seat and kind in kinds and (one.number, decision) not in taken
    ]
    if kind is Kind.ANY:
        # Where all questions are of hundreds, so are the usual ones.
        found = found or [
            (listed, one.number, decision)
            for one in played
            for decision, who, _, listed in one.decisions
            if who == seat
        ]
        chance = Random(0)
        by_game = {n: [d for _, g, d in found if g == n] for n in {g for _, g, _ in found}}
        return [(game, chance.choice(decisions)) for game, decisions in sorted(by_game.items())]
    if kind is Kind.HUNDREDS:
        found.sort(key=lambda one: -one[0])
    if kind is Kind.SAMPLE:
        found.sort()
    return [(game, decision) for _, game, decision in found[:each]]


class _Played:
    """A game played by chance."""

    def __init__(self, form: Form, spec: MatchSpec, number: int) -> None:
        self.number = number
        self.decisions: list[tuple[int, int, set[Kind], int]] = []
        """Number, seat, what is awkward about it, how many actions are listed."""
        self._chance = Random(f"{spec.seed.hex()} {number}")
        self._codec = codec_of(form.game)
        sides = form.game.sides(spec.seats, form.options)
        line: dict[str, Any] = game_line(number, number)
        line |= {"table": 0, "seating": [spec.versions[side] for side in sides]}
        self._lines = [dump(line)]
        state = form.game.start(
            Seeded(board_seed(spec.seed, number)), spec.seats, dict(form.options)
        )
        while state.actors:
            state = self._follow(state)
        outcome = form.game.outcome(state, sides)
        nothing = [0] * spec.seats
        tally = {"bank_ms": nothing, "slowest_ms": nothing, "faults": nothing, "crashes": nothing}
        verdicts = ["finished"] * spec.seats
        ended = result_line(number, outcome.places, outcome.scores, verdicts, tally)
        (self.record,) = read_games("".join([*self._lines, dump(ended)]))
        seats = {who for _, who, _, _ in self.decisions}
        for seat in seats:
            own = [kinds for _, who, kinds, _ in self.decisions if who == seat]
            for kinds in (own[0], own[-1]):
                if Kind.HUNDREDS not in kinds:
                    kinds.add(Kind.EDGE)

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
            self._lines.append(action_line(self.number, number, seat, text, 0.0, "", False))
        return state.after(moves)


def _kinds(legal: Legal, listed: int, actors: int) -> set[Kind]:
    """What a question is; one with hundreds of actions is no ordinary one, wherever it stands."""
    found = {Kind.HUNDREDS} if listed >= HUNDREDS else {Kind.ANY}
    if not legal.complete:
        found.add(Kind.SAMPLE)
    if actors > 1:
        found.add(Kind.TOGETHER)
    elif listed == 1:
        found.add(Kind.SINGLE)
    return found
