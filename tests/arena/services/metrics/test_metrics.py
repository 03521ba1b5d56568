"""Test that the metrics equal the contents of the store and of Redis."""

import shutil
import socket
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from arena.ratings.decision_histogram import DecisionHistogram
from arena.services import closed_match_counts, metric_definitions, store_gauges
from arena.services.closed_match_counts import Counts, language
from arena.services.metrics_collector import ArenaCollector, connect
from arena.services.queue.match_queue import MatchQueue
from arena.services.queue.worker import MatchWorker
from arena.services.queue.worker_registrations import (
    HOSTS,
    LOST_SECONDS,
    MODELS_QUEUE,
    SandboxState,
    WorkerInfo,
    forget_worker,
    register_worker,
    unregister_worker,
)
from arena.store import database, schema, webhooks
from arena.store.bots import versions
from arena.store.match_settings import Clock
from arena.store.matches import lease_times, match_leases, results
from arena.store.schema import MatchState
from arena.store.tournaments import lifecycle
from arena.store.webhooks import AnnouncementType, WebhookFormat, WebhookScope
from arena.system import timings
from arena.system.start_breaker import FAILURES_TO_OPEN, StartBreaker
from arena.system.timings import Timings
from arena.tournaments import scheduler
from tests.arena.cli.stored_tournament import store_tournament
from tests.arena.poke_plan import poke_plan
from tests.arena.pushed_version import add_pushed_version
from tests.arena.registered_worker import add_worker
from tests.arena.services.metrics.metrics_arena import MetricsArena, labels, value

TWO = {frozenset({"a@1", "b@1"}): [("a@1", "b@1")]}


def play(metrics_arena: MetricsArena, cycles: int = 1) -> str:
    return store_tournament(metrics_arena.workspace, ["a", "b"], TWO, cycles=cycles, boards=2)


def schedule(metrics_arena: MetricsArena, cycles: int, **changes: Any) -> str:
    for name in "ab":
        versions.add_version(metrics_arena.workspace.store, name, "1", name * 64, f"/{name}", {})
    plan = poke_plan(settings={"cycles": cycles}, **changes)
    return scheduler.begin(metrics_arena.workspace.store, plan, ["a@1", "b@1"]).id


def test_every_metric_has_a_sample_and_a_description(metrics_arena: MetricsArena) -> None:
    play(metrics_arena)
    known = {name for metric in metric_definitions.ALL for name in metric.samples}
    assert {sample.name for sample in metrics_arena.samples()} <= known
    assert {family.name for family in metrics_arena.collector.describe()} == {
        metric.name.removesuffix("_total") for metric in metric_definitions.ALL
    }
    assert all(metric.description for metric in metric_definitions.ALL)


def test_matches_games_verdicts_and_decisions_match_the_store(metrics_arena: MetricsArena) -> None:
    before = metrics_arena.samples()
    play(metrics_arena, cycles=3)
    after = metrics_arena.samples()
    closed = list(results.closed(metrics_arena.workspace.store))
    assert value(before, "pokearena_matches_total") == 0
    assert value(after, "pokearena_matches_total", form="poke", state="closed") == len(closed) == 3
    games = [game for match in closed for game in match.games]
    assert value(after, "pokearena_games_total", form="poke") == len(games) == 12
    verdicts = Counter(str(verdict) for game in games for verdict in game.verdicts)
    assert verdicts == {"finished": 24}
    assert value(after, "pokearena_verdicts_total", verdict="finished") == 24
    with database.reading(metrics_arena.workspace.store) as connection:
        stored = connection.execute(select(schema.games.c.thinking)).scalars()
        decisions = sum(
            DecisionHistogram.read(histogram).decisions for match in stored for histogram in match
        )
    assert value(after, "pokearena_decision_seconds_count") == decisions == 24
    assert value(after, "pokearena_bot_decision_seconds_count", bot="a@1") == 12
    assert value(after, "pokearena_match_seconds_count") == 3
    # The records contain decisions of 2 ms and of 3 ms, in equal numbers.
    name = "pokearena_decision_seconds"
    buckets = [value(after, f"{name}_bucket", le=bound) for bound in ("0.001", "0.002", "0.004")]
    assert buckets == [0, 0, 24]
    assert value(after, f"{name}_sum") / 24 == pytest.approx(0.0025, rel=0.1)
    # Another scrape counts nothing again.
    assert value(metrics_arena.samples(), "pokearena_games_total") == 12


