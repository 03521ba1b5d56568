"""Play one table of a match: start its bot processes and connect them with the referee."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass, replace
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, Final

import grpc
from pokearena.v1 import referee_pb2

from arena.bots.bot import Bot, granted_start_ms
from arena.bots.exit_report import Report
from arena.bots.plain_processes import PlainProcesses, table_processes
from arena.bots.sandbox.level import Level
from arena.bots.socket_probe import goes_on_listening
from arena.errors import BotAbsent, InfrastructureError
from arena.matches.remote_seats import RemoteSeats
from arena.presentation import shipped_docs
from arena.ratings.closed_match import PlayedGame
from arena.store.matches import games
from arena.store.matches.model_calls import MODELS_UNAVAILABLE
from arena.store.matches.spec import MatchSpec
from arena.store.matches.table_plan import TablePlan
from referee.games.shared.dealing import board_seed
from referee.numbering import game_text

if TYPE_CHECKING:
    from arena.bots.processes import Processes
    from arena.models.excused_time import TimeReport
    from arena.models.match_models import MatchModels

    Starter = Processes | PlainProcesses | RemoteSeats
    """Starts bots of a table, as local processes or through a relay."""

LONGEST_OUTPUT: int = 64 * 1024
"""Maximum length, in characters, of the end of a bot's output that is sent to the referee."""

REASONING_BYTES: Final = 2 << 20
"""Maximum size of the reasoning and usage of a match in bytes; seats and games share it equally."""

LEFT_TABLE: Final = "ended when the person left the table"
"""How a person's server ended that does not listen any more (`arena.matches.human_seats`)."""

_EXCUSE_SECONDS: Final = 10.0
"""Time limit of a report to the referee."""

Sink = Callable[[PlayedGame], None]
OnReports = Callable[[int, Sequence[Report]], None]
"""Receives an entrant's index and the reports of its processes when its table is over."""


@dataclass(frozen=True, slots=True)
class Watch:
    """Observer of the tables of a match.

    Attributes:
        show: called with the table plan and each position shown.
        every_ms: minimum interval between positions, in milliseconds.
        notes: whether positions contain the latest notes of the bots, if all of them are hosted.
    """

    show: Callable[[TablePlan, referee_pb2.PositionShown], None]
    every_ms: int
    notes: bool = False


def seated(bots: Sequence[Bot], seating: Sequence[int]) -> list[Bot]:
    """Return the bot of each seat; a person plays the first seat of a side, a partner the others.

    Args:
        bots: one bot for each entrant.
        seating: the entrant at each seat, as its index in the match.
    """
    return [
        bots[entrant].partner or bots[entrant] if entrant in seating[:seat] else bots[entrant]
        for seat, entrant in enumerate(seating)
    ]


