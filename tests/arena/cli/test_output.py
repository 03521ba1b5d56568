"""Text on the terminal: the colours of cards, hostile text, tables."""

import time
from datetime import datetime, timedelta

import pytest

from arena.cli import output
from arena.cli.output import clean, painted


def test_only_cards_are_painted() -> None:
    line = "  greedy  AS TH 2C 9D  XS 1H ASK"
    assert painted(line).plain == "  greedy  A♠ T♥ 2♣ 9♦  XS 1H ASK"


def test_control_characters_of_bot_output_are_escaped() -> None:
    assert clean("a\x1b[2J\r\nb\tc\x07") == "a\\x1b[2J b c\\x07"


@pytest.mark.parametrize(("zone", "hours"), [("UTC", 0), ("XXX-5", 5), ("XXX+3", -3)])
def test_a_local_time_has_its_offset(
    zone: str, hours: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    try:
        with monkeypatch.context() as changed:
            changed.setenv("TZ", zone)
            time.tzset()
            shown = datetime.fromisoformat(output.local_time(86_400.0))
    finally:
        time.tzset()
    assert shown.utcoffset() == timedelta(hours=hours)
    assert shown.timestamp() == 86_400.0


def test_columns_are_aligned_with_numbers_on_the_right() -> None:
    rows = [("a", 1, "x"), ("bcd", 20, None)]
    assert output.aligned(("bot", "games", "<faults"), rows) == [
        "bot  games  faults",
        "a        1  x",
        "bcd     20",
    ]
