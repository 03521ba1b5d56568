"""Test the metrics that alerts and dashboard use, and their list in monitoring.md."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from arena.services import metric_definitions

ROOT = Path(__file__).parents[4]
RULES = ROOT / "deploy" / "prometheus"
DASHBOARD = ROOT / "deploy" / "grafana" / "pokearena.json"
PAGE = (ROOT / "docs" / "reference" / "monitoring.md").read_text(encoding="utf-8")
BY_SAMPLE = {sample: metric for metric in metric_definitions.ALL for sample in metric.samples}
OF_PROMETHEUS = {"le", "job", "instance"}


def expressions() -> Iterator[str]:
    """Yield every Prometheus expression of the alerts and the dashboard."""
    text = (RULES / "alerts.yaml").read_text(encoding="utf-8")
    yield from re.findall(r"expr: (?:>-\n)?(.*?)\n +(?:for|labels):", text, re.DOTALL)
    yield from (target["expr"] for panel in panels() for target in panel["targets"])


def panels() -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = json.loads(DASHBOARD.read_text(encoding="utf-8"))["panels"]
    return rows


def alerts() -> list[str]:
    text = (RULES / "alerts.yaml").read_text(encoding="utf-8")
    return re.findall(r"- alert: (\w+)", text)


def test_every_metric_of_an_expression_exists() -> None:
    names = {name for text in expressions() for name in re.findall(r"pokearena_\w+", text)}
    assert names
    assert names <= BY_SAMPLE.keys()


def test_every_label_of_an_expression_exists() -> None:
    seen = 0
    for text in expressions():
        for name, matchers in re.findall(r"(pokearena_\w+)\{([^}]*)\}", text):
            for label in re.findall(r"(\w+)(?:=~|!~|!=|=)", matchers):
                assert label in {*BY_SAMPLE[name].labels, *OF_PROMETHEUS}, text
                seen += 1
        known = {label for name in re.findall(r"pokearena_\w+", text) for label in labels_of(name)}
        for grouped in re.findall(r"\bby \(([^)]*)\)", text):
            assert set(grouped.split(", ")) <= known | OF_PROMETHEUS, text
    assert seen


def labels_of(sample: str) -> tuple[str, ...]:
    return BY_SAMPLE[sample].labels


def test_every_metric_is_on_the_dashboard() -> None:
    names = {name for panel in panels() for target in panel["targets"] for name in words(target)}
    assert {BY_SAMPLE[name] for name in names} == set(metric_definitions.ALL)


def words(target: dict[str, Any]) -> list[str]:
    return re.findall(r"pokearena_\w+", target["expr"])


def test_panels_do_not_overlap() -> None:
    places = [panel["gridPos"] for panel in panels()]
    taken = [
        (x, y)
        for place in places
        for x in range(place["x"], place["x"] + place["w"])
        for y in range(place["y"], place["y"] + place["h"])
    ]
    assert len(taken) == len(set(taken))
    assert max(x for x, _ in taken) < 24


def test_the_page_explains_exactly_the_alerts_that_exist() -> None:
    documented = re.findall(r"^\| `(Pokearena\w+)` \| (.+) \| (.+) \|$", PAGE, re.MULTILINE)
    assert [name for name, *_ in documented] == alerts()
    assert all(means and do for _, means, do in documented)


def test_the_page_lists_every_metric() -> None:
    assert [metric.name for metric in metric_definitions.ALL if metric.name not in PAGE] == []
