"""Test that the pages about containment list what the code grants and the corpus contains."""

import re

from arena.bots.exit_report import Limits
from arena.bots.sandbox import landlock, machine_files, system_files
from arena.bots.sandbox.level import Level
from arena.remote.relay import work_budgets as relay
from arena.remote.relay.session_registry import GUESS_BURST, GUESS_RATE
from arena.remote.relay.unauthenticated_streams import (
    MAX_UNAUTHENTICATED_STREAMS,
    MOST_PER_ADDRESS,
)
from referee.rpc import work_budget as referee
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


def test_the_page_lists_the_limits_of_a_bot() -> None:
    limits, mebibytes = Limits(), 1 << 20
    memory, data = (f"{size >> 30} GiB" for size in (limits.memory, limits.data))
    scratch, file, output = (
        f"{size // mebibytes} MiB" for size in (limits.scratch, limits.fsize, limits.output)
    )
    for row in (
        f"| memory of all its processes together, including files in memory | {memory},",
        f"| data of one process | {data} |",
        f"| processes and threads | {limits.processes} |",
        f"| scratch space and folder of the socket | {scratch}, {limits.files} files,",
        f"| one file | {file} |",
        f"| output | {output} |",
        f"| open files | {limits.nofile} |",
    ):
        assert row in CONTAINMENT, row


def test_the_page_lists_the_budget_of_a_bot_in_the_referee() -> None:
    for text in (
        f"| a connection | {referee.CONNECTION:g} |",
        f"| bytes that arrive together | {referee.READ:g} |",
        f"| an HTTP/2 frame | {referee.FRAME:g}, and {referee.FRAME_BYTE:g} per byte |",
        f"| a setting in a SETTINGS frame | {referee.SETTING:g} |",
        f"| a byte of compressed headers | {referee.HEADER_BYTE:g} |",
        f"| a message | {referee.MESSAGE:g}, and {referee.MESSAGE_BYTE:g} per byte |",
        f"| a byte unpacked from a compressed message | {referee.UNPACKED_BYTE:g} |",
        f"A bot starts with {referee.START:,.0f} units and gets {referee.PER_QUESTION:,.0f} "
        f"with each question, up to {referee.LARGEST:,.0f}.",
        f"If it exceeds both {referee.BACKSTOP_SECONDS:g} s and ten times the cost",
    ):
        assert text in CONTAINMENT, text
    assert referee.BACKSTOP == 10


def test_the_page_lists_the_budgets_and_limits_of_the_relay() -> None:
    most, address = MAX_UNAUTHENTICATED_STREAMS, MOST_PER_ADDRESS
    for text in (
        f"| {address} per address, {most} in total | the oldest stream ends |",
        f"| {GUESS_BURST} per address, then one every {1 / GUESS_RATE:g} s; known tokens",
        f"in the same units as above. It starts at {relay.START:,.0f}.",
        f"| a message of questions to a bot | + {relay.PER_QUESTION_MESSAGE:,.0f}, "
        f"and {relay.PER_QUESTION_BYTE:g} per byte, up to {relay.MAX_UNITS:,.0f} |",
        f"| time | + {relay.PER_SECOND:,.0f} per second, up to {relay.START:,.0f} |",
        f"| a new connection | - {relay.CONNECTION:,.0f} |",
        f"| a message from a bot | - {relay.MESSAGE:g}, and {relay.MESSAGE_BYTE:g} per byte |",
    ):
        assert text in CONTAINMENT, text


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