def test_matches_are_counted_from_the_first_and_games_from_the_start(
    metrics_arena: MetricsArena,
) -> None:
    play(metrics_arena, cycles=2)
    later = MetricsArena(
        metrics_arena.workspace,
        metrics_arena.redis,
        ArenaCollector(metrics_arena.workspace.store, metrics_arena.redis),
    )
    samples = later.samples()
    assert value(samples, "pokearena_matches_total", state="closed") == 2
    assert value(samples, "pokearena_games_total") == 0


def test_every_bin_is_counted_at_the_first_bound_above_it() -> None:
    for bin_ in range(-40, 80):
        spread = closed_match_counts.Spread(closed_match_counts.DECISION_BOUNDS)
        closed_match_counts.count_bin(spread, bin_, 1)
        (place,) = spread.counts
        edge = 2 ** ((bin_ + 1) / 4) / 1000
        assert place == sum(bound < edge * 0.999999 for bound in spread.bounds)


def open_by_state(metrics_arena: MetricsArena) -> dict[str, float]:
    """Return the numbers of open matches by state, without zeros."""
    samples = metrics_arena.samples()
    return {
        state: number
        for state in store_gauges.STATES
        if (number := value(samples, "pokearena_open_matches", state=state))
    }


def test_matches_that_no_worker_may_play_are_barred(metrics_arena: MetricsArena) -> None:
    store = metrics_arena.workspace.store
    schedule(metrics_arena, cycles=1)
    add_pushed_version(store, versions.find_version(store, "b@1"))
    assert open_by_state(metrics_arena) == {"pending": 1}
    sandbox = SandboxState("landlock", "landlock", plays_pushed=False)
    add_worker(metrics_arena.redis, "w", sandbox)
    assert open_by_state(metrics_arena) == {"barred": 1}


def test_the_free_space_of_the_data_folder_is_reported(metrics_arena: MetricsArena) -> None:
    folder = metrics_arena.workspace.folder.root
    collector = ArenaCollector(metrics_arena.workspace.store, None, folder=folder)
    samples = MetricsArena(metrics_arena.workspace, metrics_arena.redis, collector).samples()
    size = value(samples, "pokearena_disk_size_bytes")
    assert size == shutil.disk_usage(folder).total
    assert 0 < value(samples, "pokearena_disk_free_bytes") <= size
    assert not labels(metrics_arena.samples(), "pokearena_disk_free_bytes")


def test_a_machine_whose_workers_vanish_is_lost(metrics_arena: MetricsArena) -> None:
    redis = metrics_arena.redis

    def hosts() -> tuple[float, float]:
        samples = metrics_arena.samples()
        alive, lost = (
            value(samples, "pokearena_worker_hosts", state=state) for state in ("alive", "lost")
        )
        return alive, lost

    assert hosts() == (0, 0)
    add_worker(redis, "w1", SandboxState("landlock"))
    redis.zadd(HOSTS, {"gone": time.time()})
    assert hosts() == (1, 1)
    forget_worker(redis, "w1")
    assert hosts() == (0, 2)
    unregister_worker(redis, "w2", "host")
    assert hosts() == (0, 1)
    redis.zadd(HOSTS, {"gone": time.time() - LOST_SECONDS})
    assert hosts() == (0, 0)


def test_a_worker_that_stops_removes_its_machine_and_a_killed_one_does_not(
    metrics_arena: MetricsArena,
) -> None:
    redis = metrics_arena.redis
    first, second = (MatchWorker(redis, lambda match, drain: None) for _ in range(2))
    first.register()
    second.register()
    unregister_worker(redis, first.name, socket.gethostname())
    assert redis.zrange(HOSTS, 0, -1) == [socket.gethostname().encode()]
    unregister_worker(redis, second.name, socket.gethostname())
    assert redis.zrange(HOSTS, 0, -1) == []


def test_a_worker_whose_matches_fail_is_counted_as_paused(metrics_arena: MetricsArena) -> None:
    breaker = StartBreaker()
    worker = MatchWorker(metrics_arena.redis, lambda match, drain: None, breaker=breaker)
    states = []
    for _ in range(FAILURES_TO_OPEN + 1):
        worker.register()
        states += [label["state"] for label in labels(metrics_arena.samples(), "pokearena_workers")]
        breaker.note_failure()
    assert states == [*["idle"] * FAILURES_TO_OPEN, "paused"]
    breaker.note_success()
    worker.register()
    assert value(metrics_arena.samples(), "pokearena_workers", state="idle") == 1


