"""Send thousands of malformed messages; `python -m tests.fuzz` sends millions."""

import pytest

from tests.fuzz import decoder, json_lines, table


def test_every_message_ends_in_a_verdict_at_the_decoder() -> None:
    verdicts = decoder.fuzz(3000, "quick")
    assert verdicts.total() >= 3000
    assert (
        min(verdicts[verdict] for verdict in ("no message", "protocol", "illegal", "played")) > 50
    )


def test_every_line_is_an_answer_malformed_or_for_the_log() -> None:
    verdicts = json_lines.fuzz(3000, "quick")
    assert min(verdicts[what] for what in ("answers", "malformed", "for the log")) > 50


@pytest.mark.long
def test_thousands_of_messages_end_in_verdicts() -> None:
    assert decoder.fuzz(10_000, "long").total() >= 10_000
    verdicts = table.fuzz(1_000, "long")
    assert verdicts["messages"] >= 1_000
    assert min(verdicts[verdict] for verdict in ("protocol", "illegal", "timeout", "finished")) > 1
