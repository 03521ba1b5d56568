"""Every correction requires a reason that is not empty."""

import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

import arena.cli
from arena.cli.errors import USAGE
from arena.cli.root import LazyCommand, pokearena
from arena.store.access import audit_log
from tests.arena.cli.terminal import Cli

COMMANDS = {
    ("tournament", "void"): "match.void",
    ("tournament", "replay"): "match.replay",
    ("tournament", "forfeit"): "match.forfeit",
    ("tournament", "disqualify"): "version.disqualify",
    ("tournament", "cancel"): "tournament.cancel",
    ("tournament", "withdraw"): "tournament.withdraw",
    ("bot", "ban"): "version.ban",
    ("bot", "release"): "version.release",
    ("bot", "approve"): "submission.approve",
    ("bot", "refuse"): "submission.refuse",
    ("owner", "assign"): "bot.owner",
    ("owner", "renew"): "owner.renew",
    ("owner", "remove"): "owner.revoke",
    ("owner", "reasoning"): "owner.reasoning",
    ("organiser", "renew"): "organiser.renew",
    ("organiser", "revoke"): "organiser.revoke",
}
ROUTINE = {
    *("tournament.start", "tournament.pause", "tournament.add"),
    *("owner.add", "owner.agent", "organiser.add"),
    *("model.grant", "model.revoke", "models.stop"),
}
"""Audited actions of commands that create something or control the schedule."""


def commands(group: click.Group, words: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Yield the words of all commands that have an option --reason."""
    for name, lazy in group.commands.items():
        command = lazy.load() if isinstance(lazy, LazyCommand) else lazy
        if isinstance(command, click.Group):
            yield from commands(command, (*words, name))
        elif any(parameter.name == "reason" for parameter in command.params):
            yield (*words, name)


def test_every_audited_correction_of_the_command_line_has_a_reason() -> None:
    folder = Path(arena.cli.__file__).parent
    text = "".join(path.read_text() for path in folder.rglob("*.py"))
    audited = set(re.findall(r'\.audited\("([\w.]+)"', text))
    assert audited - audit_log.NEED_REASON == ROUTINE
    assert set(COMMANDS.values()) == audit_log.NEED_REASON
    assert set(commands(pokearena)) == set(COMMANDS)


@pytest.mark.parametrize("words", COMMANDS)
def test_an_empty_reason_is_a_usage_error(cli: Cli, words: tuple[str, ...]) -> None:
    more = {"assign": ["ada"], "reasoning": ["deleted"]}
    subjects = ["x@1", *more.get(words[1], [])]
    if words == ("tournament", "disqualify") or words == ("tournament", "withdraw"):
        subjects = ["t-7f3k9q", "x@1"]
    for reason in ("", " \t", "\u00a0\u200b"):
        result = cli(*words, *subjects, "--reason", reason)
        assert (result.status, result.code) == (USAGE, "BadParameter")
    assert cli(*words, *subjects).code == "MissingParameter"
