"""Test that a child process with a parent-death signal dies with the process that started it."""

import ast
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from arena.system import parent_death_signal
from tests.guarded_process import GuardedProcess
from tests.waiting import has_exited, wait_until

ROOT = Path(__file__).parents[3]
OWNER = """
import subprocess, sys, time
from arena.system import parent_death_signal
command = [sys.executable, "-c", "import time; time.sleep(60)"]
child = subprocess.Popen({start})
print(child.pid, flush=True)
time.sleep(60)
"""
EXECUTED = OWNER.format(start="parent_death_signal.killed_with_parent(command)")
WATCHED = OWNER.format(
    start="""[sys.executable, "-c",
    "import os, sys; from arena.system.parent_death_signal import watch; "
    "watch(int(sys.argv[1]), sys.argv[2:])",
    str(__import__("os").getpid()), *command]"""
)


def children(pid: int) -> list[int]:
    return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


@pytest.mark.parametrize("owner", [EXECUTED, WATCHED], ids=["held by the kernel", "watched"])
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_child_is_killed_with_its_parent(owner: str) -> None:
    with GuardedProcess([sys.executable, "-c", owner], stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        program = int(parent.stdout.readline())
        wait_until(lambda: owner is EXECUTED or children(program))
        kept = [program, *children(program)]
        parent.send_signal(signal.SIGKILL)
    wait_until(lambda: all(map(has_exited, kept)))


def test_a_command_of_an_exited_parent_does_not_start(tmp_path: Path) -> None:
    proof = tmp_path / "ran"
    code = f"open({str(proof)!r}, 'w')"
    gone = os.getpid() + 1_000_000
    command = [sys.executable, parent_death_signal.__file__, str(gone), sys.executable, "-c", code]
    ended = subprocess.run(command, check=False)
    assert ended.returncode == 1
    assert not proof.exists()


def test_a_program_that_cannot_be_executed_is_named(tmp_path: Path) -> None:
    missing = str(tmp_path / "missing")
    ended = subprocess.run(
        parent_death_signal.killed_with_parent([missing]), capture_output=True, text=True
    )
    assert ended.returncode == 127
    assert ended.stderr == f"{missing} could not be started: No such file or directory\n"


# Processes that need no parent-death signal, each with the reason.
WITHOUT = {
    "arena/bots/processes.py:__init__": "the launcher ends with its pipe and checks its owner",
    "arena/bots/sandbox/available_levels.py:_mounts": "ends at once",
    "arena/bots/sandbox/init_process.py:spawn": "sets the signal by the wrappers of the sandbox",
    "arena/bots/sandbox/kernel_refusals.py:namespaces_are_refused": "ends at once",
    "arena/bots/sandbox/launcher.py:start": "ends with the pipe of the launcher",
    "arena/bots/sandbox/user_ids.py:kill_processes": "ends at once",
    "arena/bots/stdio/__main__.py:_is_grandchild": "is a process of a bot, in its sandbox",
    "arena/system/parent_death_signal.py:watch": "kills its child itself",
    "arena/system/process_info.py:kill_group": "taskkill ends at once",
    "referee/game_checks/rule_checks.py:other_processes": "plays one table and ends",
}
EXECUTED_STARTS = {"Popen", "create_subprocess_exec", "create_subprocess_shell"}
EXECUTED_STARTS |= {"posix_spawn", "posix_spawnp", "popen", "check_call", "check_output"}
FORKED_STARTS = {"fork", "forkpty", "ProcessPoolExecutor", "Process", "Pool"}


def words_of(tree: ast.AST) -> set[str]:
    """Return all names and attributes in a piece of code."""
    names = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    return names | {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}


def calls_in(function: ast.AST) -> set[str]:
    """Return the functions that a function calls; those of `subprocess` with the module's name."""
    called = set()
    for node in ast.walk(function):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            is_of_module = getattr(node.func.value, "id", "") == "subprocess"
            called |= (
                {node.func.attr, f"subprocess.{node.func.attr}"}
                if is_of_module
                else {node.func.attr}
            )
        elif isinstance(node, ast.Call):
            called.add(getattr(node.func, "id", ""))
    return called


def lacks_signal(function: ast.AST, module: ast.AST) -> bool:
    """Return whether a function starts a process without the help of `parent_death_signal`."""
    called = calls_in(function)
    if called & {*EXECUTED_STARTS, "subprocess.run", "subprocess.call"}:
        return "killed_with_parent" not in words_of(function)
    # A forked process sets the signal itself, in another function of the module.
    helpers = {"die_with_parent", "follow_parent"}
    return bool(called & FORKED_STARTS) and not helpers & words_of(module)


def test_every_process_of_the_arena_has_the_signal_or_a_reason() -> None:
    without = set()
    for path in [*ROOT.glob("arena/**/*.py"), *ROOT.glob("referee/**/*.py")]:
        text = path.read_text(encoding="utf-8")
        if not any(
            f"{word}(" in text for word in (*EXECUTED_STARTS, *FORKED_STARTS, "subprocess.run")
        ):
            continue
        module = ast.parse(text)
        for function in ast.walk(module):
            if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
                continue
            if lacks_signal(function, module):
                without.add(f"{path.relative_to(ROOT).as_posix()}:{function.name}")
    assert without == WITHOUT.keys()


def test_a_watched_child_gets_the_signals_of_its_wrapper() -> None:
    code = (
        "import os, sys; from arena.system import parent_death_signal;"
        "sys.exit(parent_death_signal.watch(os.getppid(), sys.argv[1:]) == -15)"
    )
    sleeper = "import time; print('ready', flush=True); time.sleep(60)"
    command = [sys.executable, "-c", code, sys.executable, "-c", sleeper]
    with GuardedProcess(command, stdout=subprocess.PIPE) as watcher:
        assert watcher.stdout is not None
        watcher.stdout.readline()
        watcher.send_signal(signal.SIGTERM)
    assert watcher.returncode == 1
