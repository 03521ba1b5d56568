"""Test that reading a file leaves no access time that a later bot of the machine can see."""

import json
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from arena.bots.sandbox.level import Level
from tests.hostile.canaries import has_view
from tests.hostile.sandboxed_run import need, run_to_end, untrusted

pytestmark = [pytest.mark.hostile, pytest.mark.timeout(120)]
FILES = 32
WRITTEN = 0b10110011100011110000111110101010
"""The bits that the first bot stores: it reads the files of those that are 1."""
WRITER = """import sys
for number, bit in enumerate(bin(int(sys.argv[2]))[2:].zfill(32)):
    if bit == "1":
        open(f"{sys.argv[1]}/{number}").read()
"""
READER = """import json, os, sys
times = [os.stat(f"{sys.argv[1]}/{number}").st_atime for number in range(32)]
print(json.dumps(times))
"""


@pytest.fixture
def open_folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="times-") as name:
        os.chmod(name, 0o755)
        yield Path(name)


@pytest.mark.parametrize("level", [Level.BUBBLEWRAP, Level.LANDLOCK])
def test_reading_a_file_leaves_no_access_time(
    open_folder: Path, monkeypatch: pytest.MonkeyPatch, level: Level
) -> None:
    need(level)
    if not has_view(level):
        pytest.skip("without mounts of its own a bot changes access times, as documented")
    runtime = open_folder / "runtime"
    runtime.mkdir()
    for number in range(FILES):
        (runtime / str(number)).write_text("x")
        # Older than its last change, so that a read updates the time (relatime, see mount(8)).
        os.utime(runtime / str(number), (1_000_000_000, 1_500_000_000))
    monkeypatch.setenv("POKEARENA_RUNTIMES", str(runtime))
    for name, text in {"writer": WRITER, "reader": READER}.items():
        (open_folder / name).mkdir()
        (open_folder / name / "bot.py").write_text(text)
    words = ("python", "-I", "-S", "bot.py", str(runtime), str(WRITTEN))
    report = run_to_end(untrusted(open_folder / "writer", words), level)
    assert report.ended == "exited with status 0", report.output
    report = run_to_end(untrusted(open_folder / "reader", words), level)
    assert set(json.loads(report.output)) == {1_000_000_000.0}
