"""Answers of programs that Windows writes in another encoding name the encoding."""

import codecs

import pytest

from arena.bots.stdio import program_lines

ANSWER = '{"choice": 3}'


@pytest.mark.parametrize(
    "line",
    [
        codecs.BOM_UTF8 + ANSWER.encode(),
        codecs.BOM_UTF16_LE + ANSWER.encode("utf-16-le"),
        codecs.BOM_UTF16_BE + ANSWER.encode("utf-16-be"),
        # The rest of the line end of UTF-16 LE begins the next line.
        b"\0" + "3".encode("utf-16-le"),
    ],
)
def test_an_answer_in_another_encoding_is_named(line: bytes) -> None:
    assert program_lines.is_answer(line)
    with pytest.raises(program_lines.Malformed, match="UTF-8"):
        program_lines.read(line)


def test_text_in_another_encoding_stays_in_the_log() -> None:
    assert not program_lines.is_answer(codecs.BOM_UTF8 + b"loading")
    assert not program_lines.is_answer("loading".encode("utf-16"))
    assert program_lines.read(ANSWER.encode()).fields == {"choice": 3}
