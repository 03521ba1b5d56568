"""Which alerts of deploy/prometheus fire in situations of an arena, and which do not.

A situation starts from a busy arena with two machines, and describes what its exporter reports
minute by minute.
"""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any

import pytest
import yaml

from arena.services import metric_definitions
from tests.deploy.manifests import DEPLOY

RULES = DEPLOY / "prometheus"
FILE = yaml.safe_load(Path(__file__).with_name("alert_situations.yaml").read_text(encoding="utf-8"))
BUSY: Mapping[str, Any] = FILE["busy"]
SITUATIONS: Sequence[Mapping[str, Any]] = FILE["situations"]
MINUTES = 181
NEVER: Mapping[int, Sequence[str]] = dict.fromkeys((59, 75, 95, 120), ())


def steps(by_minute: object) -> Iterator[Any]:
    """Yield the value of each minute; a value holds until the next one."""
    values = by_minute if isinstance(by_minute, dict) else {0: by_minute}
    value = None
    for minute in range(MINUTES):
        yield (value := values.get(minute, value))


def samples(series: Any) -> list[str]:
    """Return the samples of a series by minute."""
    if isinstance(series, dict) and "growth" in series:
        *growth, _ = steps(series["growth"])
        return [str(total) for total in accumulate(growth, initial=float(series.get("start", 0)))]
    values = list(map(str, steps(series)))
    ends = values.index("stale") if "stale" in values else MINUTES
    return [
        "_" if value == "stale" and minute > ends else value for minute, value in enumerate(values)
    ]


def reported(situation: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return the samples of all series in a situation."""
    changes = {
        name: series for like in situation.get("like", ()) for name, series in FILE[like].items()
    }
    changes |= situation.get("series", {})
    values = {
        name: samples(series) for name, series in {**BUSY, **changes}.items() if series is not None
    }
    for name in BUSY if "lost" in situation else ():
        if name not in changes and re.match(situation["lost"], name.removeprefix("pokearena_")):
            values[name][60:] = ["stale", *["_"] * (MINUTES - 61)]
    for name in values if "begin" in situation else ():
        if not name.startswith("up"):
            values[name][: situation["begin"]] = ["_"] * situation["begin"]
    return values


def firing(situation: Mapping[str, Any]) -> Mapping[int, Sequence[str]]:
    """Return the alerts that fire by minute, without the prefix of their names."""
    alerts_by_minute: Mapping[int, Sequence[str]] = situation.get("firing", NEVER)
    return alerts_by_minute


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


def unit_test(situation: Mapping[str, Any]) -> dict[str, object]:
    """Return the situation in the format of `promtool test rules`."""
    return {
        "name": situation["name"],
        "interval": "1m",
        "input_series": [
            {"series": name, "values": " ".join(values)}
            for name, values in reported(situation).items()
        ],
        "promql_expr_test": [
            {
                "expr": 'count by (alertname) (ALERTS{alertstate="firing"})',
                "eval_time": f"{minute}m",
                "exp_samples": [
                    {"labels": f'{{alertname="Pokearena{name}"}}', "value": 1} for name in names
                ],
            }
            for minute, names in firing(situation).items()
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
        name for situation in SITUATIONS for names in firing(situation).values() for name in names
    }
    assert fired == alerts()


def test_the_busy_arena_has_every_metric() -> None:
    known_names = {name.partition("{")[0] for name in BUSY} - {"up"}
    known = {sample: metric for metric in metric_definitions.ALL for sample in metric.samples}
    assert {known[name] for name in known_names} == set(metric_definitions.ALL)


def test_promtool_accepts_the_configuration(promtool: str) -> None:
    command = [promtool, "check", "config", "prometheus.yaml"]
    done = subprocess.run(command, cwd=RULES, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
