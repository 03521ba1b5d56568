"""Test that fail points are off by default, and that every transaction of the store has one."""

import ast
import os
import signal
import subprocess
import sys
from pathlib import Path

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


def reach(folder: Path | None) -> tuple[int, str]:
    armed = {} if folder is None else {failpoint.VARIABLE: str(folder)}
    done = subprocess.run(
        [sys.executable, "-c", REACH],
        env={**os.environ, **armed},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


def test_without_the_variable_nothing_happens() -> None:
    assert reach(None) == (0, "0\n1\n2\n")


def test_a_fault_point_kills_one_process(tmp_path: Path) -> None:
    (tmp_path / "lease.written").touch()
    assert reach(tmp_path) == (-signal.SIGKILL, "")
    assert list(tmp_path.iterdir()) == []
    assert reach(tmp_path) == (0, "0\n1\n2\n")


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
