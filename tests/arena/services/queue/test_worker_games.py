"""Test which workers may play the games of packages, and which matches wait for another worker."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from redis import Redis

from arena.config import Folder
from arena.services import metric_definitions as metrics
from arena.services.queue import redis_server, worker_games
from arena.services.queue.sweeper import Sweeper
from arena.services.queue.worker_games import GamePackage, game_problems, games_without_workers
from arena.services.queue.worker_list import WorkerList
from arena.services.queue.worker_registrations import WorkerInfo
from arena.services.store_gauges import BARRED, PENDING, read_gauges
from arena.store import database
from arena.store.bots import versions
from arena.store.matches import listing, match_leases
from arena.store.tournaments import lifecycle
from arena.system import redis_connection
from arena.tournaments import scheduler
from referee.games.contract import SetupError
from referee.games.game_packages import SETTING
from tests.arena.poke_plan import poke_plan
from tests.arena.registered_worker import add_worker
from tests.game_package import install_game, installed_packages

folder = pytest.fixture(installed_packages)
PACKAGES = {"race": GamePackage("race-package", "1.0", "a" * 64)}


def workers(*codes: str, silent: float = 0) -> list[WorkerInfo]:
    return [
        WorkerInfo(
            name=f"w{number}",
            host="host",
            pid=1,
            silent=silent,
            games={"race": code} if code else {},
        )
        for number, code in enumerate(codes)
    ]


def test_workers_with_the_published_code_are_no_problem() -> None:
    assert game_problems({}, workers("b" * 64)) == []
    assert game_problems(PACKAGES, []) == []
    assert game_problems(PACKAGES, [*workers("a" * 64), *workers("b" * 64, silent=60)]) == []


def test_workers_without_the_published_code_are_named() -> None:
    [problem] = game_problems(PACKAGES, workers("a" * 64, "", "b" * 64))
    assert "w0" not in problem
    assert "w1, w2" in problem
    assert "race-package 1.0" in problem


def test_matches_wait_if_no_live_worker_has_the_published_code() -> None:
    assert games_without_workers(PACKAGES, workers("", "b" * 64)) == ("race",)
    assert games_without_workers(PACKAGES, workers("", "a" * 64)) == ()
    assert games_without_workers(PACKAGES, workers("", "b" * 64, silent=60)) == ()
    assert "race-package 1.0" in worker_games.waiting_reason("race", PACKAGES, workers(""))
    assert worker_games.waiting_reason("race", PACKAGES, workers("a" * 64)) == ""
    assert worker_games.waiting_reason("poke", PACKAGES, workers("")) == ""


@pytest.fixture
def redis(tmp_path: Path) -> Iterator[redis_server.Address]:
    with redis_server.resolve(Folder(tmp_path / "data").create(), {}) as address:
        yield address


@pytest.fixture
def connection(redis: redis_server.Address) -> Iterator[Redis]:
    with redis_connection.connect(redis.url) as connection:
        yield connection


@pytest.fixture
def race(folder: Path, monkeypatch: pytest.MonkeyPatch) -> GamePackage:
    install_game(folder, "race-package", {"race": ""})
    monkeypatch.setenv(SETTING, "race-package")
    return worker_games.own_packages()["race"]


def refusal(game: str, redis: str) -> str:
    try:
        worker_games.package_check(redis)(game)
    except SetupError as error:
        return error.code
    return ""


def test_a_worker_leases_only_games_that_the_organiser_published_with_its_code(
    redis: redis_server.Address, connection: Redis, race: GamePackage
) -> None:
    assert refusal("race", redis.url) == "absent-game"
    worker_games.publish_packages(connection)
    assert refusal("race", redis.url) == ""
    key = worker_games._PUBLISHED
    value = connection.get(key)
    assert isinstance(value, bytes)
    connection.set(key, value.replace(race.code.encode(), b"b" * 64))
    assert refusal("race", redis.url) == "other-package"
    assert refusal("poke", redis.url) == ""
    connection.set(key, b"\xff{")
    assert refusal("race", redis.url) == "absent-game"
    connection.delete(key)
    connection.lpush(key, "of another type")
    assert refusal("race", redis.url) == "absent-game"


def test_without_redis_only_built_in_games_are_leased(race: GamePackage, tmp_path: Path) -> None:
    nobody = f"unix://{tmp_path / 'nobody'}"
    assert refusal("race", nobody) == "absent-game"
    assert refusal("poke", nobody) == ""


def test_a_match_waits_for_a_worker_with_the_code_of_the_sweeper(
    redis: redis_server.Address, connection: Redis, race: GamePackage, tmp_path: Path
) -> None:
    engine = database.open(Folder(tmp_path / "data").database_url({}))
    database.upgrade(engine)
    for name in "ab":
        versions.add_version(engine, name, "1", name * 64, f"/{name}", {"games": ["*"]})
    plan = replace(poke_plan(), game="race", options={})
    cup = scheduler.begin(engine, plan, ["a@1", "b@1"])
    match, *_ = match_leases.due(engine)
    others = Sweeper(engine, connection)
    add_worker(connection, "w0", games={"race": "b" * 64})
    assert others.sweep() == 0
    reason = WorkerList(redis.url).waiting_reason(engine, "race", match=match)
    assert str(race) in reason
    assert WorkerList(redis.url).waiting_reason(engine, "race", tournament=cup.id) == reason
    add_worker(connection, "w1", games={"race": race.code})
    assert WorkerList(redis.url).waiting_reason(engine, "race", match=match) == ""
    assert others.sweep() == 1
    waiting = read_gauges(engine, without=("race",))[metrics.OPEN]
    assert (waiting[BARRED,], waiting[PENDING,]) == (1, 0)
    assert read_gauges(engine)[metrics.OPEN][PENDING,] == 1

    # A worker whose check fails leaves the match to others.
    with pytest.raises(SetupError):
        match_leases.lease(engine, match, "w0", check=worker_games.package_check("unix:///nobody"))
    assert listing.find_match(engine, match).attempt == 0
    lifecycle.cancel(engine, cup.id)
    engine.dispose()
