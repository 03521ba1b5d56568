"""Lint the protocol, and detect breaking changes."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
RELEASE = ROOT / "tests" / "golden" / "earlier" / "0.2.0" / "protocol.binpb"
BUF = Path(sys.executable).with_name("buf")


def buf(*words: str | Path) -> "subprocess.CompletedProcess[str]":
    return subprocess.run([BUF, *words], capture_output=True, text=True, check=False)


@pytest.fixture
def changed(tmp_path: Path) -> Path:
    shutil.copytree(ROOT / "proto", tmp_path / "proto", ignore=shutil.ignore_patterns("gen"))
    return tmp_path / "proto"


def edit(protocol: Path, old: str, new: str) -> None:
    file = protocol / "pokearena" / "v1" / "bot.proto"
    text = file.read_text(encoding="utf-8")
    assert old in text
    file.write_text(text.replace(old, new), encoding="utf-8")


def test_the_protocol_is_clean() -> None:
    done = buf("lint", ROOT / "proto")
    assert done.returncode == 0, done.stdout


def test_a_nonstandard_name_is_found(changed: Path) -> None:
    edit(changed, "string match = 1;", "string Match = 1;")
    assert "lower_snake_case" in buf("lint", changed).stdout


def test_a_changed_field_number_is_a_breaking_change(changed: Path) -> None:
    assert buf("breaking", changed, "--against", RELEASE).returncode == 0
    edit(changed, "uint64 luck = 9;", "uint64 luck = 99;")
    done = buf("breaking", changed, "--against", RELEASE)
    assert done.returncode != 0
    assert "luck" in done.stdout


def test_every_field_and_method_is_explained() -> None:
    unexplained = []
    for file in sorted((ROOT / "proto" / "pokearena" / "v1").glob("*.proto")):
        before = ""
        for row in file.read_text(encoding="utf-8").splitlines():
            line = row.strip()
            starts = line.startswith(("rpc ", "message ", "oneof ", "service "))
            field = line.endswith(";") and "=" in line and not line.startswith("syntax")
            if (starts or field) and not before.startswith("//"):
                unexplained.append(f"{file.name}: {line}")
            before = line
    assert not unexplained
