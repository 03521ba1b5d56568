"""A scripted agent improves a bot in five rounds, without a person (bench/agent_loop.py)."""

import pytest

from bench import agent_loop

pytestmark = [pytest.mark.long, pytest.mark.repetition, pytest.mark.timeout(1500)]


def test_an_agent_needs_nobody_in_five_rounds(capsys: pytest.CaptureFixture[str]) -> None:
    assert agent_loop.main() == 0, capsys.readouterr().err
