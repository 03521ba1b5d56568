"""Text of bots cannot change how a terminal displays other text."""

import json
import unicodedata

import pytest

from referee.record import dump
from referee.sanitizing import escaped_json, name_fault, one_line, quote, sanitized

DIRECTION = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
INVISIBLE = "\u00ad\u034f\u115f\u1160\u17b4\u180e\u200b\u200c\u2060\u2064\u3164\ufeff\U000e0041"
CONTROLS = "\x00\x07\x08\x1b\x7f\x80\x9b\u2028\u2029"


@pytest.mark.parametrize("character", [*DIRECTION, *INVISIBLE, *CONTROLS], ids=ascii)
def test_control_and_format_characters_are_escaped(character: str) -> None:
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
def test_text_of_any_language_is_not_changed(text: str) -> None:
    assert sanitized(text) == text


def test_output_has_no_control_or_format_characters() -> None:
    every = "".join(map(chr, range(0x110000)))
    kept = {character for character in sanitized(every) if not character.isprintable()}
    assert all(unicodedata.category(c) not in ("Cc", "Cf", "Cs") for c in kept - {*"\n\t\u200d"})


@pytest.mark.parametrize("character", [*DIRECTION, *INVISIBLE, *CONTROLS, "\n", "\t"], ids=ascii)
def test_one_line_and_json_escape_hidden_characters(character: str) -> None:
    line = one_line(f"a{character}b")
    assert line.isascii()
    assert line.isprintable()
    values = {"name": f"a{character}b", f"{character}": [1]}
    for how in ({"indent": 1}, {"separators": (",", ":")}):
        text = escaped_json(json.dumps(values, ensure_ascii=False, **how))
        assert json.loads(text) == values
        assert text.isascii()
        assert text.replace("\n", "").isprintable()


def test_the_exact_characters_that_take_the_place_of_others() -> None:
    assert one_line("a\nb\tc\x1b[31m") == r"a\nb\tc\x1b[31m"
    assert sanitized("\u202eevil\u200b\x9b") == r"\u202eevil\u200b\x9b"
    assert escaped_json('"\u202e\x9b\x7f\U000e0041"') == r'"\u202e\u009b\u007f\udb40\udc41"'
    assert escaped_json('"Zo\u00eb \u65e5\u672c"') == '"Zo\u00eb \u65e5\u672c"'
    assert escaped_json('"\udcff"') == r'"\udcff"'


@pytest.mark.parametrize("character", [*DIRECTION, *INVISIBLE, *CONTROLS, "\n", "\t"], ids=ascii)
def test_a_name_with_a_hidden_character_is_refused(character: str) -> None:
    fault = name_fault(f"a{character}da")
    assert fault == f"has the control or invisible character U+{ord(character):04X}"


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("", "is empty, or has spaces at its ends"),
        (" ada", "is empty, or has spaces at its ends"),
        ("a" * 101, "has more than 100 characters"),
        ("ad\u200da", "has the control or invisible character U+200D"),
        ("ada\ufe0f", "has the control or invisible character U+FE0F"),
        ("a\u00a0b", "has the control or invisible character U+00A0"),
        ("Zoe\u0308", "is not in Unicode normal form C"),
        ("Zo\u00eb", ""),
        ("\u65e5\u672c cup 2026", ""),
        ("\u05e2\u05d1\u05e8\u05d9\u05ea", ""),
    ],
)
def test_confusable_names_are_refused(name: str, fault: str) -> None:
    assert name_fault(name) == fault


def test_a_record_line_escapes_the_answer_of_a_bot() -> None:
    line = {"type": "fault", "answer": {"poke": {"lead": {"cards": ["\u202e\x1b9S\u200b"]}}}}
    assert dump(line) == (
        r'{"type":"fault","answer":{"poke":{"lead":{"cards":["\u202e\u001b9S\u200b"]}}}}' "\n"
    )
    assert json.loads(dump(line)) == line
