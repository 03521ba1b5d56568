"""A game in progress: its position, its open questions and its record."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from pokearena.v1 import bot_pb2, referee_pb2

from referee.action_phrases import describe, describe_some
from referee.faults import Fault, Verdict
from referee.game_codec import DecodeError, GameCodec, chosen_action
from referee.games.contract import Action, Game, Legal, Options, PlaceKey, State, View, places_of
from referee.games.shared.dealing import Seeded, derive
from referee.presentation.question_text import ANSWER_CHARACTERS, parse_answer, question_text
from referee.reasoning import SeatReasoning, digests
from referee.record import (
    BY_REFEREE,
    TAGS,
    Remarks,
    action_line,
    dump,
    fault_line,
    game_line,
    optional_tally,
    result_line,
)
from referee.sanitizing import quote, sanitized
from referee.tags import add_tags

NOTE_CHARACTERS = 200
_LUCK = (1 << 64) - 1


@dataclass(frozen=True, slots=True)
class TableSetting:
    """Settings shared by all games of a table."""

    match: str
    game: Game
    codec: GameCodec
    seats: int
    options: Options
    sides: tuple[int, ...]
    table: int = 0
    """Number of the table within the match."""
    seating: tuple[str, ...] = ()
    """The entrant at each seat."""
    sandbox: str = ""
    """The sandbox of the bots; empty if no bot has one."""
    package: Mapping[str, str] = field(default_factory=dict)
    """Name, version and hash of the package of the game; empty for a built-in game."""
    reasoning_bytes: int = 0
    """Maximum size of the reasoning and usage of one seat in one game."""

    @property
    def two_sided(self) -> bool:
        """Return whether the table has two sides, so that a fault of one is a win of the other."""
        return len(set(self.sides)) == 2


class SeatClock(Protocol):
    """Remaining time of a seat, and whether it requests the legal actions and the text."""

    wants_legal: bool
    wants_text: bool

    @property
    def clock(self) -> bot_pb2.Clock:
        """Return the remaining time; a changed time is a new object."""


@dataclass(slots=True)
class WrongAnswer(Exception):
    """An answer that is not a legal action."""

    verdict: Verdict
    clause: str


@dataclass(slots=True)
class OpenQuestion:
    """An open question."""

    game: int
    decision: int
    data: bytes
    """The encoded ``ActRequest``."""
    legal: Legal
    bank_ms: int
    """The bank in the question, in milliseconds."""
    allowance_ms: float
    """The allowance in the question, in milliseconds."""
    attempt: int = 0
    """Number of the try, from 0."""
    spent_ms: float = 0.0
    """Time of earlier tries, in milliseconds."""
    excused_ms: float = 0.0
    """Milliseconds of all tries that the clock does not count."""

    @property
    def question(self) -> bot_pb2.ActRequest:
        """Decode the question."""
        return bot_pb2.ActRequest.FromString(self.data)


class RunningGame:
    """A game in progress. It is over when :attr:`result` is not None."""

    def __init__(self, setting: TableSetting, board: referee_pb2.Board) -> None:
        self.setting = setting
        self.board = board
        self.number = board.game
        self.state = setting.game.start(Seeded(board.seed), setting.seats, dict(setting.options))
        """Position after the last complete set of moves; it excludes partial simultaneous moves."""
        self._luck = [
            int.from_bytes(derive(board.seed, "luck", seat)[:8], "big")
            for seat in range(setting.seats)
        ]
        self._heads = [
            bot_pb2.ActRequest(match=setting.match, game=board.game, seat=seat)
            for seat in range(setting.seats)
        ]
        """Constant part of each seat's questions; the other fields are set for each question."""
        self._clocks: list[bot_pb2.Clock | None] = [None] * setting.seats
        self.decisions = 0
        """Number of completed decisions."""
        self._moves: dict[int, Action] = {}
        line = game_line(
            board.game,
            board.number,
            setting.table,
            setting.seating,
            setting.sandbox,
            setting.package,
        )
        self._lines = [dump(line)]
        self._pending_lines: list[tuple[int, str]] = []
        """Record lines of this position by decision, not yet appended to the record."""
        self._out: dict[int, Verdict] = {}
        self.asked: dict[int, OpenQuestion] = {}
        self.result: referee_pb2.GameFinished | None = None
        """The game's record and results once it is over."""
        self._decision_ms: list[list[float]] = [[] for _ in range(setting.seats)]
        """Decision times of each seat, without decisions that the referee made for it."""
        self._faulted: list[referee_pb2.GameFault] = []
        self.bank_ms = [0.0] * setting.seats
        """Milliseconds that this game drew from each seat's bank."""
        self.slowest_ms = [0.0] * setting.seats
        self.faults = [0] * setting.seats
        """Faults counted against each seat because of this game, without crashes."""
        self.crashes = [0] * setting.seats
        self.corrections = [0] * setting.seats
        """Corrections of each seat's answers."""
        self.defaults = [0] * setting.seats
        """Default actions that each seat's bot played because it did not decide."""
        self.tags: list[list[str]] = [[] for _ in range(setting.seats)]
        """Tags that each seat's bot has set."""
        self.notes = [""] * setting.seats
        """Latest note of each seat's bot."""
        self._reasoning = [SeatReasoning(setting.reasoning_bytes) for _ in range(setting.seats)]
        self._banks: list[int | None] = [None] * setting.seats
        """Bank of each seat's last question that is in the record."""

    def ask(self, rights: Sequence[SeatClock]) -> Iterable[tuple[int, OpenQuestion]]:
        """Return the questions of a position that has just been reached, with their seats.

        The referee plays for seats that are out, until a position has a question or the game is
        over.
        """
        while self.result is None and not self.asked:
            actors = self.state.actors
            if not actors:
                self._finish(self.state)
                return ()
            for decision, seat in enumerate(actors, self.decisions):
                legal = self.state.legal(seat)
                if seat in self._out:
                    self._make_move(seat, decision, next(iter(legal)), 0.0, BY_REFEREE)
                else:
                    self.asked[seat] = self._question(seat, decision, legal, rights[seat])
            if not self.asked:
                self._advance()
        return self.asked.items()

    def _question(self, seat: int, decision: int, legal: Legal, rights: SeatClock) -> OpenQuestion:
        head, clock = self._heads[seat], rights.clock
        if clock is not self._clocks[seat]:
            head.clock.CopyFrom(clock)
            self._clocks[seat] = clock
        head.decision = decision
        head.complete = rights.wants_legal and legal.complete
        head.luck = (self._luck[seat] + decision) & _LUCK
        view = self.state.view(seat)
        if rights.wants_text:
            head.text = self._text(seat, view, legal)
        data = self.setting.codec.question(head, view, legal if rights.wants_legal else ())
        return OpenQuestion(self.number, decision, data, legal, clock.bank_ms, clock.allowance_ms)

    def _text(self, seat: int, view: View, legal: Legal) -> str:
        setting, actors = self.setting, self.state.actors
        return question_text(
            setting.game, setting.options, setting.seats, view, seat, actors, legal
        )

    def correct(self, seat: int, wrong: WrongAnswer, ms: float, bank_ms: int) -> OpenQuestion:
        """Replace a seat's open question by one that corrects its answer; return the new one.

        Args:
            seat: the seat.
            wrong: why its answer was not accepted.
            ms: the time of the answer. The allowance is reduced by it.
            bank_ms: what is left of its bank.
        """
        asked = self.asked[seat]
        allowance_ms = max(0.0, asked.allowance_ms - ms)
        message = asked.question
        message.attempt = asked.attempt + 1
        message.clock.allowance_ms, message.clock.bank_ms = int(allowance_ms), bank_ms
        message.clock.last_ms = round(ms)
        message.correction.code = "illegal" if wrong.verdict is Verdict.ILLEGAL else "unreadable"
        message.correction.text = f"Your answer was not accepted: {wrong.clause}."
        again = replace(
            asked,
            data=message.SerializeToString(),
            allowance_ms=allowance_ms,
            attempt=message.attempt,
            spent_ms=asked.spent_ms + ms,
        )
        self.asked[seat] = again
        self.corrections[seat] += 1
        return again

    def answer(
        self,
        seat: int,
        response: bot_pb2.ActResponse,
        ms: float,
        message: tuple[int, int] | None = None,
    ) -> bool:
        """Apply an answer; return True if it leads to a new position.

        Args:
            seat: the seat that answers.
            response: the answer of its bot.
            ms: the time it took, in milliseconds.
            message: number of the message that held the question, and the question's index in it.
                None if both follow from the games.

        Raises:
            WrongAnswer: the answer is not a legal action. The question stays open.
        """
        question = self.asked[seat]
        if response.reasoning or response.HasField("usage"):
            self._reasoning[seat].add(question.decision, response)
        action = self._action(response, question)
        if action not in question.legal:
            raise WrongAnswer(
                Verdict.ILLEGAL,
                f'it answered "{quote(describe(action))}", which is not legal; '
                f"legal: {describe_some(question.legal)}",
            )
        del self.asked[seat]
        note = sanitized(response.note[:NOTE_CHARACTERS]) if response.note else ""
        if note:
            self.notes[seat] = note
        bank_ms = None if question.bank_ms == self._banks[seat] else question.bank_ms
        self._banks[seat] = question.bank_ms
        self.defaults[seat] += response.played_default
        if response.tags:
            add_tags(self.tags[seat], response.tags)
        default, excused_ms = response.played_default, question.excused_ms
        remarks = Remarks(note, False, question.attempt, default, excused_ms)
        total_ms = question.spent_ms + ms
        self._make_move(seat, question.decision, action, total_ms, remarks, bank_ms, message)
        if self.asked:
            return False
        self._advance()
        return True

    def _action(self, response: bot_pb2.ActResponse, question: OpenQuestion) -> Action:
        """Return the action of an answer, which need not be legal."""
        if not response.text:
            try:
                listed = question.question.legal if response.HasField("choice") else ()
                return self.setting.codec.decode(chosen_action(response, listed))
            except DecodeError as error:
                raise WrongAnswer(Verdict.PROTOCOL, f"its answer {error}") from None
        if response.HasField("action") or response.HasField("choice"):
            raise WrongAnswer(Verdict.PROTOCOL, "its answer has both an action and a text")
        action = parse_answer(self.setting.game, response.text, question.legal)
        if action is None:
            text = quote(response.text[:ANSWER_CHARACTERS])
            raise WrongAnswer(Verdict.PROTOCOL, f'its answer "{text}" names no action')
        return action

    def _make_move(
        self,
        seat: int,
        decision: int,
        action: Action,
        ms: float,
        remarks: Remarks,
        bank_ms: int | None = None,
        message: tuple[int, int] | None = None,
    ) -> None:
        self._moves[seat] = action
        text = self.setting.codec.action_text(action)
        line = action_line(self.number, decision, seat, text, ms, remarks, bank_ms, message)
        self._pending_lines.append((decision, line))
        if ms > self.slowest_ms[seat]:
            self.slowest_ms[seat] = ms
        if not remarks.by_referee:
            self._decision_ms[seat].append(round(ms, 3))

    def _append_moves(self) -> None:
        """Append the moves of a position to the record, sorted by decision.

        The order in which simultaneous answers arrive must not change the record.
        """
        if len(self._pending_lines) > 1:
            self._pending_lines.sort()
        self._lines.extend(line for _, line in self._pending_lines)
        self._pending_lines.clear()

    def _advance(self) -> None:
        self._append_moves()
        self.decisions += len(self._moves)
        self.state = self.state.after(self._moves)
        self._moves = {}

    def fault(self, fault: Fault) -> bool:
        """Record a fault and put its seat out; return True if the game reaches a new position."""
        if self.result is not None or fault.seat in self._out:
            return False
        self._record_fault(fault)
        return self.put_out(fault.seat, fault.verdict)

    def _record_fault(self, fault: Fault) -> None:
        self._lines.append(dump(fault_line(fault)))
        self._faulted.append(
            referee_pb2.GameFault(
                decision=fault.decision,
                seat=fault.seat,
                verdict=fault.verdict,
                sentence=fault.sentence,
                ended=fault.ended,
                output=fault.output,
            )
        )

    def begin_without(self, absent: Mapping[int, Verdict], faults: Iterable[Fault]) -> None:
        """Begin the game with seats that are already out."""
        for fault in faults:
            self._record_fault(fault)
        self._out.update(absent)
        if self._out and self.setting.two_sided:
            self._finish(None)

    def put_out(self, seat: int, verdict: Verdict) -> bool:
        """Put a seat out of the game; return True if the game reaches a new position.

        In a game of two sides the other side wins at once. With more sides, the seat plays the most
        harmless legal action until the end, so the other seats are not affected.
        """
        if self.result is not None or seat in self._out:
            return False
        self._out[seat] = verdict
        if self.setting.two_sided:
            self.asked.clear()
            self._finish(None)
            return False
        question = self.asked.pop(seat, None)
        if question is None:
            return False
        self._make_move(seat, question.decision, next(iter(question.legal)), 0.0, BY_REFEREE)
        if self.asked:
            return False
        self._advance()
        return True

    def stop(self) -> None:
        """End the game in its present position, without scores."""
        if self.result is None:
            self.asked.clear()
            self._finish(None)

    def _finish(self, end: State | None) -> None:
        """Write the result line.

        Args:
            end: the final position; None if a fault or a stop ended the game.
        """
        self._append_moves()
        sides = self.setting.sides
        out_sides = {sides[seat] for seat in self._out}
        verdicts = [self._out.get(seat, Verdict.FINISHED) for seat in range(len(sides))]
        tally: dict[str, list[Any]] = {
            "bank_ms": [round(ms, 3) for ms in self.bank_ms],
            "slowest_ms": [round(ms, 3) for ms in self.slowest_ms],
            "faults": self.faults,
            "crashes": self.crashes,
        }
        tally |= optional_tally(self.corrections, self.defaults, self.tags)
        lines = [kept.line(self.number, seat) for seat, kept in enumerate(self._reasoning)]
        scores, place_keys = (None, None) if end is None else (end.scores, end.place_keys)
        places = places_with_faults(place_keys, sides, out_sides)
        hashes = {"reasoning": digests(lines)} if any(lines) else {}
        line = result_line(self.number, places, scores, verdicts, tally | hashes)
        self._lines.append(dump(line))
        self.result = referee_pb2.GameFinished(
            game=self.number,
            board=self.board.number,
            record="".join(self._lines),
            places=places,
            scores=scores,
            verdicts=verdicts,
            decision_times=[referee_pb2.DecisionTimes(ms=times) for times in self._decision_ms],
            faulted=self._faulted,
            tags=[referee_pb2.SeatTags(tags=tags) for tags in tally.pop(TAGS, ())],
            reasoning=lines if hashes else (),
            **tally,
        )


def places_with_faults(
    place_keys: Sequence[PlaceKey] | None, sides: tuple[int, ...], out_sides: Iterable[int]
) -> tuple[int, ...]:
    """Return the places by seat: ranked by these keys, with sides that faulted last.

    Args:
        place_keys: ranking key of each seat; None if a fault ended the game and the others win.
        sides: the side of each seat.
        out_sides: the sides that faulted.
    """
    out = set(out_sides)
    if place_keys is None:
        place_keys = (0,) * len(sides)
    playing = [seat for seat, side in enumerate(sides) if side not in out]
    ranked = places_of([place_keys[s] for s in playing], [sides[s] for s in playing])
    places = dict(zip(playing, ranked, strict=True))
    last = 1 + len(set(sides) - out)
    return tuple(places.get(seat, last) for seat in range(len(sides)))
