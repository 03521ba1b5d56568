"""One game while it is played: its position, what is being asked, and what has happened."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from pokearena.v1 import bot_pb2, referee_pb2

from referee.codec import Codec, DecodeError
from referee.dealing import Seeded, derive
from referee.games.contract import Action, Game, Legal, Merit, Options, State, places_of
from referee.record import action_line, dump, fault_line, game_line, result_line
from referee.sanitizing import quote, sanitized
from referee.verdict import Fault, Verdict
from referee.wording import describe, some

NOTE_CHARACTERS = 200
_LUCK = (1 << 64) - 1


@dataclass(frozen=True, slots=True)
class Setting:
    """What all games of a table share."""

    match: str
    game: Game
    codec: Codec
    seats: int
    options: Options
    sides: tuple[int, ...]

    @property
    def two_sided(self) -> bool:
        """Whether a fault of one side is the win of the other."""
        return len(set(self.sides)) == 2


class Rights(Protocol):
    """What a seat has left of its time, and wants to be told."""

    wants_legal: bool

    @property
    def clock(self) -> bot_pb2.Clock:
        """What is left of its time: a value, another one as soon as it is less."""


@dataclass(slots=True)
class Wrong(Exception):
    """An answer that is no legal action."""

    verdict: Verdict
    clause: str


@dataclass(slots=True)
class Asked:
    """A question that is open."""

    game: int
    decision: int
    data: bytes
    """The question as it is sent."""
    legal: Legal
    bank_ms: int
    """What it says of the bank."""

    @property
    def question(self) -> bot_pb2.ActRequest:
        """The question as a message."""
        return bot_pb2.ActRequest.FromString(self.data)


class Play:
    """A game in progress. It is over when :attr:`result` is there."""

    def __init__(self, setting: Setting, board: referee_pb2.Board) -> None:
        self.setting = setting
        self.board = board
        self.number = board.game
        self.state = setting.game.start(Seeded(board.seed), setting.seats, dict(setting.options))
        """Where the game stands: what all have done whose turn it was together."""
        self._luck = [
            int.from_bytes(derive(board.seed, "luck", seat)[:8], "big")
            for seat in range(setting.seats)
        ]
        self._heads = [
            bot_pb2.ActRequest(match=setting.match, game=board.game, seat=seat)
            for seat in range(setting.seats)
        ]
        """What all questions of a seat begin with; the rest is filled in for each."""
        self._clocks: list[bot_pb2.Clock | None] = [None] * setting.seats
        self.decisions = 0
        """How many have been made."""
        self._moves: dict[int, Action] = {}
        self._lines = [dump(game_line(board.game, board.number))]
        self._said: list[tuple[int, str]] = []
        """The moves of this position, by decision, that are not in the record yet."""
        self._out: dict[int, Verdict] = {}
        self.asked: dict[int, Asked] = {}
        self.result: str | None = None
        """The record of the game as text once it is over."""
        self.bank_ms = [0.0] * setting.seats
        """Drawn from each seat's bank by this game."""
        self.slowest_ms = [0.0] * setting.seats
        self.faults = [0] * setting.seats
        """Counted against each seat because of this game, crashes aside."""
        self.crashes = [0] * setting.seats
        self._banks: list[int | None] = [None] * setting.seats
        """What the last question of each seat that is in the record said of its bank."""

    def ask(self, rights: Sequence[Rights]) -> Iterable[tuple[int, Asked]]:
        """The questions of a position that has just been reached, with their seats.

        For seats that are out the referee answers, until a position has something to ask or the
        game is over.

        Args:
            rights: what each seat has left, and wants.
        """
        while self.result is None and not self.asked:
            actors = self.state.actors
            if not actors:
                self._finish(self.state)
                return ()
            for decision, seat in enumerate(actors, self.decisions):
                legal = self.state.legal(seat)
                if seat in self._out:
                    self._make_move(seat, decision, next(iter(legal)), 0.0, "", True)
                else:
                    self.asked[seat] = self._question(seat, decision, legal, rights[seat])
            if not self.asked:
                self._follow()
        return self.asked.items()

    def _question(self, seat: int, decision: int, legal: Legal, rights: Rights) -> Asked:
        head, clock = self._heads[seat], rights.clock
        if clock is not self._clocks[seat]:
            head.clock.CopyFrom(clock)
            self._clocks[seat] = clock
        head.decision = decision
        head.complete = rights.wants_legal and legal.complete
        head.luck = (self._luck[seat] + decision) & _LUCK
        view = self.state.view(seat)
        data = self.setting.codec.question(head, view, legal if rights.wants_legal else ())
        return Asked(self.number, decision, data, legal, clock.bank_ms)

    def answer(
        self,
        seat: int,
        response: bot_pb2.ActResponse,
        ms: float,
        message: tuple[int, int] | None = None,
    ) -> bool:
        """Takes an answer; True if a new position has been reached.

        message: the number of the message it was asked in, and its place there, if that does not
            follow from the games.

        Raises:
            Wrong: it is no legal action. The question stays open.
        """
        asked = self.asked[seat]
        try:
            action = self.setting.codec.decode(response.action)
        except DecodeError as error:
            raise Wrong(Verdict.PROTOCOL, f"its answer {error}") from None
        if action not in asked.legal:
            raise Wrong(
                Verdict.ILLEGAL,
                f'it answered "{quote(describe(action))}", which is not legal; '
                f"legal: {some(asked.legal)}",
            )
        del self.asked[seat]
        note = sanitized(response.note[:NOTE_CHARACTERS]) if response.note else ""
        bank_ms = None if asked.bank_ms == self._banks[seat] else asked.bank_ms
        self._banks[seat] = asked.bank_ms
        self._make_move(seat, asked.decision, action, ms, note, False, bank_ms, message)
        if self.asked:
            return False
        self._follow()
        return True

    def _make_move(
        self,
        seat: int,
        decision: int,
        action: Action,
        ms: float,
        note: str,
        by_referee: bool,
        bank_ms: int | None = None,
        message: tuple[int, int] | None = None,
    ) -> None:
        self._moves[seat] = action
        text = self.setting.codec.action_text(action)
        line = action_line(
            self.number, decision, seat, text, ms, note, by_referee, bank_ms, message
        )
        self._said.append((decision, line))
        if ms > self.slowest_ms[seat]:
            self.slowest_ms[seat] = ms

    def _note(self) -> None:
        """Puts the moves of a position into the record, in the order of their decisions: which
        of several seats answered first is left to no clock."""
        if len(self._said) > 1:
            self._said.sort()
        self._lines.extend(line for _, line in self._said)
        self._said.clear()

    def _follow(self) -> None:
        self._note()
        self.decisions += len(self._moves)
        self.state = self.state.after(self._moves)
        self._moves = {}

    def fault(self, fault: Fault) -> bool:
        """Puts a seat out of the game for a fault; True if the game goes on to a new position."""
        if self.result is not None or fault.seat in self._out:
            return False
        self._lines.append(dump(fault_line(fault)))
        return self.put_out(fault.seat, fault.verdict)

    def begin_without(self, absent: Mapping[int, Verdict], faults: Iterable[Fault]) -> None:
        """Begins the game with seats that are out already.

        Args:
            absent: these seats, and why.
            faults: what is to be said of them in this game.
        """
        self._lines += [dump(fault_line(fault)) for fault in faults]
        self._out.update(absent)
        if self._out and self.setting.two_sided:
            self._finish(None)

    def put_out(self, seat: int, verdict: Verdict) -> bool:
        """Puts a seat out of the game; True if the game goes on to a new position.

        In a game of two sides the other side wins at once. With more sides the seat plays the
        most harmless legal action to the end, and nobody else pays for it.
        """
        if self.result is not None or seat in self._out:
            return False
        self._out[seat] = verdict
        if self.setting.two_sided:
            self.asked.clear()
            self._finish(None)
            return False
        asked = self.asked.pop(seat, None)
        if asked is None:
            return False
        self._make_move(seat, asked.decision, next(iter(asked.legal)), 0.0, "", True)
        if self.asked:
            return False
        self._follow()
        return True

    def stop(self) -> None:
        """Ends the game where it stands, with no scores."""
        if self.result is None:
            self.asked.clear()
            self._finish(None)

    def _finish(self, end: State | None) -> None:
        """Writes the result: of the position at the end, or of a game that a fault ended."""
        self._note()
        sides = self.setting.sides
        out_sides = {sides[seat] for seat in self._out}
        verdicts = [self._out.get(seat, Verdict.FINISHED) for seat in range(len(sides))]
        tally: dict[str, list[Any]] = {
            "bank_ms": [round(ms, 3) for ms in self.bank_ms],
            "slowest_ms": [round(ms, 3) for ms in self.slowest_ms],
            "faults": self.faults,
            "crashes": self.crashes,
        }
        scores, merits = (None, None) if end is None else (end.scores, end.merits)
        places = places_with_faults(merits, sides, out_sides)
        line = result_line(self.number, places, scores, verdicts, tally)
        self._lines.append(dump(line))
        self.result = "".join(self._lines)


def places_with_faults(
    merits: Sequence[Merit] | None, sides: tuple[int, ...], out_sides: Iterable[int]
) -> tuple[int, ...]:
    """Places by seat: by merit, and behind everyone else those that are out.

    Args:
        merits: what each seat is ranked by; None if the game was ended by a fault: the others win.
        sides: the side of each seat.
        out_sides: the sides that faulted.
    """
    out = set(out_sides)
    if merits is None:
        merits = (0,) * len(sides)
    playing = [seat for seat, side in enumerate(sides) if side not in out]
    ranked = places_of([merits[s] for s in playing], [sides[s] for s in playing])
    places = dict(zip(playing, ranked, strict=True))
    last = 1 + len(set(sides) - out)
    return tuple(places.get(seat, last) for seat in range(len(sides)))
