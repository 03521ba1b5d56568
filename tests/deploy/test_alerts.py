"""Which alerts of deploy/prometheus fire in situations of an arena, and which do not.

A situation starts from a busy arena with two machines, and describes what its exporter reports
minute by minute.
"""

import os
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import yaml

from arena.services import metric_definitions
from tests.deploy.manifests import DEPLOY

RULES = DEPLOY / "prometheus"
MINUTES = 181
DAY = 86400

Values = list[str]
Series = Mapping[str, Values | None]
"""Values of each series by minute; None: the exporter does not have the series."""
Alerts = Sequence[str]


def level(*steps: tuple[int, float | str]) -> Values:
    """Return the values of a gauge that changes at these minutes; "stale": the series ends."""
    values: Values = []
    for (begin, value), (end, _) in zip(steps, [*steps[1:], (MINUTES, 0)], strict=True):
        assert begin == len(values)
        later = "_" if value == "stale" else str(value)
        values += [str(value), *[later] * (end - begin - 1)]
    return values


def growing(*steps: tuple[int, float], start: float = 0.0) -> Values:
    """Return the values of a counter whose growth per minute changes at these minutes."""
    values, total = list[str](), start
    for (begin, rate), (end, _) in zip(steps, [*steps[1:], (MINUTES, 0)], strict=True):
        for _ in range(begin, end):
            values.append(str(total))
            total += rate
    return values


def is_matching(series: str, pattern: str) -> bool:
    return re.match(pattern, series.removeprefix("pokearena_")) is not None


BUSY: Series = {
    'up{job="pokearena"}': level((0, 1)),
    "pokearena_build_info": level((0, 1)),
    **{
        f'pokearena_up{{service="{name}"}}': level((0, 1))
        for name in ("database", "redis", "referee")
    },
    'pokearena_read_seconds{source="database"}': level((0, 0.01)),
    'pokearena_open_matches{state="pending"}': level((0, 50)),
    'pokearena_open_matches{state="running"}': level((0, 2)),
    # A worker was killed, and another one continues its match.
    'pokearena_open_matches{state="lapsed"}': level((0, 0), (10, 1), (11, 0)),
    **{
        f'pokearena_open_matches{{state="{state}"}}': level((0, 0))
        for state in ("held", "absent", "barred", "retrying")
    },
    'pokearena_workers{state="busy",sandbox="bubblewrap"}': level((0, 2)),
    # Workers of stopped machines, which Redis drops after 30 s.
    'pokearena_workers{state="silent",sandbox="landlock"}': level((0, 1), (1, "stale")),
    "pokearena_lowered_workers": level((0, 0)),
    'pokearena_worker_hosts{state="alive"}': level((0, 2)),
    'pokearena_worker_hosts{state="lost"}': level((0, 0)),
    'pokearena_matches_total{form="poke",state="closed"}': growing((0, 1)),
    'pokearena_matches_total{form="poke",state="void"}': level((0, 3)),
    "pokearena_match_seconds_count": growing((0, 1)),
    "pokearena_games_total": growing((0, 4)),
    "pokearena_decision_seconds_count": growing((0, 100)),
    "pokearena_bot_decision_seconds_count": growing((0, 100)),
    "pokearena_failures_total": level((0, 5), (40, 6)),
    "pokearena_due_matches": level((0, 50)),
    "pokearena_queue_jobs": level((0, 8)),
    'pokearena_tournaments{state="RUNNING"}': level((0, 1)),
    'pokearena_submissions{state="waiting"}': level((0, 1)),
    'pokearena_remote_bots{state="away"}': level((0, 0)),
    "pokearena_lease_age_seconds": level((0, 4)),
    "pokearena_attempt_age_seconds": level((0, 60)),
    "pokearena_quarantined_versions": level((0, 0)),
    "pokearena_submission_age_seconds": level((0, 20)),
    'pokearena_webhooks{state="disabled"}': level((0, 0)),
    'pokearena_webhook_deliveries{state="waiting"}': level((0, 1)),
    "pokearena_webhook_delivery_age_seconds": level((0, 1)),
    'pokearena_worker_lag_seconds_bucket{le="0.001"}': growing((0, 590)),
    'pokearena_worker_lag_seconds_bucket{le="0.064"}': growing((0, 600)),
    'pokearena_worker_lag_seconds_bucket{le="+Inf"}': growing((0, 600)),
    'pokearena_transaction_seconds_bucket{transaction="lease",le="0.016"}': growing((0, 60)),
    'pokearena_transaction_seconds_bucket{transaction="lease",le="+Inf"}': growing((0, 60)),
    'pokearena_verdicts_total{form="poke",verdict="timeout"}': growing((0, 1)),
    'pokearena_verdicts_total{form="poke",verdict="finished"}': growing((0, 99)),
    'pokearena_service_up{service="web"}': level((0, 1)),
    'pokearena_service_restarts_total{service="web"}': level((0, 1)),
    'pokearena_service_failures_total{service="rater"}': level((0, 1)),
    "pokearena_discarded_items_total": level((0, 0)),
    "pokearena_disk_free_bytes": level((0, 50e9)),
    "pokearena_disk_size_bytes": level((0, 100e9)),
    # A backup each night.
    "pokearena_backup_age_seconds": growing((0, 60), start=DAY - 3600),
}
OF_STORE = (
    "open_matches|tournaments|submission|remote_bots|quarantined|webhook|lease_age|attempt_age"
    "|failures_total|backup_age"
)
OF_REDIS = "queue_jobs|workers|lowered|worker_|transaction|discarded|service_failures"
IDLE: Series = {
    'pokearena_open_matches{state="pending"}': level((0, 0)),
    'pokearena_open_matches{state="running"}': level((0, 0)),
    'pokearena_open_matches{state="lapsed"}': level((0, 0)),
    'pokearena_workers{state="busy",sandbox="bubblewrap"}': None,
    'pokearena_workers{state="idle",sandbox="bubblewrap"}': level((0, 2)),
    'pokearena_matches_total{form="poke",state="closed"}': level((0, 700)),
    "pokearena_queue_jobs": level((0, 0)),
    "pokearena_attempt_age_seconds": level((0, 0)),
    "pokearena_lease_age_seconds": level((0, 0)),
}
STUCK: Series = {'pokearena_matches_total{form="poke",state="closed"}': growing((0, 1), (60, 0))}
"""No match ends from minute 60 on."""