def test_open_matches_and_tournaments_are_counted_by_state(metrics_arena: MetricsArena) -> None:
    store = metrics_arena.workspace.store
    tournament = schedule(metrics_arena, cycles=4)
    due = match_leases.due(store)
    match_leases.lease(store, due[0], "w1", 600)
    match_leases.lease(store, due[1], "w2", 0)

    assert open_by_state(metrics_arena) == {"pending": 2, "running": 1, "lapsed": 1}
    assert value(metrics_arena.samples(), "pokearena_due_matches") == 3
    assert value(metrics_arena.samples(), "pokearena_due_model_matches") == 0
    assert (
        value(metrics_arena.samples(), "pokearena_lease_age_seconds") >= lease_times.LEASE_SECONDS
    )
    lifecycle.pause(store, tournament)
    assert open_by_state(metrics_arena) == {"held": 3, "running": 1}
    match_leases.void(store, due[2], "for the test")
    samples = metrics_arena.samples()
    assert value(samples, "pokearena_matches_total", state="void") == 1
    assert value(samples, "pokearena_tournaments", state="paused") == 1


def test_due_matches_of_the_class_model_are_counted(metrics_arena: MetricsArena) -> None:
    store = metrics_arena.workspace.store
    schedule(metrics_arena, cycles=3, clock=Clock(bank_ms=900_001))
    match_leases.lease(store, match_leases.due(store)[0], "w1", 600)
    samples = metrics_arena.samples()
    assert value(samples, "pokearena_due_model_matches") == 2
    assert value(samples, "pokearena_due_matches") == 2
    # Without workers of the queue `models`, the others play them.
    assert value(samples, "pokearena_due_usual_matches") == 2
    worker = WorkerInfo(name="w2", host="here", pid=1, queue=MODELS_QUEUE)
    register_worker(metrics_arena.redis, worker)
    assert value(metrics_arena.samples(), "pokearena_due_usual_matches") == 0


def test_infrastructure_failures_are_counted(metrics_arena: MetricsArena) -> None:
    store = metrics_arena.workspace.store
    schedule(metrics_arena, cycles=1)
    lease = match_leases.lease(store, match_leases.due(store)[0], "w1")
    assert lease is not None
    match_leases.release(store, lease, match_leases.ArenaFault("a cable was pulled"))
    assert value(metrics_arena.samples(), "pokearena_failures_total") == 1


def test_queued_jobs_are_counted(metrics_arena: MetricsArena) -> None:
    queue = MatchQueue(metrics_arena.redis)
    queue.enqueue("m-1")
    queue.enqueue("m-2")
    assert value(metrics_arena.samples(), "pokearena_queue_jobs") == 2


def test_transaction_times_are_summed_over_processes(metrics_arena: MetricsArena) -> None:
    for seconds in (0.003, 0.0005, 99.0):
        # Each one as from a separate worker process.
        timings_of_process = Timings()
        timings_of_process.note(timings.TRANSACTION, "commit_game", seconds)
        timings_of_process.note(timings.LAG, "", seconds)
        timings_of_process.send(metrics_arena.redis)
        timings_of_process.send(metrics_arena.redis)
    samples = metrics_arena.samples()
    name = "pokearena_transaction_seconds"
    assert value(samples, f"{name}_count", transaction="commit_game") == 3
    assert value(samples, f"{name}_sum") == pytest.approx(99.0035)
    up_to = [value(samples, f"{name}_bucket", le=bound) for bound in ("0.001", "0.004", "+Inf")]
    assert up_to == [1, 2, 3]
    assert value(samples, "pokearena_worker_lag_seconds_count") == 3


def test_every_write_transaction_is_timed(metrics_arena: MetricsArena) -> None:
    timings.HERE.forget()
    schedule(metrics_arena, cycles=1)
    timings.HERE.send(metrics_arena.redis)
    transactions = timings.read(metrics_arena.redis)[timings.TRANSACTION]
    assert sum(transactions["schedule"].counts) == 1
    assert sum(transactions["add_version"].counts) == 2


