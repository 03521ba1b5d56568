"""Test that the pages about containment list what the code grants and the corpus contains."""

import re

from arena.bots.sandbox import landlock, machine_files, system_files
from arena.bots.sandbox.level import Level
from tests.arena.bots.transcript import PAGE as PROTOCOL
from tests.hostile.corpus import CONTAINED, FAULTS, LOCKED_IN

PAGE = (PROTOCOL.parent / "hostile_programs.md").read_text(encoding="utf-8")
CONTAINMENT = (PROTOCOL.parent.parent / "explanation" / "containment.md").read_text("utf-8")


def _paths(row: str) -> set[str]:
    """Return the paths in a row of the table "What a bot may read", or in a paragraph below it."""
    (line,) = [line for line in CONTAINMENT.splitlines() if line.startswith(row)]
    return {path for path in re.findall(r"`([^`]+)`", line) if "*" not in path}


def test_the_page_lists_what_every_bot_may_read() -> None:
    assert _paths("| programs and libraries of the system |") == {"/usr", *system_files.SYSTEM}
    assert _paths("| settings of the system |") == {*system_files.SETTINGS}
    assert _paths("| settings for builds |") == {*system_files.BUILDS}
    assert _paths("| settings for builds with network |") == {*system_files.NETWORK}
    assert _paths("| devices |") == {*landlock.DEVICES}
    copies = _paths("| files of `/proc`, as copies") - {"/proc"}
    settings = _paths("| settings in `/proc/sys`, as copies |") - {"/proc/sys"}
    assert settings == {*machine_files.SETTINGS}
    assert copies | {f"sys/{name}" for name in settings} == {*machine_files.copied_files()}


def test_the_page_lists_the_live_files_of_the_kernel() -> None:
    live = {path for path in _paths("At the level `landlock`, an arena") if "/" in path}
    named = {path for path in machine_files.LIVE if not path.startswith(("/proc/sys/", "/sys/"))}
    folders = {"/proc/sys", "/sys/devices/system/cpu", "/sys/kernel/mm/transparent_hugepage"}
    assert live == named | folders


def test_every_program_of_the_corpus_is_listed_with_its_verdict() -> None:
    row = r"^\| `(\w+)` \| [^|]+ \| `(\w+)`([^|]*) \| (all|sandboxed) \|$"
    rows = re.findall(row, PAGE, re.MULTILINE)
    documented = {name: (verdict, other, levels) for name, verdict, other, levels in rows}
    expected = {
        program.name: (
            program.verdict,
            "".join(f", then `{verdict}`" for verdict, _ in program.then)
            + "".join(
                f", `{verdict}` with Landlock alone"
                for level, (verdict, _) in program.otherwise.items()
                if level is Level.LANDLOCK
            ),
            "sandboxed" if program.levels == LOCKED_IN else "all",
        )
        for program in (*FAULTS, *CONTAINED)
    }
    assert documented == expected
