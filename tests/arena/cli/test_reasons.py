"""Every correction requires a reason that is not empty."""

import pytest

from arena.cli.errors import USAGE
from tests.arena.cli.terminal import Cli


@pytest.mark.parametrize(
    "words",
    [
        ("tournament", "void", "m-7f3k9q2xwd"),
        ("tournament", "replay", "m-7f3k9q2xwd"),
        ("tournament", "disqualify", "t-7f3k9q", "bot@1"),
        ("bot", "ban", "bot@1"),
        ("bot", "refuse", "s-7f3k9q2xwd"),
        ("owner", "assign", "bot", "ada"),
    ],
)
@pytest.mark.parametrize("reason", ["", " \t"])
def test_an_empty_reason_is_a_usage_error(cli: Cli, words: tuple[str, ...], reason: str) -> None:
    result = cli(*words, "--reason", reason)
    assert result.status == USAGE
    assert result.code == "BadParameter"