class Table:
    """Plays the remaining games of one table with fresh bot processes."""

    def __init__(
        self,
        spec: MatchSpec,
        plan: TablePlan,
        bots: Sequence[Bot],
        watch: Watch | None = None,
        models: MatchModels | None = None,
    ) -> None:
        self._spec = spec
        self._plan = plan
        self._bots = seated(bots, plan.seating)
        self._watch = watch
        self._models = (
            None
            if models is None
            else models.table(spec, plan, self._on_models_lost, self._excuse_time)
        )
        self._due = {board.game for board in plan.boards}
        self._requests: SimpleQueue[referee_pb2.RunTableRequest | None] = SimpleQueue()
        self._stub: Any = None
        self._call: Any = None
        self._lost, self._lost_code = "", "helper-lost"
        self._level: Level | None = None
        """Sandbox level of this table's hosted bots; None if it has none."""

    def play(self, stub: Any, sink: Sink, on_reports: OnReports) -> bool:
        """Play the table; return False if the strict policy stopped it before its end.

        An exception raised by `sink` abandons the table and propagates.

        Args:
            stub: gRPC stub of the referee.
            sink: receives every finished game.
            on_reports: receives the reports of each hosted bot's processes when the table is over.

        Raises:
            InfrastructureError: the referee, the sandbox launcher or the relay failed.
            BotAbsent: a remote bot is absent; nothing has been played at this table.
        """
        self._stub = stub
        hosted = [seat for seat, bot in enumerate(self._bots) if not bot.remote]
        with (
            self._models or nullcontext(),
            RemoteSeats(self._spec.id, self._on_exit, self._on_helper_lost) as remote_seats,
            table_processes(self._on_exit, self._on_sandbox_lost) as processes,
        ):
            self._level = processes.level if hosted else None
            if any(bot.network_key is not None for bot in self._bots):
                self._level = Level.UNSANDBOXED
            self._connect_models()
            starters = [remote_seats if bot.relay is not None else processes for bot in self._bots]
            # Remote bots first: if one is absent, no local process has been started needlessly.
            order = sorted(
                enumerate(self._bots), key=lambda seat_and_bot: not seat_and_bot[1].remote
            )
            by_seat = {seat: bot.address or starters[seat].start(seat, bot) for seat, bot in order}
            addresses = [by_seat[seat] for seat in range(len(self._bots))]
            try:
                self._call = stub.RunTable(self._requests_from(self._table_request(addresses)))
                if self._lost:
                    # Lost while bots were being started, before there was a call to cancel.
                    raise InfrastructureError(self._lost, code=self._lost_code)
                self._receive(starters, sink)
            except grpc.RpcError as error:
                raise self._failure(error) from None
            finally:
                self._requests.put(None)
                if self._call is not None:
                    self._call.cancel()
            processes.stop(*hosted)
            for seat in hosted:
                on_reports(self._plan.seating[seat], processes.ends(seat))
        if self._due and self._spec.faults != "strict":
            raise InfrastructureError(
                f"the referee ended table {self._plan.table} of {self._spec.id} with "
                f"{len(self._due)} games not played.",
                code="games-missing",
            )
        return not self._due

    def _connect_models(self) -> None:
        """Give each bot that has models the socket of its own endpoint."""
        if self._models is not None:
            for seat, endpoint in self._models.endpoints.items():
                self._bots[seat] = replace(self._bots[seat], model_socket=endpoint.path)

    def _requests_from(self, table: referee_pb2.Table) -> Iterator[referee_pb2.RunTableRequest]:
        """Yield the requests to the referee: the table first, then reports about its bots."""
        yield referee_pb2.RunTableRequest(table=table)
        while (request := self._requests.get()) is not None:
            yield request

    def _table_request(self, addresses: Sequence[str]) -> referee_pb2.Table:
        spec = self._spec
        return referee_pb2.Table(
            match=spec.id,
            game=spec.game,
            options=spec.option_texts(),
            seats=[
                referee_pb2.Seat(
                    address=address,
                    bank_ms=rights.bank_ms if bot.bank_ms is None else bot.bank_ms,
                    start_ms=granted_start_ms(bot, spec.clock.start_ms),
                    faults=rights.faults,
                    crashes=rights.crashes,
                    entrant=spec.versions[entrant],
                )
                for address, rights, bot, entrant in zip(
                    addresses, self._plan.rights, self._bots, self._plan.seating, strict=True
                )
            ],
            boards=[
                referee_pb2.Board(
                    game=board.game,
                    number=board.number,
                    seed=board_seed(spec.seed, board.number),
                )
                for board in self._plan.boards
            ],
            start_ms=spec.clock.start_ms,
            allowance_ms=spec.clock.allowance_ms,
            number=self._plan.table,
            sandbox=str(self._level or ""),
            rules=shipped_docs.rules(spec.game),
            corrections=spec.corrections,
            reasoning_bytes=REASONING_BYTES // (spec.games * spec.seats),
            report_questions=bool(self._models and self._models.endpoints),
            strict=spec.faults == "strict",
            unforgiving=spec.faults == "unforgiving",
            watch_ms=0 if self._watch is None else self._watch.every_ms,
            # A remote bot could read the notes of its opponents on the pages.
            watch_notes=self._watch is not None
            and self._watch.notes
            and not any(bot.remote for bot in self._bots),
        )

    def _receive(self, starters: Sequence[Starter], sink: Sink) -> None:
        for event in self._call:
            if event.HasField("game"):
                sink(self._finished(event.game))
            elif event.HasField("faulted"):
                self._requests.put(self._answer(starters, event.faulted))
            elif event.HasField("asked") and self._models is not None:
                sent = event.asked
                question = (sent.game, sent.decision) if sent.HasField("game") else None
                self._models.note_questions(sent.seat, question)
            elif event.HasField("shown"):
                if self._watch is not None:
                    self._watch.show(self._plan, event.shown)
            elif event.HasField("finished"):
                return
        raise InfrastructureError(
            f"the referee left table {self._plan.table} of {self._spec.id} before its end.",
            code="referee-lost",
        )

    def _finished(self, game: referee_pb2.GameFinished) -> PlayedGame:
        if game.game not in self._due:
            raise InfrastructureError(
                f"the referee played {game_text(game.game)} of {self._spec.id}, which was not due.",
                code="game-not-due",
            )
        self._due.remove(game.game)
        seating = [self._spec.versions[entrant] for entrant in self._plan.seating]
        return games.finished_game(game, self._plan.table, seating, self._spec.versions)

    def _answer(
        self, starters: Sequence[Starter], faulted: referee_pb2.BotFaulted
    ) -> referee_pb2.RunTableRequest:
        bot = self._bots[faulted.seat]
        if self._lost:
            # The bot may have faulted because of it.
            raise InfrastructureError(self._lost, code=self._lost_code)
        if bot.address is not None:
            lost = LEFT_TABLE if bot.person else "cannot be reached any more"
            ended = "" if goes_on_listening(bot.address) else lost
            return _report_request(Report(faulted.seat, ended), faulted.inquiry)
        starter = starters[faulted.seat]
        report = starter.report(faulted.seat)
        restarted = ""
        if report.ended and faulted.restart:
            # An absent remote bot is not restarted.
            with suppress(BotAbsent):
                restarted = starter.start(faulted.seat, bot)
        return _report_request(report, faulted.inquiry, restarted)

    def _on_exit(self, report: Report) -> None:
        self._requests.put(_report_request(report))

    def _on_sandbox_lost(self, sentence: str) -> None:
        # There are sandboxes on Linux only.
        from arena.bots.processes import lost_code
        from arena.bots.sandbox import available_levels

        available_levels.doubt_level()
        self._lost_code = lost_code(sentence)
        self._on_helper_lost(sentence)

    def _on_models_lost(self, sentence: str) -> None:
        self._lost_code = MODELS_UNAVAILABLE
        self._on_helper_lost(sentence)

    def _excuse_time(self, seat: int, time: TimeReport) -> None:
        """Send the referee a report; it has received it before the bot gets the model's reply."""
        request = referee_pb2.ExcuseTimeRequest(
            match=self._spec.id,
            table=self._plan.table,
            seat=seat,
            hold_ms=round(1000 * time.hold),
            excused_from_ms=round(1000 * time.excused_from),
            excused_to_ms=round(1000 * time.excused_to),
        )
        # Without a referee, or after the end of the channel, the table is over.
        with suppress(grpc.RpcError, ValueError):
            self._stub.ExcuseTime(request, timeout=_EXCUSE_SECONDS)

    def _on_helper_lost(self, sentence: str) -> None:
        self._lost = sentence
        if self._call is not None:
            self._call.cancel()

    def _failure(self, error: grpc.RpcError) -> InfrastructureError:
        if self._lost:
            return InfrastructureError(self._lost, code=self._lost_code)
        code = error.code().name if isinstance(error, grpc.Call) else "unknown"
        details = error.details() if isinstance(error, grpc.Call) else str(error)
        return InfrastructureError(
            f"the referee ended table {self._plan.table} of {self._spec.id}: {code}.\n{details}",
            code="referee-lost" if code == "UNAVAILABLE" else "referee-failed",
        )


def _report_request(
    report: Report, inquiry: int = 0, restarted: str = ""
) -> referee_pb2.RunTableRequest:
    return referee_pb2.RunTableRequest(
        report=referee_pb2.BotReport(
            seat=report.seat,
            inquiry=inquiry,
            ended=report.ended,
            resources=report.resources,
            output=report.output[-LONGEST_OUTPUT:],
            restarted=restarted,
            exit_status=report.status,
            signal=report.signal,
            peak_memory=report.peak_memory,
        )
    )
