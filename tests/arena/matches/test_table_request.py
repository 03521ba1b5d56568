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
from arena.store.match_settings import Clock
from arena.store.matches.spec import Entrant, MatchSpec
from arena.store.matches.table_plan import TablePlan, plan
from referee.games.shared.dealing import commitment
from tests.errors import has_code

SEED = bytes(range(32))


class Refusing(referee_pb2_grpc.RefereeServiceServicer):
    """A referee that keeps the tables it is asked to play and leaves them at once."""

    def __init__(self) -> None:
        self.tables: list[referee_pb2.Table] = []

    def RunTable(
        self, requests: Iterator[referee_pb2.RunTableRequest], context: grpc.ServicerContext
    ) -> Iterator[referee_pb2.RunTableResponse]:
        self.tables.append(next(requests).table)
        return iter(())


@dataclass
class Asked:
    """A referee that refuses, with its channel."""

    stub: referee_pb2_grpc.RefereeServiceStub
    referee: Refusing = field(default_factory=Refusing)


@pytest.fixture
def asked(tmp_path: Path) -> Iterator[Asked]:
    referee, address = Refusing(), f"unix:{tmp_path}/r.sock"
    server = grpc.server(futures.ThreadPoolExecutor(1))
    referee_pb2_grpc.add_RefereeServiceServicer_to_server(referee, server)
    server.add_insecure_port(address)
    server.start()
    with grpc.insecure_channel(address) as channel:
        yield Asked(referee_pb2_grpc.RefereeServiceStub(channel), referee)
    server.stop(None).wait()


def hosted(folder: Path, name: str) -> Bot:
    folder = folder / name
    folder.mkdir()
    (folder / "bot.toml").write_text(f'name = "{name}"\nrun = ["python", "bot.py"]\n')
    (folder / "bot.py").write_text("input()\n")
    return local(folder)


def table_of(asked: Asked, bots: list[Bot], watch: Watch | None) -> referee_pb2.Table:
    """Return the table that a worker asks the referee to play."""
    spec = MatchSpec(
        id="m-0123456789",
        tournament=None,
        round=0,
        number=0,
        game="poke",
        options={"must_beat": True},
        seats=2,
        boards=1,
        clock=Clock(),
        faults="lenient",
        entrants=tuple(
            Entrant(f"{bot.label}@1", "0" * 64, str(bot.folder or ""), {}) for bot in bots
        ),
        commitment=commitment(SEED),
        seed=SEED,
    )
    with pytest.raises(InfrastructureError, check=has_code("referee-lost")):
        Table(spec, plan(spec)[0], bots, watch).play(asked.stub, ignore, ignore)
    (table,) = asked.referee.tables
    return table


def ignore(*_: object) -> None:
    """Ignore a result."""


def show(plan: TablePlan, shown: referee_pb2.PositionShown) -> None:
    """Ignore a position."""


REMOTE = Bot("remote", address="unix:/nonexistent/bot")
PERSON = Bot("human", address="unix:/nonexistent/person", person=True)


def test_spectators_see_notes_of_hosted_bots(asked: Asked, tmp_path: Path) -> None:
    bots = [hosted(tmp_path, "one"), hosted(tmp_path, "two")]
    table = table_of(asked, bots, Watch(show, 250, notes=True))
    assert (table.watch_ms, table.watch_notes) == (250, True)


@pytest.mark.parametrize("opponent", [REMOTE, PERSON], ids=["remote", "person"])
def test_spectators_see_no_notes_if_an_opponent_could_read_them(
    asked: Asked, tmp_path: Path, opponent: Bot
) -> None:
    table = table_of(asked, [hosted(tmp_path, "one"), opponent], Watch(show, 250, notes=True))
    assert (table.watch_ms, table.watch_notes) == (250, False)


@pytest.mark.parametrize(
    ("watch", "expected"), [(None, (0, False)), (Watch(show, 100), (100, False))]
)
def test_notes_are_shown_only_if_the_organiser_chooses_it(
    asked: Asked, watch: Watch | None, expected: tuple[int, bool]
) -> None:
    table = table_of(asked, [REMOTE, PERSON], watch)
    assert (table.watch_ms, table.watch_notes) == expected
