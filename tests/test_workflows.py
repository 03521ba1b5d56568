"""Check the workflows in .github, and that the shards of the long suite cover all of it."""

import os
import re
import runpy
import subprocess
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

ROOT = Path(__file__).parent.parent
GITHUB = ROOT / ".github"
SHARD = runpy.run_path(str(ROOT / "scripts" / "ci-shard"), run_name="ci_shard")
PINNED = re.compile(r"(?:actions/[\w-]+@[0-9a-f]{40}|\./\.github/.*)")
ECOSYSTEMS = {
    "package.json": "npm",
    "go.mod": "gomod",
    "Cargo.toml": "cargo",
    "pom.xml": "maven",
    "pyproject.toml": "pip",
    "Dockerfile": "docker",
}


def content(path: Path) -> Any:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def tracked(*patterns: str) -> list[str]:
    listed = subprocess.run(
        ["git", "-C", ROOT, "ls-files"], capture_output=True, text=True, check=True
    )
    names = listed.stdout.splitlines()
    return [
        name for name in names if any(fnmatch(Path(name).name, pattern) for pattern in patterns)
    ]


@given(
    st.dictionaries(st.text("ab/", min_size=1), st.floats(min_value=0, max_value=600), max_size=40),
    st.integers(min_value=1, max_value=8),
)
def test_every_file_is_in_one_shard(seconds: dict[str, float], shards: int) -> None:
    packed = SHARD["pack"](seconds, shards)
    assert len(packed) == shards
    assert sorted(path for files in packed for path in files) == sorted(seconds)
    assert packed == SHARD["pack"](dict(reversed(seconds.items())), shards)
    totals = [sum(seconds[path] for path in files) for files in packed]
    assert max(totals) - min(totals) <= max(seconds.values(), default=0) + 1e-6


def test_a_measured_duration_replaces_the_assumed_one() -> None:
    weights = SHARD["weights"]({"a": 2, "b": 2}, {"a": 100.0, "gone": 5.0})
    assert weights == {"a": 100.0, "b": 2 * SHARD["SECONDS"]}


def test_the_jobs_of_ci_run_all_phases_and_shards() -> None:
    jobs = content(GITHUB / "workflows" / "ci.yml")["jobs"]
    phases = [
        phase for job in jobs.values() for phase in job["strategy"]["matrix"].get("phase", ())
    ]
    assert {phase.split()[0] for phase in phases} == {
        "bare",
        "quick",
        "check",
        "hostile",
        "long",
        "compare",
    }
    shards = [phase.split()[1] for phase in phases if phase.startswith("long ")]
    assert shards == [f"{number + 1}/{len(shards)}" for number in range(len(shards))]
    text = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert all(f"\n{phase.split()[0]}() {{\n" in text for phase in phases)


def test_an_unknown_phase_is_refused() -> None:
    text = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    case = text[text.rindex('case "${1:-all}" in') :]
    done = subprocess.run(
        ["bash", "-c", case, "run", "slow"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2


@pytest.mark.long
def test_a_python_that_this_machine_lacks_does_not_end_the_run() -> None:
    # A command substitution that fails ends a script with `set -e` without a word.
    subprocess.run(
        [ROOT / ".ci" / "run", "pythons"],
        env={**os.environ, "POKEARENA_PYTHONS": "3.98 3.99"},
        check=True,
        timeout=300,
    )


def test_every_action_is_pinned_to_a_commit() -> None:
    steps = [
        step
        for path in sorted((GITHUB / "workflows").iterdir())
        for job in content(path)["jobs"].values()
        for step in job["steps"]
    ]
    steps += content(GITHUB / "actions" / "prepare" / "action.yml")["runs"]["steps"]
    used = [step["uses"] for step in steps if "uses" in step]
    assert used
    assert not [name for name in used if not PINNED.fullmatch(name)]


def test_only_publishing_jobs_have_write_permission() -> None:
    for path in (GITHUB / "workflows").iterdir():
        workflow = content(path)
        assert workflow["permissions"] == {"contents": "read"}
        for name, job in workflow["jobs"].items():
            assert "permissions" not in job or name == "publish"


def test_dependabot_watches_every_folder_with_dependencies() -> None:
    updates = content(GITHUB / "dependabot.yml")["updates"]
    watched = {
        (update["package-ecosystem"], folder)
        for update in updates
        for folder in update["directories"]
    }
    present = {
        (ECOSYSTEMS[Path(name).name], f"/{Path(name).parent}".removesuffix("."))
        for name in tracked(*ECOSYSTEMS)
        if not name.startswith("tests/")
    }
    present |= {("github-actions", "/"), ("github-actions", "/.github/actions/prepare")}
    assert watched == present


def test_every_hook_of_pre_commit_is_a_part_of_the_check() -> None:
    (local,) = content(ROOT / ".pre-commit-config.yaml")["repos"]
    check = (ROOT / "scripts" / "check").read_text(encoding="utf-8")
    assert local["repo"] == "local"
    assert all(hook["entry"] in check for hook in local["hooks"])
