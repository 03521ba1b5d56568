"""Whole tables for the examination, with strict fault policy and the clock of an ordinary match."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import grpc
from pokearena.v1 import referee_pb2, referee_pb2_grpc

from arena.bots.bot import Bot, with_unique_labels
from arena.bots.exit_report import Report
from arena.bots.resolver import sample
from arena.matches.local_match import entrant_of
from arena.matches.runner import OPTIONS, record_text
from arena.matches.table import Table, Watch
from arena.models.match_models import MatchModels
from arena.ratings.closed_match import PlayedGame
from arena.store.match_settings import MatchSettings
from arena.store.matches.spec import MatchSpec
from arena.store.matches.table_plan import TablePlan, plan
from arena.submissions.conformance.check import CheckRecord
from arena.submissions.conformance.examination_order import ExaminationOrder, ModelsOf, no_models
from arena.submissions.conformance.examined_forms import match_of
from referee.record import Line, read_games

PARTNER: Final = "meek"
"""House bot at the other seats of a remote bot, which cannot have two seats."""
_LOOK_MS: Final = 200


class _TableStopped(Exception):
    """A fault ended the table, or its time is over."""


@dataclass(slots=True)
class ExaminationMatch:
    """The tables of a match and their results."""

    form: MatchSettings
    spec: MatchSpec
    games: list[PlayedGame] = field(default_factory=list)
    reports: list[Report] = field(default_factory=list)
    """Reports of the bot's processes, without those of a partner."""
    unfinished: bool = False
    """Whether the time limit ended the match before its last game."""

    @property
    def record(self) -> CheckRecord:
        """The match's record up to its last played game."""
        text = record_text(self.spec, {g.game: g.record for g in self.games}, self.spec.seed)
        return CheckRecord(self.spec.id, text)

    @property
    def fault(self) -> Line | None:
        """The bot's first fault, as a line of the record; None without faults."""
        examined = set(self.own)
        for game in self.games:
            if any(fault.version in examined for fault in game.faulted):
                (record,) = read_games(game.record)
                seating = record.game["seating"]
                return next(f for f in record.faults if seating[f["seat"]] in examined)
        return None

    @property
    def own(self) -> tuple[str, ...]:
        """Names of the bot's entrants."""
        return self.spec.versions[: self._mine]

    @property
    def _mine(self) -> int:
        return 1 if any(not e.folder for e in self.spec.entrants) else len(self.spec.entrants)

    @property
    def times(self) -> list[tuple[float, int, int]]:
        """The bot's decisions, as (milliseconds, game, decision)."""
        examined, durations = set(self.own), []
        for game in self.games:
            (record,) = read_games(game.record)
            seating = record.game["seating"]
            durations += [
                (float(line["ms"]), game.game, int(line["decision"]))
                for line in record.actions
                if seating[line["seat"]] in examined and line.get("by") != "referee"
            ]
        return durations

    @property
    def banked(self) -> float:
        """Maximum bank time that one seat of the bot used at one table, in milliseconds."""
        drawn: dict[tuple[int, int], float] = {}
        for game in self.games:
            (record,) = read_games(game.record)
            for seat, name in enumerate(record.game["seating"]):
                if name in self.own:
                    key = (game.table, seat)
                    drawn[key] = drawn.get(key, 0.0) + float(game.tally["bank_ms"][seat])
        return max(drawn.values(), default=0.0)


def play(
    order: ExaminationOrder,
    form: MatchSettings,
    what: str,
    boards: int,
    until: float,
    models_of: ModelsOf = no_models,
) -> ExaminationMatch:
    """Play a table of this form: the bot against itself, with one process per seat.

    A remote bot cannot be reset. It plays `meek` instead, in every seating.

    Args:
        what: the purpose; it determines the cards.
        boards: the number of games at the table.
        until: the time limit, on the monotonic clock.
        models_of: returns the models of the first seat.

    Returns:
        The played games, until the first fault or the time limit.

    Raises:
        InfrastructureError: the arena failed.
    """
    bots = _bots(order.bot, form.sides)
    examined = 1 if order.bot.remote else len(bots)
    entrants = tuple(
        entrant_of(bot, order.content if number < examined else "")
        for number, bot in enumerate(bots)
    )
    spec = match_of(form, what, order.seed, boards, entrants)
    tables = plan(spec) if order.bot.remote else plan(spec)[:1]
    played = ExaminationMatch(form, spec)
    models = models_of(spec)
    with grpc.insecure_channel(order.referee, options=OPTIONS) as channel:
        stub = referee_pb2_grpc.RefereeServiceStub(channel)
        try:
            for table in tables:
                _play_table(stub, played, table, bots, until, models)
        except _TableStopped:
            pass
    return played


def _bots(bot: Bot, sides: int) -> tuple[Bot, ...]:
    if not bot.remote:
        return with_unique_labels([bot] * sides)
    return with_unique_labels([bot, *(sample(PARTNER) for _ in range(sides - 1))])


def _play_table(
    stub: Any,
    played: ExaminationMatch,
    table: TablePlan,
    bots: Sequence[Bot],
    until: float,
    models: MatchModels | None,
) -> None:
    def sink(game: PlayedGame) -> None:
        played.games.append(game)
        if game.faulted:
            raise _TableStopped

    def show(plan: TablePlan, shown: referee_pb2.PositionShown) -> None:
        if time.monotonic() >= until:
            played.unfinished = True
            raise _TableStopped

    def keep_reports(entrant: int, reports: Sequence[Report]) -> None:
        if played.spec.versions[entrant] in played.own:
            played.reports.extend(reports)

    Table(played.spec, table, bots, Watch(show, _LOOK_MS), models).play(stub, sink, keep_reports)
