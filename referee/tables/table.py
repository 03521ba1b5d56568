"""Play one table: schedule its games, ask the bots of its seats and run their clocks."""

import asyncio
import time
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from pokearena.v1 import bot_pb2, referee_pb2

from referee.faults import (
    CRASHES_TO_FORFEIT,
    FAULTS_TO_FORFEIT,
    PROCESS_FAULTS,
    Fault,
    TimeSpent,
    Verdict,
)
from referee.presentation.question_text import TEXT_VERSION
from referee.rpc.trace import SeatTrace
from referee.running_game import OpenQuestion, RunningGame, TableSetting, WrongAnswer
from referee.tables import judge
from referee.tables.bot_client import BotClient, FailureKind, NoAnswer
from referee.tables.spectator_stream import SpectatorStream
from referee.tables.stall_detector import StallDetector
from referee.tables.table_stream import TableStream
from referee.tables.time_bank import Batch, TimeBank

GAMES_IN_FLIGHT = 128
"""Maximum number of games of a table that run at the same time."""


@dataclass(slots=True)
class TableSeat:
    """State of one seat of a table."""

    number: int
    bot: BotClient
    time: TimeBank
    start_ms: int
    """Time limit of its bot to start."""
    unforgiving: bool = False
    """Whether the first fault forfeits the rest of the table."""
    faults: int = 0
    """Faults counted at this table, without crashes."""
    crashes: int = 0
    games_in_flight: int = 1
    wants_legal: bool = True
    wants_text: bool = False
    takes_corrections: bool = False
    ready: bool = False
    """Whether its bot has started and can receive questions."""
    out: bool = False
    """Whether it has forfeited the rest of the table."""
    init_fault: Fault | None = None
    """Why its bot could not be started; None once a game's record contains it."""
    ended: asyncio.Future[referee_pb2.BotReport] = field(
        default_factory=lambda: asyncio.get_running_loop().create_future()
    )
    """Report on the end of its process, when received."""
    waiting: list[tuple[RunningGame, OpenQuestion]] = field(default_factory=list)
    """Questions for the next message."""
    messages: int = 0
    """Number of messages sent."""
    busy: bool = False
    """Whether a task sends questions to its bot or is queued to do so."""

    def __post_init__(self) -> None:
        self._forfeit_at_limit()

    @property
    def clock(self) -> bot_pb2.Clock:
        """Return the remaining time as sent to the bot."""
        return self.time.clock

    def accept_start(self, response: bot_pb2.StartResponse) -> None:
        """Store the capabilities in the bot's answer to Start."""
        self.games_in_flight = min(max(1, response.games_in_flight), GAMES_IN_FLIGHT)
        self.wants_legal = not response.without_legal
        self.wants_text = response.with_text
        self.takes_corrections = response.with_corrections
        self.ready = True

    def replace_bot(self, address: str) -> BotClient:
        """Connect the seat to a new process; return the client of the old one for closing."""
        old, self.bot = self.bot, BotClient(address, self.bot.budget, self.bot.trace)
        self.ready = False
        self.ended = asyncio.get_running_loop().create_future()
        return old

    def count_fault(self, game: RunningGame) -> None:
        """Count a fault, for the seat and the game.

        The third fault, at an unforgiving table the first, forfeits the rest of the table.
        """
        self.faults += 1
        game.faults[self.number] += 1
        self._forfeit_at_limit()

    def count_crash(self, game: RunningGame | None, times: int = 1) -> None:
        """Count a lost process.

        The second, at an unforgiving table the first, forfeits the rest of the table.
        """
        self.crashes += times
        if game is not None:
            game.crashes[self.number] += times
        self._forfeit_at_limit()

    def _forfeit_at_limit(self) -> None:
        if self.unforgiving:
            too_many = self.faults + self.crashes > 0
        else:
            too_many = self.faults >= FAULTS_TO_FORFEIT or self.crashes >= CRASHES_TO_FORFEIT
        self.out = self.out or too_many


