"""Test the metrics over HTTP, with all services of an arena that plays."""

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest
from sqlalchemy import select

from arena.cli.workspace import Workspace
from arena.ratings.decision_histogram import DecisionHistogram
from arena.services import metrics_server
from arena.store import database, schema
from arena.store.matches import results
from tests.arena.cli.terminal import POKEARENA
from tests.arena.services.metrics.metrics_arena import MetricsArena, labels, scraped, value
from tests.guarded_process import GuardedProcess


def test_metrics_and_health_are_the_only_pages(metrics_arena: MetricsArena) -> None:
    with metrics_server.served(metrics_arena.collector, "127.0.0.1", 0) as url:
        assert value(scraped(url), "pokearena_up", service="database") == 1
        with urlopen(url.replace("/metrics", "/healthz")) as answer:
            assert answer.read() == b"alive\n"
        with pytest.raises(HTTPError, match="404") as refused:
            urlopen(url.replace("/metrics", "/"))
        refused.value.close()


def test_a_used_address_is_refused(metrics_arena: MetricsArena) -> None:
    with metrics_server.served(metrics_arena.collector, "127.0.0.1", 0) as url:
        port = int(url.split(":")[2].split("/")[0])
        with (
            pytest.raises(
                metrics_server.CannotListen, match=f"cannot be served at 127.0.0.1 port {port}"
            ),
            metrics_server.served(metrics_arena.collector, "127.0.0.1", port),
        ):
            raise AssertionError("two servers at one address")


@contextmanager
def serving(data: Path, workers: int = 1) -> Iterator[dict[str, str]]:
    """Run `pokearena serve` with metrics; yield its JSON output."""
    words = ["serve", "--no-ladders", f"--workers={workers}", "--port=0"]
    words += ["--metrics=127.0.0.1:0", "--json"]
    command = [str(POKEARENA), *words, "--data", str(data)]
    with GuardedProcess(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={**os.environ, "POKEARENA_LOG": "json"},
    ) as process:
        assert process.stdout is not None
        try:
            yield json.loads(process.stdout.readline())
        finally:
            process.send_signal(signal.SIGTERM)


@pytest.mark.long
def test_metrics_grow_between_scrapes_by_the_new_matches(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with serving(data) as served:
        before = scraped(served["metrics"])
        tournament = [
            "tournament",
            "run",
            "poke",
            "sample:greedy",
            "sample:random",
            "--boards",
            "2",
        ]
        subprocess.run([POKEARENA, *tournament, "--data", data], check=True, capture_output=True)
        after = scraped(served["metrics"])
        # The public pages do not serve the metrics.
        with pytest.raises(HTTPError, match="404") as refused:
            urlopen(served["page"] + "metrics")
        refused.value.close()
    logged = {
        path.stem: [json.loads(line) for line in path.read_text("utf-8").splitlines()]
        for path in (data / "logs").rglob("*.log")
        if path.stem != "redis"
    }
    store = Workspace(data).store
    closed = list(results.closed(store))
    with database.reading(store) as connection:
        stored = list(connection.execute(select(schema.games.c.thinking)).scalars())
    games = len(stored)
    store.dispose()
    decisions = sum(
        DecisionHistogram.read(histogram).decisions for game in stored for histogram in game
    )

    def grew(name: str, **by: str) -> float:
        return value(after, name, **by) - value(before, name, **by)

    assert grew("pokearena_matches_total", state="closed") == len(closed) > 0
    assert grew("pokearena_games_total", form="poke") == games > 0
    assert grew("pokearena_decision_seconds_count", language="python") == decisions > 0
    verdicts = [verdict for match in closed for game in match.games for verdict in game.verdicts]
    assert grew("pokearena_verdicts_total", verdict="finished") == verdicts.count("finished")
    # The last timings of a worker process arrive after its match or are lost, but never twice.
    assert grew("pokearena_transaction_seconds_count", transaction="commit_game") <= games
    services = {label["service"] for label in labels(after, "pokearena_up")}
    assert services == {"database", "redis", "referee"}
    assert value(after, "pokearena_up", service="database") == 1
    (worker,) = labels(after, "pokearena_workers")
    assert worker["sandbox"] in ("bubblewrap", "landlock", "unsandboxed")
    processes = {label["service"] for label in labels(after, "pokearena_service_up")}
    assert processes >= {"referee-worker-1", "worker-1", "web"}
    # Every process logged in JSON which match each line concerns.
    assert logged.keys() >= {"services", "referee-worker-1", "worker-1"}
    for name, words in (
        ("worker-1", {"match", "worker", "attempt"}),
        ("referee-worker-1", {"match", "table"}),
    ):
        about = [line for line in logged[name] if words <= line.keys()]
        assert {line["match"] for line in about} == {match.id for match in closed}


@pytest.mark.long
def test_services_without_workers_report_no_referee_and_no_machine(tmp_path: Path) -> None:
    with serving(tmp_path / "data", workers=0) as served:
        samples = scraped(served["metrics"])
    assert {label["service"] for label in labels(samples, "pokearena_up")} == {"database", "redis"}
    assert value(samples, "pokearena_worker_hosts") == 0
    assert value(samples, "pokearena_disk_free_bytes") > 0
    assert labels(samples, "pokearena_backup_age_seconds") == [{}]
    assert value(samples, "pokearena_service_up", service="web") == 1
