"""Test what a worker asks the referee for, with a real call to a referee that refuses to play."""

from collections.abc import Iterator
from concurrent import futures
from dataclasses import dataclass, field
from pathlib import Path

import grpc
import pytest
from pokearena.v1 import referee_pb2, referee_pb2_grpc

from arena.bots.bot import Bot
from arena.bots.resolver import local
from arena.errors import InfrastructureError
from arena.matches.table import Table, Watch
from arena.store.matches.spec import Entrant
from arena.store.matches.table_plan import TablePlan, plan
from tests.arena.match_spec import poke_spec
from tests.errors import has_code


class RefusingService(referee_pb2_grpc.RefereeServiceServicer):
    """A referee that keeps each requested table and leaves it at once."""

    def __init__(self) -> None:
        self.tables: list[referee_pb2.Table] = []

    def RunTable(
        self, requests: Iterator[referee_pb2.RunTableRequest], context: grpc.ServicerContext
    ) -> Iterator[referee_pb2.RunTableResponse]:
        self.tables.append(next(requests).table)
        return iter(())


@dataclass
class RefusingReferee:
    stub: referee_pb2_grpc.RefereeServiceStub
    service: RefusingService = field(default_factory=RefusingService)


@pytest.fixture
def referee(tmp_path: Path) -> Iterator[RefusingReferee]:
    service, address = RefusingService(), f"unix:{tmp_path}/r.sock"
    server = grpc.server(futures.ThreadPoolExecutor(1))
    referee_pb2_grpc.add_RefereeServiceServicer_to_server(service, server)
    server.add_insecure_port(address)
    server.start()
    with grpc.insecure_channel(address) as channel:
        yield RefusingReferee(referee_pb2_grpc.RefereeServiceStub(channel), service)
    server.stop(None).wait()


def hosted(folder: Path, name: str, keys: str = "") -> Bot:
    folder = folder / name
    folder.mkdir()
    (folder / "bot.toml").write_text(f'name = "{name}"\nrun = ["python", "bot.py"]\n{keys}')
    (folder / "bot.py").write_text("input()\n")
    return local(folder)


def table_of(referee: RefusingReferee, bots: list[Bot], watch: Watch | None) -> referee_pb2.Table:
    """Return the table that a worker asks the referee to play."""
    spec = poke_spec(Entrant(f"{bot.label}@1", "0" * 64, str(bot.folder or ""), {}) for bot in bots)
    with pytest.raises(InfrastructureError, check=has_code("referee-lost")):
        Table(spec, plan(spec)[0], bots, watch).play(referee.stub, ignore, ignore)
    (table,) = referee.service.tables
    return table


def ignore(*_: object) -> None:
    """Ignore a result."""


def show(plan: TablePlan, shown: referee_pb2.PositionShown) -> None:
    """Ignore a position."""


REMOTE = Bot("remote", address="unix:/nonexistent/bot")
PERSON = Bot("human", address="unix:/nonexistent/person", person=True)


def test_spectators_see_notes_of_hosted_bots(referee: RefusingReferee, tmp_path: Path) -> None:
    bots = [hosted(tmp_path, "one"), hosted(tmp_path, "two")]
    table = table_of(referee, bots, Watch(show, 250, notes=True))
    assert (table.watch_ms, table.watch_notes) == (250, True)


@pytest.mark.parametrize("opponent", [REMOTE, PERSON], ids=["remote", "person"])
def test_spectators_see_no_notes_if_an_opponent_could_read_them(
    referee: RefusingReferee, tmp_path: Path, opponent: Bot
) -> None:
    table = table_of(referee, [hosted(tmp_path, "one"), opponent], Watch(show, 250, notes=True))
    assert (table.watch_ms, table.watch_notes) == (250, False)


@pytest.mark.parametrize(
    ("watch", "expected"), [(None, (0, False)), (Watch(show, 100), (100, False))]
)
def test_notes_are_shown_only_if_the_organiser_chooses_it(
    referee: RefusingReferee, watch: Watch | None, expected: tuple[int, bool]
) -> None:
    table = table_of(referee, [REMOTE, PERSON], watch)
    assert (table.watch_ms, table.watch_notes) == expected


@pytest.mark.parametrize(
    ("requested", "limit", "granted"),
    [(0, "60000", 10_000), (20_000, "", 20_000), (90_000, "", 60_000), (5_000, "90000", 10_000)],
)
def test_a_bot_gets_the_time_to_start_that_the_organiser_allows(
    referee: RefusingReferee,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    requested: int,
    limit: str,
    granted: int,
) -> None:
    monkeypatch.setenv("POKEARENA_START_LIMIT_MS", limit)
    slow = hosted(tmp_path, "slow", f"start_ms = {requested}\n")
    table = table_of(referee, [slow, hosted(tmp_path, "fast")], None)
    assert [seat.start_ms for seat in table.seats] == [granted, 10_000]
