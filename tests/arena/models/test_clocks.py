"""The clock of a bot stands while the proxy repeats a call of its model, and only then."""

import itertools
import random
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent import futures
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path
from typing import Any

import grpc
import pytest
from pokearena.v1 import bot_pb2, bot_pb2_grpc, referee_pb2_grpc

from arena.bots.bot import Bot
from arena.errors import InfrastructureError
from arena.matches.private_referee import own_referee
from arena.matches.table import Table
from arena.models import table_endpoint
from arena.models.excused_time import TimeReport
from arena.models.match_models import MatchModels
from arena.models.models_file import Model, ModelLimits, ModelsFile
from arena.ratings.closed_match import PlayedGame
from arena.store.bots.model_grants import GrantedModels
from arena.store.match_settings import Clock
from arena.store.matches.model_calls import MODELS_UNAVAILABLE
from arena.store.matches.spec import Entrant, MatchSpec
from arena.store.matches.table_plan import plan
from referee.record import MatchRecord, read_games
from referee.replay import game_problem
from tests.arena.match_spec import SEED, poke_spec
from tests.arena.models.test_table_endpoint import BAD, completion, failing_at, post
from tests.errors import has_code
from tests.sample_bots.scripted_endpoint import (
    Exchange,
    Send,
    data,
    reset,
    scripted_endpoint,
)

ALLOWANCE_MS = 1_500
STALL_SECONDS = 1.8
GOOD = completion("a", usage={"prompt_tokens": 9, "completion_tokens": 1})
Call = Callable[[Path], None]
"""Sends calls to the model's socket before an answer."""


def ask(words: str = "Which card?") -> dict[str, Any]:
    return {"model": "small", "messages": [{"role": "user", "content": words}]}


def call_model(socket: Path) -> None:
    assert post(socket, ask())[0] == 200


def call_nothing(socket: Path) -> None:
    """Call no model."""


class Caller(bot_pb2_grpc.BotServiceServicer):
    """A bot that plays the first listed action after its calls."""

    def __init__(self, call: Call) -> None:
        self._call = call
        self.socket = Path()

    def Act(self, request: bot_pb2.ActRequest, context: Any) -> bot_pb2.ActResponse:
        self._call(self.socket)
        return bot_pb2.ActResponse(choice=0)


@pytest.fixture(scope="module")
def referee() -> Iterator[str]:
    with own_referee() as address:
        yield address


@contextmanager
def serve(folder: Path, callers: Sequence[Caller]) -> Iterator[list[str]]:
    """Yield the addresses of bots."""
    running = []
    for seat, caller in enumerate(callers):
        server = grpc.server(futures.ThreadPoolExecutor(2))
        server.add_insecure_port(f"unix:{folder}/bot-{seat}")
        bot_pb2_grpc.add_BotServiceServicer_to_server(caller, server)
        server.start()
        running.append(server)
    try:
        yield [f"unix:{folder}/bot-{seat}" for seat in range(len(callers))]
    finally:
        for server in running:
            server.stop(None).wait()


class ModelTable(Table):
    """A table that gives bots in this process the sockets of their models."""

    callers: Sequence[Caller] = ()

    def _connect_models(self) -> None:
        super()._connect_models()
        for caller, bot in zip(self.callers, self._bots, strict=True):
            assert bot.model_socket is not None
            caller.socket = bot.model_socket


@dataclass
class Played:
    spec: MatchSpec
    games: list[PlayedGame]

    @property
    def faults(self) -> list[tuple[int, str]]:
        """The seat and the verdict of each fault."""
        return [(fault.seat, fault.verdict) for game in self.games for fault in game.faulted]

    @property
    def lines(self) -> list[dict[str, Any]]:
        """The lines of all actions."""
        records = (read_games(game.record) for game in self.games)
        return [line for games in records for game in games for line in game.actions]

    @property
    def problems(self) -> list[str | None]:
        """The problem of each game's record; None if it is correct."""
        games = tuple(game for played in self.games for game in read_games(played.record))
        record = MatchRecord(self.spec.line(), games, SEED)
        return [game_problem(record, game) for game in games]


def play(
    referee: str,
    folder: Path,
    script: Sequence[Send],
    calls: Sequence[Call],
    clock: Clock,
    **settings: Any,
) -> Played:
    """Play a table of Poke.

    Args:
        referee: the address of a referee.
        folder: an empty folder.
        script: the responses of the model's endpoint.
        calls: what each bot calls.
        clock: the clock. The bank of a bot without calls is long.
        settings: the number of boards, and limits of models.
    """
    boards = settings.pop("boards", 1)
    callers = [Caller(call) for call in calls]
    with (
        scripted_endpoint(*script) as upstream,
        serve(folder, callers) as addresses,
        grpc.insecure_channel(referee) as channel,
    ):
        bots = [
            Bot(f"bot-{seat}", address=address, bank_ms=60_000 if call is call_nothing else None)
            for seat, (address, call) in enumerate(zip(addresses, calls, strict=True))
        ]
        entrants = [Entrant(bot.label, "0" * 64, "", {}) for bot in bots]
        spec = poke_spec(entrants, clock=clock, boards=boards)
        file = ModelsFile(
            {"small": Model(upstream.base_url, "small-1", 1.0, 2.0)},
            ModelLimits(calls_per_minute=100_000, table_tokens=4_000_000, **settings),
        )
        granted = {bot.label: GrantedModels(bot.label, "ada", ("small",)) for bot in bots}
        models = MatchModels(None, file, spec.id, granted, None)
        table = ModelTable(spec, plan(spec)[0], bots, None, models)
        table.callers = callers
        played = Played(spec, [])
        stub = referee_pb2_grpc.RefereeServiceStub(channel)
        table.play(stub, played.games.append, lambda *_: None)
    return played


