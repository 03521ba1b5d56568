"""Test that fail points are off by default, and that every transaction of the store has one."""

import ast
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from arena.system import failpoint

PACKAGE = Path(failpoint.__file__).parent.parent
WRITING = ("writing", "database.writing")
REACH = """
from arena.system import failpoint
for n in range(3):
    failpoint.edge("lease", "begin")
    failpoint.edge("lease", "written")
    print(n, flush=True)
"""


def reach(text: str) -> tuple[int, str]:
    done = subprocess.run(
        [sys.executable, "-c", REACH],
        env={**os.environ, failpoint.VARIABLE: text},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr.rpartition("\n  ")[0]


def test_without_the_variable_nothing_happens() -> None:
    assert reach("") == (0, "0\n1\n2\n")


@pytest.mark.parametrize(
    ("text", "output"), [("lease.written", ""), ("lease.begin:1", ""), ("lease.begin:3", "0\n1\n")]
)
def test_a_process_is_killed_at_the_nth_visit_of_a_fault_point(text: str, output: str) -> None:
    assert reach(text) == (-signal.SIGKILL, output)


def test_with_a_file_only_one_process_dies(tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.touch()
    assert reach(f"lease.written@{token}") == (-signal.SIGKILL, "")
    assert not token.exists()
    assert reach(f"lease.written@{token}") == (0, "0\n1\n2\n")


def test_an_unknown_fault_point_is_refused() -> None:
    status, _ = reach("lease.middle")
    assert status == 1


def test_every_transaction_has_a_name_and_every_name_a_transaction() -> None:
    named: list[object] = []
    for path in sorted(PACKAGE.rglob("*.py")):
        source = path.read_text(encoding="utf-8")
        if "writing(" not in source:
            continue
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.Call) and ast.unparse(node.func) in WRITING:
                assert len(node.args) == 2, f"{path}:{node.lineno} names no transaction"
                assert isinstance(node.args[1], ast.Constant)
                named.append(node.args[1].value)
    # Closing a game is one case of committing a game.
    assert {*named, "closing_game"} == set(failpoint.TRANSACTIONS)
    assert len(named) == len(set(named))