def lost(pattern: str, begin: int = 60) -> Series:
    """Return the series of the busy arena that match a pattern; they end at a minute."""
    return {
        series: [*values[:begin], "stale", *["_"] * (MINUTES - begin - 1)]
        for series, values in BUSY.items()
        if values is not None and is_matching(series, pattern)
    }


@dataclass(frozen=True)
class Situation:
    """What the exporter reports, and which alerts fire.

    Attributes:
        name: what happens; by default at minute 60.
        series: the series that differ from the busy arena.
        firing: the alerts that fire at a minute, without the prefix of their names.
    """

    name: str
    series: Series
    firing: Mapping[int, Alerts] = field(default_factory=dict)


NEVER: Mapping[int, Alerts] = dict.fromkeys((59, 75, 95, 120), ())

SITUATIONS = (
    Situation("busy", {}, {5: (), **NEVER, 180: ()}),
    Situation("idle night", IDLE, NEVER),
    Situation(
        "first matches after an idle night",
        {
            **IDLE,
            'pokearena_open_matches{state="pending"}': level((0, 0), (60, 8)),
            'pokearena_open_matches{state="running"}': level((0, 0), (60, 2)),
            'pokearena_workers{state="idle",sandbox="bubblewrap"}': level((0, 2), (60, "stale")),
            'pokearena_workers{state="busy",sandbox="bubblewrap"}': level((0, "_"), (60, 2)),
            "pokearena_queue_jobs": level((0, 0), (60, 8)),
            # The first one ends after 28 minutes.
            'pokearena_matches_total{form="poke",state="closed"}': growing(
                (0, 0), (87, 0.1), start=700
            ),
        },
        NEVER,
    ),
    Situation(
        "matches that never end after an idle night",
        {
            **IDLE,
            'pokearena_open_matches{state="running"}': level((0, 0), (60, 2)),
            'pokearena_workers{state="idle",sandbox="bubblewrap"}': level((0, 2), (60, "stale")),
            'pokearena_workers{state="busy",sandbox="bubblewrap"}': level((0, "_"), (60, 2)),
        },
        {59: (), 75: (), 89: (), 91: ("NothingEnds",), 180: ("NothingEnds",)},
    ),
    Situation(
        "monitoring starts while matches run",
        {
            series: ["_"] * 60 + (values or [])[60:]
            for series, values in BUSY.items()
            if not series.startswith("up")
        },
        NEVER,
    ),
    Situation(
        "one of two machines is lost",
        {
            'pokearena_workers{state="busy",sandbox="bubblewrap"}': level((0, 2), (60, 1)),
            'pokearena_workers{state="silent",sandbox="bubblewrap"}': [
                *["_"] * 60,
                "1",
                "stale",
                *["_"] * (MINUTES - 62),
            ],
            'pokearena_worker_hosts{state="alive"}': level((0, 2), (60, 1)),
            'pokearena_worker_hosts{state="lost"}': level((0, 0), (60, 1), (150, 0)),
            'pokearena_open_matches{state="lapsed"}': level((0, 0), (60, 1), (61, 0)),
        },
        {61: (), 63: ("WorkerHostLost",), 120: ("WorkerHostLost",), 151: ()},
    ),
    Situation(
        "all machines are lost",
        {
            **STUCK,
            **lost("workers"),
            'pokearena_worker_hosts{state="alive"}': level((0, 2), (60, 0)),
            'pokearena_worker_hosts{state="lost"}': level((0, 0), (60, 2)),
            'pokearena_open_matches{state="running"}': level((0, 2), (60, 0)),
            'pokearena_open_matches{state="lapsed"}': level((0, 0), (60, 2)),
        },
        {
            61: (),
            63: ("LapsedLeases", "NoWorkers", "WorkerHostLost"),
            100: ("LapsedLeases", "NoWorkers", "NothingEnds", "WorkerHostLost"),
        },
    ),
    Situation(
        "workers are stopped on purpose while nothing is due",
        {
            **IDLE,
            'pokearena_workers{state="idle",sandbox="bubblewrap"}': level((0, 2), (60, "stale")),
            'pokearena_worker_hosts{state="alive"}': level((0, 2), (60, 0)),
        },
        NEVER,
    ),
    Situation(
        "all matches wait for a remote bot",
        {
            **IDLE,
            **STUCK,
            'pokearena_open_matches{state="absent"}': level((0, 0), (60, 10)),
            'pokearena_remote_bots{state="away"}': level((0, 0), (60, 1)),
        },
        NEVER,
    ),
    Situation(
        "the sweeper stops while a remote bot is away",
        {
            **IDLE,
            'pokearena_open_matches{state="absent"}': level((0, 1)),
            'pokearena_remote_bots{state="away"}': level((0, 1)),
            'pokearena_open_matches{state="pending"}': level((0, 0), (60, 5)),
        },
        {59: (), 61: (), 63: ("EmptyQueue",), 95: ("EmptyQueue", "NothingEnds")},
    ),
    Situation(
        "a paused tournament",
        {**IDLE, **STUCK, 'pokearena_open_matches{state="held"}': level((0, 0), (60, 40))},
        NEVER,
    ),
    Situation(
        "the store is away",
        {
            **STUCK,
            **lost(OF_STORE),
            'pokearena_up{service="database"}': level((0, 1), (60, 0)),
            'pokearena_workers{state="busy",sandbox="bubblewrap"}': level((0, 2), (60, "stale")),
            'pokearena_workers{state="idle",sandbox="bubblewrap"}': level((0, "_"), (60, 2)),
        },
        {59: (), 62: ("DatabaseAway",), 120: ("DatabaseAway",)},
    ),
    Situation(
        "Redis is away, and running matches end",
        {
            **lost(OF_REDIS),
            'pokearena_up{service="redis"}': level((0, 1), (60, 0)),
            'pokearena_open_matches{state="running"}': level((0, 2), (65, 0)),
        },
        {59: (), 62: ("RedisAway",), 80: ("RedisAway",)},
    ),
    Situation(
        "the services of many machines have no referee",
        {'pokearena_up{service="referee"}': None},
        NEVER,
    ),
    Situation(
        "the referee is away",
        {'pokearena_up{service="referee"}': level((0, 1), (60, 0))},
        {59: (), 62: ("RefereeAway",)},
    ),
    Situation(
        "bots cannot start on any machine",
        {
            **STUCK,
            'pokearena_workers{state="busy",sandbox="bubblewrap"}': level((0, 2), (60, "stale")),
            'pokearena_workers{state="paused",sandbox="bubblewrap"}': level((0, "_"), (60, 2)),
            'pokearena_open_matches{state="pending"}': level((0, 50), (60, 46)),
            'pokearena_open_matches{state="running"}': level((0, 2), (60, 0)),
            'pokearena_open_matches{state="retrying"}': level((0, 0), (60, 6)),
            "pokearena_failures_total": growing((0, 0), (60, 3), (63, 2)),
        },
        {
            59: (),
            63: ("Failures", "NoWorkers"),
            70: ("Failures", "NoWorkers", "PausedWorkers"),
            100: ("Failures", "NoWorkers", "NothingEnds", "PausedWorkers"),
        },
    ),
    Situation(
        "bots cannot start on one of two machines",
        {
            'pokearena_workers{state="busy",sandbox="bubblewrap"}': level((0, 2), (60, 1)),
            'pokearena_workers{state="paused",sandbox="bubblewrap"}': level((0, "_"), (60, 1)),
            "pokearena_failures_total": growing((0, 0), (60, 3), (61, 1)),
        },
        {59: (), 63: ("Failures",), 70: ("Failures", "PausedWorkers")},
    ),
    Situation(
        "one bot makes the arena fail",
        {
            "pokearena_failures_total": growing((0, 0), (60, 1), (66, 0)),
            'pokearena_matches_total{form="poke",state="void"}': level((0, 3), (64, 5)),
            "pokearena_quarantined_versions": level((0, 0), (64, 1)),
        },
        {
            59: (),
            70: ("Failures", "Quarantine", "VoidMatches"),
            120: ("Quarantine", "VoidMatches"),
            130: ("Quarantine",),
        },
    ),
    Situation(
        "the disk fills",
        {"pokearena_disk_free_bytes": level((0, 50e9), (60, 8e9), (120, 1e9), (150, 50e9))},
        {59: (), 69: (), 71: ("DiskFilling",), 122: ("DiskFilling", "DiskFull"), 151: ()},
    ),
    Situation(
        "backups stop",
        {"pokearena_backup_age_seconds": growing((0, 60), start=2 * DAY - 3600)},
        {60: (), 61: ("BackupAge",), 180: ("BackupAge",)},
    ),
    Situation(
        "one machine runs bots at a weaker level",
        {
            'pokearena_workers{state="busy",sandbox="bubblewrap"}': level((0, 2), (60, 1)),
            'pokearena_workers{state="busy",sandbox="landlock"}': level((0, "_"), (60, 1)),
            "pokearena_lowered_workers": level((0, 0), (60, 1)),
        },
        {59: (), 62: ("LoweredSandbox",), 66: ("LoweredSandbox", "MixedSandboxes")},
    ),
    Situation(
        "all machines run bots at a weaker level, at which pushed bots do not play",
        {
            'pokearena_workers{state="busy",sandbox="bubblewrap"}': level((0, 2), (60, "stale")),
            'pokearena_workers{state="busy",sandbox="landlock"}': level((0, "_"), (60, 2)),
            "pokearena_lowered_workers": level((0, 0), (60, 2)),
            'pokearena_open_matches{state="barred"}': level((0, 0), (60, 30)),
        },
        {59: (), 62: ("LoweredSandbox",), 71: ("BarredMatches", "LoweredSandbox")},
    ),
    Situation(
        "the sandbox of one machine fails",
        {
            'pokearena_workers{state="busy",sandbox="bubblewrap"}': level((0, 2), (60, 1)),
            'pokearena_workers{state="idle",sandbox="unavailable"}': level((0, "_"), (60, 1)),
        },
        {59: (), 62: ("NoSandbox",), 120: ("NoSandbox",)},
    ),
    Situation(
        "one machine runs bots without a sandbox",
        {
            'pokearena_workers{state="busy",sandbox="bubblewrap"}': level((0, 2), (60, 1)),
            'pokearena_workers{state="busy",sandbox="unsandboxed"}': level((0, "_"), (60, 1)),
            "pokearena_lowered_workers": level((0, 0), (60, 1)),
        },
        {59: (), 66: ("LoweredSandbox", "MixedSandboxes", "Unsandboxed")},
    ),
    Situation(
        "a process crashes again and again",
        {
            'pokearena_service_restarts_total{service="web"}': growing((0, 0), (60, 2), start=1),
            'pokearena_service_up{service="web"}': level((0, 1), (60, 0)),
        },
        {59: (), 63: ("Restarts",), 66: ("Restarts", "ServiceDown")},
    ),
    Situation(
        "a task inside a service fails again and again, and the exporter runs separately",
        {
            **lost("service_(up|restarts)", 0),
            'pokearena_service_failures_total{service="rater"}': growing((0, 0), (60, 2), start=1),
        },
        {59: (), 65: ("Restarts",)},
    ),
    Situation(
        "the exporter does not answer",
        {**lost(""), 'up{job="pokearena"}': level((0, 1), (60, 0))},
        {59: (), 61: (), 63: ("Unwatched",), 120: ("Unwatched",)},
    ),
    Situation(
        "the target of Prometheus vanishes",
        {**lost(""), 'up{job="pokearena"}': level((0, 1), (60, "stale"))},
        {59: (), 61: (), 63: ("Unwatched",), 120: ("Unwatched",)},
    ),
    Situation(
        "an attempt hangs while others end",
        {"pokearena_attempt_age_seconds": growing((0, 0), (10, 60))},
        {120: (), 135: (), 137: ("LongAttempt",)},
    ),
    Situation(
        "the machines are overloaded",
        {
            'pokearena_worker_lag_seconds_bucket{le="0.064"}': growing((0, 600), (60, 300)),
            'pokearena_worker_lag_seconds_bucket{le="0.256"}': growing((0, 600)),
            'pokearena_verdicts_total{form="poke",verdict="timeout"}': growing((0, 1), (60, 10)),
            'pokearena_transaction_seconds_bucket{transaction="lease",le="0.016"}': growing(
                (0, 60), (60, 1)
            ),
            'pokearena_transaction_seconds_bucket{transaction="lease",le="2.048"}': growing(
                (0, 60)
            ),
        },
        {59: (), 95: ("LateWorkers", "ManyTimeouts", "SlowStore")},
    ),
    Situation(
        "pushed bots and webhooks wait",
        {
            "pokearena_submission_age_seconds": growing((0, 0), (60, 60)),
            "pokearena_webhook_delivery_age_seconds": growing((0, 0), (60, 60)),
        },
        {59: (), 90: (), 97: ("WaitingSubmissions",), 127: ("WaitingSubmissions", "Webhooks")},
    ),
    Situation(
        "a webhook is disabled",
        {'pokearena_webhooks{state="disabled"}': level((0, 0), (60, 1))},
        {59: (), 66: ("Webhooks",)},
    ),
)


