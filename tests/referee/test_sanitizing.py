"""Text from bots cannot change what a terminal shows of other text."""

import unicodedata

import pytest

from referee.sanitizing import quote, sanitized

DIRECTION = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
INVISIBLE = "\u00ad\u034f\u115f\u1160\u17b4\u180e\u200b\u200c\u2060\u2064\u3164\ufeff\U000e0041"
CONTROLS = "\x00\x07\x08\x1b\x7f\x80\x9b\u2028\u2029"


@pytest.mark.parametrize("character", [*DIRECTION, *INVISIBLE, *CONTROLS], ids=ascii)
def test_a_character_that_plays_tricks_is_spelled_out(character: str) -> None:
    text = sanitized(f"a{character}b")
    assert character not in text
    assert text.isascii()
    assert character not in quote(f"a{character}b")


@pytest.mark.parametrize(
    "text",
    [
        "plain",
        "two\nlines\tand a tab",
        "Zoë ß 日本語 العربية עברית",
        "e\u0301",
        "👩\u200d🚀 ❤\ufe0f",
    ],
)
def test_text_of_any_language_stays_as_it_is(text: str) -> None:
    assert sanitized(text) == text


def test_no_control_or_format_character_gets_through() -> None:
    every = "".join(map(chr, range(0x110000)))
    kept = {character for character in sanitized(every) if not character.isprintable()}
    assert all(unicodedata.category(c) not in ("Cc", "Cf", "Cs") for c in kept - {*"\n\t\u200d"})
