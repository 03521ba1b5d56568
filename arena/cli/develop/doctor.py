"""The command `pokearena doctor`: check that everything the arena needs is installed."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import rich_click as click

from arena.cli import output
from arena.cli.errors import FAILED, OK
from arena.cli.options import data_option, json_option

_STYLES = {"ok": "green", "warn": "yellow", "fail": "bold red"}


@click.command(epilog="Example: pokearena doctor")
@json_option
@data_option
def doctor(as_json: bool, data: Path | None) -> int:
    """Look at everything the arena needs from this machine, and say what to do about it.

    Each line is ok, warn or fail; the exit status is 1 if one fails.
    """
    from arena.cli.develop import machine_checks
    from arena.cli.workspace import Workspace

    findings = machine_checks.examine(Workspace(data))
    failed = any(finding.state == machine_checks.FAIL for finding in findings)
    if as_json:
        checks = [asdict(finding) for finding in findings]
        output.document({"ok": not failed, "checks": checks})
    else:
        for finding in findings:
            output.state(finding.state, _STYLES[finding.state], finding.name, finding.found)
            if finding.fix:
                output.line(f"{'':<6}{'':<10}fix: {finding.fix}")
        output.next_step("pokearena demo" if not failed else "pokearena doctor")
    return FAILED if failed else OK