@pytest.fixture(scope="module")
def promtool() -> str:
    program = shutil.which("promtool")
    if program is None:
        if os.environ.get("CI"):
            pytest.fail("CI has no promtool")
        pytest.skip("promtool is not installed")
    return program


def alerts() -> set[str]:
    """Return the names of all alerts, without their prefix."""
    groups = yaml.safe_load((RULES / "alerts.yaml").read_text(encoding="utf-8"))["groups"]
    rules = [rule for group in groups for rule in group["rules"]]
    return {rule["alert"].removeprefix("Pokearena") for rule in rules}


def unit_test(situation: Situation) -> dict[str, object]:
    """Return the situation in the format of `promtool test rules`."""
    series = {name: values for name, values in {**BUSY, **situation.series}.items() if values}
    return {
        "name": situation.name,
        "interval": "1m",
        "input_series": [
            {"series": name, "values": " ".join(values)} for name, values in series.items()
        ],
        "promql_expr_test": [
            {
                "expr": 'count by (alertname) (ALERTS{alertstate="firing"})',
                "eval_time": f"{minute}m",
                "exp_samples": [
                    {"labels": f'{{alertname="Pokearena{name}"}}', "value": 1} for name in names
                ],
            }
            for minute, names in situation.firing.items()
        ],
    }


@pytest.mark.long
def test_exactly_the_listed_alerts_fire_in_each_situation(promtool: str, tmp_path: Path) -> None:
    tests = {
        "rule_files": [str(RULES / "alerts.yaml")],
        "evaluation_interval": "1m",
        "tests": [unit_test(situation) for situation in SITUATIONS],
    }
    file = tmp_path / "situations.yaml"
    file.write_text(yaml.safe_dump(tests), encoding="utf-8")
    done = subprocess.run([promtool, "test", "rules", file], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_alert_fires_in_a_situation() -> None:
    fired = {
        name for situation in SITUATIONS for names in situation.firing.values() for name in names
    }
    assert fired == alerts()


def test_the_busy_arena_has_every_metric() -> None:
    reported = {name.partition("{")[0] for name in BUSY} - {"up"}
    known = {sample: metric for metric in metric_definitions.ALL for sample in metric.samples}
    assert {known[name] for name in reported} == set(metric_definitions.ALL)


def test_promtool_accepts_the_configuration(promtool: str) -> None:
    command = [promtool, "check", "config", "prometheus.yaml"]
    done = subprocess.run(command, cwd=RULES, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