def test_a_failed_transaction_is_not_timed(metrics_arena: MetricsArena) -> None:
    timings.HERE.forget()
    with (
        pytest.raises(ValueError, match="for the test"),
        database.writing(metrics_arena.workspace.store),
    ):
        raise ValueError("for the test")
    timings.HERE.send(metrics_arena.redis)
    assert timings.read(metrics_arena.redis) == {}


def test_without_redis_other_metrics_are_exported(
    metrics_arena: MetricsArena, tmp_path: Path
) -> None:
    play(metrics_arena)
    nobody = connect(f"unix://{tmp_path}/nobody.sock")
    assert nobody is not None
    samples = MetricsArena(
        metrics_arena.workspace, nobody, ArenaCollector(metrics_arena.workspace.store, nobody)
    ).samples()
    assert value(samples, "pokearena_up", service="redis") == 0
    assert value(samples, "pokearena_up", service="database") == 1
    assert value(samples, "pokearena_matches_total") == 1
    assert not labels(samples, "pokearena_queue_jobs")


def test_without_the_database_counters_keep_their_values(metrics_arena: MetricsArena) -> None:
    play(metrics_arena)
    metrics_arena.samples()
    metrics_arena.workspace.store.dispose()
    path = metrics_arena.workspace.folder.database
    path.rename(path.with_suffix(".away"))
    samples = metrics_arena.samples()
    assert value(samples, "pokearena_up", service="database") == 0
    assert value(samples, "pokearena_up", service="redis") == 1
    assert value(samples, "pokearena_games_total") == 4
    assert not labels(samples, "pokearena_open_matches")
    path.with_suffix(".away").rename(path)
    assert value(metrics_arena.samples(), "pokearena_up", service="database") == 1


def test_unknown_languages_share_one_label() -> None:
    assert [language(word) for word in ("Go", "", "brainfuck-2", "remote")] == [
        "go",
        "unknown",
        "other",
        "remote",
    ]


def test_the_number_of_bot_labels_is_limited(
    metrics_arena: MetricsArena, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(closed_match_counts, "MOST_BOTS", 1)
    play(metrics_arena)
    bots = {
        label["bot"]
        for label in labels(metrics_arena.samples(), "pokearena_bot_decision_seconds_count")
    }
    assert bots == {"a@1", "others"}


def test_a_match_closed_during_the_first_count_is_counted_once(
    metrics_arena: MetricsArena,
) -> None:
    play(metrics_arena)
    counting = Counts(metrics_arena.workspace.store)
    counting.catch_up()
    assert counting.matches["poke", MatchState.CLOSED.lower()] == 1
    assert not counting.games


def test_webhooks_and_their_deliveries_are_counted(metrics_arena: MetricsArena) -> None:
    store = metrics_arena.workspace.store
    every = tuple(AnnouncementType)
    hook = webhooks.add_webhook(
        store, "https://example.org/", WebhookFormat.STANDARD, every, WebhookScope()
    )
    schedule(metrics_arena, cycles=1)
    planned = webhooks.plan(store)
    samples = metrics_arena.samples()
    assert value(samples, "pokearena_webhooks", state="enabled") == 1
    assert value(samples, "pokearena_webhook_deliveries", state="waiting") == planned > 0
    assert value(samples, "pokearena_webhook_delivery_age_seconds") > 0

    begun = webhooks.start(store, hook.id)
    assert begun is not None
    webhooks.record_attempt(store, begun[1], webhooks.AttemptResult(410, "status 410"))
    samples = metrics_arena.samples()
    assert value(samples, "pokearena_webhooks", state="disabled") == 1
    assert value(samples, "pokearena_webhook_deliveries", state="failed") == planned
    assert value(samples, "pokearena_webhook_delivery_age_seconds") == 0


def test_workers_are_counted_by_their_sandbox(metrics_arena: MetricsArena) -> None:
    for name, sandbox in {
        "w1": SandboxState("bubblewrap", "bubblewrap"),
        "w2": SandboxState("landlock", "bubblewrap"),
        "w3": SandboxState("unavailable", "bubblewrap"),
    }.items():
        add_worker(metrics_arena.redis, name, sandbox)
    samples = metrics_arena.samples()
    for level in ("bubblewrap", "landlock", "unavailable"):
        assert value(samples, "pokearena_workers", sandbox=level) == 1
    assert value(samples, "pokearena_lowered_workers") == 1
