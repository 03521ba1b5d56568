"""Check what a release needs: one version, its changelog, and the constraints of the build."""

import re
import tomllib
from importlib import metadata
from pathlib import Path
from typing import Any

import yaml

from arena.cli.develop.machine_checks import TESTED_PYTHONS

ROOT = Path(__file__).parent.parent


def project() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


VERSION = str(project()["project"]["version"])
"""The version in pyproject.toml, the only place that states it."""


def test_the_version_has_one_source() -> None:
    assert metadata.version("pokearena") == VERSION
    sources = [path for name in ("arena", "referee") for path in (ROOT / name).rglob("*.py")]
    assert sources
    assert not [path for path in sources if f'"{VERSION}"' in path.read_text(encoding="utf-8")]


def test_the_chart_has_the_version_of_the_release() -> None:
    """Helm requires a copy."""
    chart = yaml.safe_load((ROOT / "deploy" / "chart" / "Chart.yaml").read_text(encoding="utf-8"))
    assert chart["version"] == chart["appVersion"] == VERSION


def test_the_changelog_has_a_section_for_the_version() -> None:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    sections = re.findall(r"^## \[(.+?)\](?: - (\d{4}-\d\d-\d\d))?$", text, re.MULTILINE)
    released = [(name, date) for name, date in sections if name != "Unreleased"]
    assert released[0][0] == VERSION
    assert all(date for _, date in released)


def test_elo_is_a_dependency_of_the_checkout_but_not_of_the_wheel() -> None:
    elo = ["elo==0.1.1 ; python_version < '3.12'"]
    tables = project()
    assert not [name for name in tables["project"]["dependencies"] if name.startswith("elo")]
    assert tables["project"]["optional-dependencies"]["elo"] == elo
    assert [name for name in tables["dependency-groups"]["dev"] if name.startswith("elo")] == elo
    assert (ROOT / ".python-version").read_text(encoding="utf-8") == "3.11\n"


def test_the_supported_pythons_are_the_same_in_every_place() -> None:
    oldest, newest = TESTED_PYTHONS
    versions = [f"3.{minor}" for minor in range(oldest[1], newest[1] + 1)]
    metadata_table = project()["project"]
    assert metadata_table["requires-python"] == f">={versions[0]}"
    named = [line.rpartition(" ")[2] for line in metadata_table["classifiers"] if ":: 3." in line]
    workflow = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text(encoding="utf-8"))
    assert named == workflow["jobs"]["pythons"]["strategy"]["matrix"]["python"] == versions


def test_the_build_constraint_is_the_same_with_and_without_a_checkout() -> None:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    constraints = [line for line in lines if not line.startswith("#")]
    assert constraints == project()["tool"]["uv"]["build-constraint-dependencies"]
