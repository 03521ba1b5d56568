"""The command `pokearena doctor`: check that everything the arena needs is installed."""

from __future__ import annotations

from dataclasses import asdict

import rich_click as click

from arena.cli import output
from arena.cli.errors import FAILED, OK
from arena.cli.options import data_option, json_option
from arena.cli.workspace import Workspace

_STYLES = {"ok": "green", "warn": "yellow", "fail": "bold red"}


@click.command(epilog="Example: pokearena doctor")
@json_option
@data_option
def doctor(as_json: bool, workspace: Workspace) -> int:
    """Check that this machine has everything the arena needs, and print how to fix the rest.

    Each check is ok, warn or fail. The exit status is 1 if a check fails.
    """
    from arena.cli.develop import machine_checks

    findings = machine_checks.examine(workspace)
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