def at_first(call: Call) -> Call:
    """Return a call that is sent before the first answer only."""
    numbers = itertools.count()
    return lambda socket: None if next(numbers) else call(socket)


def stall(exchange: Exchange) -> None:
    """Answer later than the time limit of a call."""
    threading.Event().wait(2 * STALL_SECONDS)


def test_a_decision_does_not_include_the_time_of_failed_tries(referee: str, tmp_path: Path) -> None:
    script = [stall, GOOD, reset, data(b"", 429, Retry_After=str(STALL_SECONDS)), GOOD]
    calls = [at_first(call_model), at_first(call_model)]
    clock = Clock(60_000, ALLOWANCE_MS, 0)
    played = play(referee, tmp_path, script, calls, clock, call_seconds=STALL_SECONDS)
    assert played.faults == []
    assert played.problems == [None]
    excused = [line for line in played.lines if "excused_ms" in line]
    assert [line["seat"] for line in excused] == [0, 1]
    for line in excused:
        assert line["ms"] < ALLOWANCE_MS < line["excused_ms"]


SHORT = Clock(60_000, 100, 0)
LATE = 0.3


def send_malformed_calls(socket: Path) -> None:
    until = time.monotonic() + LATE
    while time.monotonic() < until:
        for body in BAD:
            assert post(socket, body)[0] == 400


def send_a_call_that_makes_the_endpoint_fail(socket: Path) -> None:
    assert post(socket, ask("poison"))[0] == 400


def answer_while_a_slow_call_is_open(socket: Path) -> None:
    def call() -> None:
        # The table may end before.
        with suppress(OSError, HTTPException):
            post(socket, ask())

    thread = threading.Thread(target=call)
    thread.start()
    thread.join(LATE / 2)


def respond_slowly(exchange: Exchange) -> None:
    threading.Event().wait(LATE)
    GOOD(exchange)


@pytest.mark.parametrize(
    ("call", "send"),
    [
        (send_malformed_calls, GOOD),
        (send_a_call_that_makes_the_endpoint_fail, failing_at("poison", data(b"", 500))),
        (call_model, respond_slowly),
        (answer_while_a_slow_call_is_open, respond_slowly),
    ],
)
def test_a_bot_gains_no_time_by_its_own_calls(
    referee: str, tmp_path: Path, call: Call, send: Send
) -> None:
    played = play(referee, tmp_path, [send], [call, call_nothing], SHORT, repeat_seconds=LATE)
    assert played.faults == [(0, "timeout")]
    assert not any("excused_ms" in line for line in played.lines)


def test_a_match_pauses_if_the_model_fails_until_after_the_clock(
    referee: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    report = ModelTable._excuse_time

    def report_slowly(table: ModelTable, seat: int, time: TimeReport) -> None:
        """Leave the referee time to report a fault before the arena continues."""
        report(table, seat, time)
        threading.Event().wait(LATE)

    monkeypatch.setattr(ModelTable, "_excuse_time", report_slowly)

    def call(socket: Path) -> None:
        assert post(socket, ask())[0] == 503

    calls = [call, call_nothing]
    with pytest.raises(InfrastructureError, check=has_code(MODELS_UNAVAILABLE)):
        play(referee, tmp_path, [data(b"", 500)], calls, SHORT, repeat_seconds=LATE)


@pytest.mark.long
def test_a_transport_that_fails_at_random_makes_no_faults(
    referee: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(table_endpoint, "_FIRST_PAUSE_SECONDS", 0.001)
    chance = random.Random(1)
    failures = [reset, data(b"", 500), data(b"", 429), data(b"{}")]
    sent: list[bool] = []

    def respond(exchange: Exchange) -> None:
        fails = chance.random() < 0.05
        sent.append(fails)
        (chance.choice(failures) if fails else GOOD)(exchange)

    played = play(
        referee, tmp_path, [respond], [call_model] * 2, Clock(60_000, 60_000, 0), boards=7
    )
    assert len(played.lines) >= 1_000
    assert sum(sent) >= 30
    assert len([line for line in played.lines if "excused_ms" in line]) >= 20
    assert played.faults == []