class RunningTable:
    """Plays the boards of one table and sends every finished game to its caller."""

    def __init__(
        self,
        order: referee_pb2.Table,
        setting: TableSetting,
        caller: TableStream,
        traces: Sequence[SeatTrace] = (),
    ) -> None:
        """Prepare a table."""
        self._order = order
        self._setting = setting
        self._caller = caller
        self._seats = [
            TableSeat(
                number,
                BotClient(seat.address, trace=traces[number] if traces else None),
                TimeBank(order.allowance_ms, seat.bank_ms),
                seat.start_ms or order.start_ms,
                order.unforgiving,
                seat.faults,
                seat.crashes,
            )
            for number, seat in enumerate(order.seats)
        ]
        self._waiting: deque[TableSeat] = deque()
        """Seats with waiting questions that no task has taken yet."""
        self._work = asyncio.Event()
        self._boards = deque(order.boards)
        self._games: dict[int, RunningGame] = {}
        self._had_parallel_games = False
        """Whether several games have run at the same time."""
        self._finished = 0
        self._over = asyncio.Event()
        self._stall_detector = StallDetector()
        self._spectators = SpectatorStream(
            order,
            lambda: self._games.values(),
            lambda: [seat.time.bank_ms for seat in self._seats],
            caller,
        )

    @property
    def budget_shares(self) -> tuple[float, ...]:
        """Return the used share of each seat's work budget, by seat."""
        return tuple(seat.bot.budget.spent / seat.bot.budget.granted for seat in self._seats)

    def ended(self, report: referee_pb2.BotReport) -> None:
        """Store an unsolicited report that a bot's process has ended."""
        if report.seat < len(self._seats):
            pending = self._seats[report.seat].ended
            if not pending.done():
                pending.set_result(report)

    def excuse(self, request: referee_pb2.ExcuseTimeRequest) -> None:
        """Excuse time in which a call of a bot's model failed."""
        if request.seat < len(self._seats):
            self._seats[request.seat].bot.excuse(request)

    async def run(self) -> None:
        """Play all boards of the table.

        Raises:
            ExceptionGroup: contains ProcessStalled if the measured times of the bots are
                unreliable.
        """
        try:
            async with asyncio.TaskGroup() as group:
                beating = group.create_task(self._stall_detector.beat())
                await asyncio.gather(*(self._start(seat) for seat in self._seats if not seat.out))
                asking = [group.create_task(self._ask_seats()) for _ in self._seats]
                showing = group.create_task(self._spectators.keep_open())
                self._begin_games()
                self._wake_asking_tasks()
                await self._over.wait()
                for task in (beating, showing, *asking):
                    task.cancel()
            await asyncio.gather(*(s.bot.end(self._order.match) for s in self._seats if s.ready))
            finished = referee_pb2.TableFinished(games=self._finished)
            self._caller.send(referee_pb2.RunTableResponse(finished=finished))
        finally:
            await asyncio.gather(*(seat.bot.close() for seat in self._seats))

    async def _start(self, seat: TableSeat) -> None:
        """Start a bot; on failure, put its seat out and keep the fault for its next game."""
        request = bot_pb2.StartRequest(
            match=self._order.match,
            game=self._order.game,
            seats=len(self._seats),
            seat=seat.number,
            options={k: str(v).lower() for k, v in self._setting.options.items()},
            games=len(self._order.boards),
            clock=seat.clock,
            rules=self._order.rules,
            text_version=TEXT_VERSION,
            traced=seat.bot.trace is not None,
            corrections=self._order.corrections,
        )
        began = time.monotonic()
        starting = asyncio.ensure_future(seat.bot.start(request, seat.start_ms / 1000))
        pending: set[asyncio.Future[Any]] = {starting, seat.ended}
        await asyncio.wait(pending, return_when=asyncio.FIRST_COMPLETED)
        elapsed_ms = 1000 * (time.monotonic() - began) - seat.bot.excused_ms
        self._stall_detector.check()
        try:
            if not starting.done():
                raise NoAnswer(FailureKind.BROKEN, "it was not listening yet")
            seat.accept_start(starting.result())
        except NoAnswer as failure:
            report = seat.ended.result() if seat.ended.done() else await self._report(seat)
            spent = TimeSpent(elapsed_ms, seat.start_ms)
            clause = f"did not start: {failure.clause}"
            seat.init_fault = judge.fault(seat.number, None, Verdict.INIT, clause, report, spent)
            seat.count_crash(None, CRASHES_TO_FORFEIT)
        finally:
            starting.cancel()

    def _begin_games(self) -> None:
        """Begin games up to the limit of the bots; set the end event when all games are over."""
        playing = [seat for seat in self._seats if not seat.out]
        at_once = min((seat.games_in_flight for seat in playing), default=1)
        while self._boards and len(self._games) < at_once and all(s.ready for s in playing):
            self._begin(self._boards.popleft())
        if not self._boards and not self._games:
            self._over.set()

    def _begin(self, board: referee_pb2.Board) -> None:
        game = RunningGame(self._setting, board)
        self._games[game.number] = game
        self._had_parallel_games = self._had_parallel_games or len(self._games) > 1
        absent = {seat.number: Verdict.FORFEIT for seat in self._seats if seat.out}
        faults = []
        for seat in self._seats:
            if seat.init_fault is not None:
                absent[seat.number] = Verdict.INIT
                faults.append(replace(seat.init_fault, game=game.number))
                game.crashes[seat.number] = CRASHES_TO_FORFEIT
                seat.init_fault = None
        game.begin_without(absent, faults)
        self._ask_next(game)

    def _ask_next(self, game: RunningGame) -> None:
        """Queue the questions of a new position at their seats, or report the finished game."""
        for number, question in game.ask(self._seats):
            seat = self._seats[number]
            seat.waiting.append((game, question))
            self._queue(seat)
        if game.result is not None:
            self._send_finished(game)

    def _send_finished(self, game: RunningGame) -> None:
        if self._games.pop(game.number, None) is None:
            return
        self._finished += 1
        self._spectators.ended(game)
        self._caller.send(referee_pb2.RunTableResponse(game=game.result))

    def _queue(self, seat: TableSeat) -> None:
        """Queue a seat for asking unless it is queued or being asked."""
        if not seat.busy:
            seat.busy = True
            self._waiting.append(seat)

    def _wake_asking_tasks(self) -> None:
        if self._waiting:
            self._work.set()

    async def _ask_seats(self) -> None:
        """Ask one bot after another, each with all of its waiting questions in one message.

        There is one such task per seat, so bots do not wait for each other. The task that receives
        an answer also asks the next bot, because waking another task costs a turn of the event
        loop. Therefore a task must call :meth:`_wake_asking_tasks` before it waits.
        """
        while True:
            while not self._waiting:
                self._work.clear()
                await self._work.wait()
            seat = self._waiting.popleft()
            self._wake_asking_tasks()
            batch = [(game, question) for game, question in seat.waiting if game.result is None]
            seat.waiting.clear()
            if batch:
                await self._ask(seat, batch)
                self._begin_games()
            seat.busy = False
            if seat.waiting:
                self._queue(seat)

    async def _ask(self, seat: TableSeat, batch: Batch) -> None:
        answers: list[bot_pb2.ActResponse] = []
        failure: NoAnswer | None = None
        places = self._number_message(seat, batch)
        if self._order.report_questions:
            self._report_questions(seat, batch)
        began = time.monotonic()
        try:
            await seat.bot.ask([question for _, question in batch], answers, seat.time.limit(batch))
        except NoAnswer as found:
            failure = found
        excused_ms = seat.bot.excused_ms
        elapsed_ms = 1000 * (time.monotonic() - began) - excused_ms
        self._stall_detector.check()
        for _, question in batch if excused_ms else ():
            question.excused_ms += excused_ms / len(batch)
        spent = seat.time.charge(elapsed_ms, batch, seat.number)
        unanswered = {game.number: (game, question) for game, question in batch}
        for answer in answers:
            game, question = unanswered.pop(answer.game)
            if game.asked.get(seat.number) is not question:
                continue  # another seat's fault has ended the game meanwhile
            place = places.get(game.number)
            try:
                if game.answer(seat.number, answer, elapsed_ms / len(batch), place):
                    self._ask_next(game)
            except WrongAnswer as wrong:
                if self._correct(seat, game, question, wrong, elapsed_ms / len(batch)):
                    continue
                report = await self._report(seat)
                seat.count_fault(game)
                verdict, clause, message = (
                    wrong.verdict,
                    wrong.clause,
                    replace(spent, message=place),
                )
                fault = judge.fault(
                    seat.number, question, verdict, clause, report, message, answer.action
                )
                self._fault(game, fault)
                self._forfeit_if_out(seat)
        if failure is not None:
            rest = list(unanswered.values())
            if self._correct_unreadable(seat, failure, rest, elapsed_ms / len(batch)):
                return
            await self._failed(seat, failure, rest, spent, places)

    def _report_questions(self, seat: TableSeat, batch: Batch) -> None:
        """Report the question that a seat receives, so that calls of models belong to decisions."""
        sent = referee_pb2.QuestionsSent(seat=seat.number)
        if len(batch) == 1:
            _, question = batch[0]
            sent.game, sent.decision = question.game, question.decision
        self._caller.send(referee_pb2.RunTableResponse(asked=sent))

    def _correct(
        self,
        seat: TableSeat,
        game: RunningGame,
        question: OpenQuestion,
        wrong: WrongAnswer,
        ms: float,
    ) -> bool:
        """Queue a question again with a correction; return False if that is not allowed."""
        has_time = question.allowance_ms - ms + seat.time.bank_ms >= 1
        if not (seat.takes_corrections and question.attempt < self._order.corrections and has_time):
            return False
        seat.waiting.append((game, game.correct(seat.number, wrong, ms, int(seat.time.bank_ms))))
        return True

    def _correct_unreadable(
        self, seat: TableSeat, failure: NoAnswer, unanswered: Batch, ms: float
    ) -> bool:
        """Queue the first question again after an answer that its bot could not send as a message.

        The questions after it were not sent, and are queued as they were.
        """
        unanswered = [(p, a) for p, a in unanswered if p.asked.get(seat.number) is a]
        if failure.kind is not FailureKind.UNREADABLE or not unanswered:
            return False
        (game, question), *others = unanswered
        wrong = WrongAnswer(Verdict.PROTOCOL, failure.clause)
        if not self._correct(seat, game, question, wrong, ms):
            return False
        seat.waiting.extend(others)
        return True

    def _number_message(self, seat: TableSeat, batch: Batch) -> dict[int, tuple[int, int]]:
        """Return the message number and the question's index in the message, by game.

        The result is empty while games run one at a time, because the record then implies both.
        """
        number = seat.messages
        seat.messages += 1
        if not self._had_parallel_games:
            return {}
        return {game.number: (number, place) for place, (game, _) in enumerate(batch)}

    async def _failed(
        self,
        seat: TableSeat,
        failure: NoAnswer,
        unanswered: Batch,
        spent: TimeSpent,
        places: Mapping[int, tuple[int, int]],
    ) -> None:
        """Handle a failure that leaves questions of a bot unanswered."""
        again = seat.crashes + 1 < CRASHES_TO_FORFEIT and bool(self._boards)
        seat.ready = False  # no game begins until the report on the process arrives
        report = await self._report(seat, restart=again)
        verdict = judge.verdict(failure, report)
        lost = verdict in PROCESS_FAULTS
        unanswered = [(p, a) for p, a in unanswered if p.asked.get(seat.number) is a]
        seat.ready = not lost
        if lost:
            seat.count_crash(unanswered[0][0] if unanswered else None)
        for game, question in unanswered:
            if not lost:
                seat.count_fault(game)
            message = replace(spent, message=places.get(game.number))
            fault = judge.fault(seat.number, question, verdict, failure.clause, report, message)
            if fault.output and game is not unanswered[0][0]:
                # The output is long, and a message can hold many questions: store it once.
                fault = replace(fault, output="", output_in=unanswered[0][0].number)
            self._fault(game, fault)
        if lost:
            # The loss of the process ends its other games too, but counts as one crash.
            for game in list(self._games.values()):
                self._put_out(game, seat, verdict)
            if again and self._boards:
                await self._restart(seat, report)
        self._forfeit_if_out(seat)

    async def _report(self, seat: TableSeat, restart: bool = False) -> referee_pb2.BotReport | None:
        self._wake_asking_tasks()
        return await self._caller.report(seat.number, restart)

    async def _restart(self, seat: TableSeat, report: referee_pb2.BotReport | None) -> None:
        """Connect to a new process after the first crash, or to the same address again."""
        self._wake_asking_tasks()
        fresh = report.restarted if report is not None and report.restarted else seat.bot.address
        await seat.replace_bot(fresh).close()
        await self._start(seat)

    def _fault(self, game: RunningGame, fault: Fault) -> None:
        has_new_position = game.fault(fault)
        if self._order.strict:
            game.stop()
            self._boards.clear()
            self._games = {game.number: game}
        if has_new_position and game.result is None:
            self._ask_next(game)
        elif game.result is not None:
            self._send_finished(game)

    def _put_out(self, game: RunningGame, seat: TableSeat, verdict: Verdict) -> None:
        if game.put_out(seat.number, verdict):
            self._ask_next(game)
        elif game.result is not None:
            self._send_finished(game)

    def _forfeit_if_out(self, seat: TableSeat) -> None:
        """End all running games of a seat that has forfeited the rest of the table."""
        if seat.out:
            for game in list(self._games.values()):
                self._put_out(game, seat, Verdict.FORFEIT)
