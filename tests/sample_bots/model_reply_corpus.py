"""Kinds of replies of language models, each with the action that it names or its problem."""

import json
from collections.abc import Iterator
from dataclasses import dataclass

from model_replies import EMPTY, ILLEGAL, REFUSED, TRUNCATED, UNPARSABLE, Reply

ACTIONS = [
    "stand",
    "draw 2C",
    "draw 7D 9H",
    "lead AS AH",
    "go out",
    "pass and draw",
    "9-11 at (-1, 2) down",
    "bid 3",
    "discard 8C, keep 6D 6H",
    "name 7",
    "river TD",
    "show AS AH",
]
"""Listed actions with numbers of one and of two digits."""

PROSE = {
    "english": "I think that discarding the two is best, because 4 beats 3.",
    "numbers": "Option 0 or 7? Not 11. 1. stand 2. draw",
    "german": "Ich würde Aktion 4 wählen, weil „Straße“ 5 € wert ist.",
    "russian": "Я выбираю действие номер 7.",
    "chinese": "我选择动作 3，因为它最好。",
    "arabic": "اخترت الإجراء رقم ٣",
    "japanese": "アクション「５」を選びます。",
    "emoji": "🃏 let's go 🚀 1️⃣",
    "markdown": "**Answer:** `4`\n\n| a | b |\n|---|---|\n| 1 | 2 |",
    "quotes": "She said \"play 4\" and 'play 5'.",
    "parentheses": "(action 4) [action 5] <action 6>",
    "null bytes": "\0\0 draw \0",
    "control characters": "\x01\x1b[31m red \x7f",
    "byte order mark": "\ufeff",
    "spaces": "   \n\t  ",
    "formula": r"\boxed{4} and \frac{1}{2}",
    "set": "the cards {2C, 7D}",
    "action words": "stand",
    "equation": "action = 4",
    "yaml": "action: 4\nnote: why",
    "xml": "<action>4</action>",
    "thoughts": "<think>maybe 4</think>",
    "thoughts in capitals": "<THINKING>maybe 4</THINKING>",
    "thoughts with an object": '<think>{"action": 9}</think>',
    "long": "word " * 5000,
    "apology": "I'm sorry, but I can't play card games.",
    "url": "https://example.org/?action=4",
    "replacement characters": "\ufffd\ufffd",
    "surrogate": "\ud83c",
}
"""Texts around an object. Alone, none names an action."""

FENCES = (
    "```json\n{}\n```",
    "```\n{}\n```",
    "~~~\n{}\n~~~",
    "`{}`",
    "<answer>{}</answer>",
    "**{}**",
)

OBJECTS: dict[str, tuple[str, str]] = {
    "number": ('{"action": 4}', "4"),
    "number of two digits": ('{"action": 11}', "11"),
    "zero": ('{"action": 0}', "0"),
    "number as text": ('{"action": "7"}', "7"),
    "number with spaces": ('{"action": " 7 "}', "7"),
    "leading zero": ('{"action": "07"}', "07"),
    "words": ('{"action": "go out"}', "4"),
    "words in capitals": ('{"action": "GO OUT"}', "4"),
    "words in mixed case": ('{"action": "Draw 2c"}', "1"),
    "words with more spaces": ('{"action": " draw   7D  9H "}', "2"),
    "number and words": ('{"action": "3: lead AS AH"}', "3"),
    "number and words in capitals": ('{"action": "3: LEAD AS AH"}', "3"),
    "with a note": ('{"action": 5, "note": "why"}', "5"),
    "note first": ('{"note": "not 3", "action": 5}', "5"),
    "capital name": ('{"Action": 5}', "5"),
    "name in capitals": ('{"ACTION": 5}', "5"),
    "name with spaces": ('{" action ": 5}', "5"),
    "further members": ('{"thoughts": ["a", {"b": 1}], "action": 5, "sure": true}', "5"),
    "nested action": ('{"plan": {"action": 3}, "action": 5}', "5"),
    "note with braces": ('{"note": "{\\"action\\": 3}", "action": 5}', "5"),
    "note with a number": ('{"action": 5, "note": 3}', "5"),
    "on several lines": ('{\n  "action": 5,\n  "note": "a"\n}', "5"),
    "line break in a text": ('{"action": 5, "note": "a\nb"}', "5"),
    "escaped letters": ('{"\\u0061ction": 5}', "5"),
    "escaped words": ('{"action": "go\\u0020out"}', "4"),
    "null byte in a note": ('{"action": 5, "note": "\\u0000"}', "5"),
    "punctuation in words": ('{"action": "9-11 at (-1, 2) down"}', "6"),
}
"""Objects that name a listed action, with its number."""

ILLEGAL_VALUES = {
    "number too large": "12",
    "much too large": "999999",
    "huge": "1" + "0" * 4000,
    "negative": "-1",
    "negative text": '"-1"',
    "too large as text": '"12"',
    "huge as text": '"9999999"',
    "fullwidth digit": '"５"',
    "arabic digit": '"٣"',
    "roman number": '"IV"',
    "number word": '"four"',
    "decimal as text": '"4.0"',
    "unlisted words": '"draw 3C"',
    "part of an action": '"draw"',
    "two actions": '"stand or go out"',
    "two numbers": '"4, 5"',
    "number and other words": '"3: stand"',
    "large number and words": '"12: stand"',
    "number in a sentence": '"action 4"',
    "hash": '"#4"',
    "quoted twice": "\"'4'\"",
    "homoglyph": '"stаnd"',
    "null byte": '"4\\u0000"',
    "zero width space": '"stand\\u200b"',
    "placeholder": '"NUMBER"',
    "long": '"' + "x" * 5000 + '"',
    "code": '"legal[0]"',
    "html": '"<b>4</b>"',
}
"""Values of an action that is not in the list."""

UNPARSABLE_VALUES = {
    "null": "null",
    "true": "true",
    "false": "false",
    "decimal": "4.0",
    "exponent": "4e0",
    "not a number": "NaN",
    "infinity": "Infinity",
    "empty text": '""',
    "spaces": '"  "',
    "list": "[4]",
    "list of two": "[4, 5]",
    "empty list": "[]",
    "object": '{"number": 4}',
    "empty object": "{}",
}
"""Values that are no action at all."""

BROKEN = {
    "single quotes": "{'action': 4}",
    "nested in single quotes": "{'plan': {\"action\": 4}, 'action': 5}",
    "no quotes": "{action: 4}",
    "trailing comma": '{"action": 4,}',
    "missing colon": '{"action" 4}',
    "missing comma": '{"action": 4 "note": "a"}',
    "word as value": '{"action": stand}',
    "leading zero": '{"action": 04}',
    "plus": '{"action": +4}',
    "hexadecimal": '{"action": 0x4}',
    "comment": '{"action": 4 // best\n}',
    "block comment": '{"action": /* best */ 4}',
    "semicolon": '{"action": 4;}',
    "equals sign": '{"action" = 4}',
    "curly quotes": "{“action”: 4}",
    "ellipsis": '{"action": 4, ...}',
    "escaped object": '"{\\"action\\": 4}"',
    "python": '{"action": None}',
    "double braces": '{{"action": 4}}',
    "complete within broken": '{"plan": {"action": 4}, action: 5}',
    "broken after complete": '{"action": 4} no: {"action": 5,}',
    "broken before complete": '{"action": 4,} sorry: {"action": 5}',
    "list of objects": '[{"action": 4}, {"action": 5}]',
    "list with one object": '[{"action": 4}]',
    "nested answer": '{"answer": {"action": 4}}',
    "other name": '{"move": 4}',
    "other name in another language": '{"aktion": 4}',
    "plural": '{"actions": [4]}',
    "empty object": "{}",
    "repeated name": '{"action": 4, "action": 5}',
    "repeated name in capitals": '{"action": 4, "ACTION": 5}',
    "repeated equal value": '{"action": 4, "action": 4}',
    "last object without an action": '{"action": 4} {"note": "done"}',
    "deeply nested": '{"a":' * 3000 + "1" + "}" * 3000,
    "huge": "x" * 70_000 + '{"action": 4}',
    "huge number": '{"action": ' + "9" * 5000 + ".5}",
    "tool call as text": '<tool_call>{"name": "play", "arguments": {"action": 4}}</tool_call>',
    "function": 'play({"move": 4})',
}
"""Replies with an object that cannot be read, or that names no action."""

CUT = '{"thoughts": "a {b}", "plan": {"action": 3}, "action": 11, "note": "é"}'
"""An object to cut after each byte."""


@dataclass(frozen=True, slots=True)
class Case:
    name: str
    reply: Reply
    kind: str
    """A kind of problem; empty for an action."""
    answer: str = ""
    """The number of the action."""


def cases() -> dict[str, list[Case]]:
    return {
        "objects": list(_objects()),
        "prose alone": list(_prose_alone()),
        "prose around": list(_prose_around()),
        "two objects": list(_two_objects()),
        "illegal": list(_values(ILLEGAL_VALUES, ILLEGAL)),
        "values": list(_values(UNPARSABLE_VALUES, UNPARSABLE)),
        "broken": [Case(name, Reply(text), UNPARSABLE) for name, text in BROKEN.items()],
        "cut": list(_cut()),
        "ends": list(_ends()),
    }


def _objects() -> Iterator[Case]:
    for name, (text, answer) in OBJECTS.items():
        yield Case(name, Reply(text, "stop"), "", answer)
        for fence in FENCES:
            yield Case(f"{name} in {fence}", Reply(fence.replace("{}", text)), "", answer)


def _prose_alone() -> Iterator[Case]:
    for name, prose in PROSE.items():
        kind = EMPTY if not prose.strip(" \t\r\n\0\ufeff") else UNPARSABLE
        yield Case(name, Reply(prose), kind)


def _prose_around() -> Iterator[Case]:
    for name, prose in PROSE.items():
        yield Case(f"{name} before", Reply(f'{prose}\n{{"action": 4}}'), "", "4")
        if "think" not in prose.lower():
            yield Case(f"{name} after", Reply(f'{{"action": 4}}\n{prose}'), "", "4")


def _two_objects() -> Iterator[Case]:
    for name, (text, answer) in OBJECTS.items():
        yield Case(f"other, then {name}", Reply(f'{{"action": 9}} or {text}'), "", answer)
        yield Case(f"{name}, then other", Reply(f'{text}{{"action": 9}}'), "", "9")


def _values(values: dict[str, str], kind: str) -> Iterator[Case]:
    for name, value in values.items():
        yield Case(name, Reply(f'{{"action": {value}}}'), kind)
        yield Case(f"{name} after another", Reply(f'{{"action": 4}} {{"action": {value}}}'), kind)


def _cut() -> Iterator[Case]:
    data = CUT.encode()
    for length in range(1, len(data)):
        text = data[:length].decode("utf-8", "replace")
        yield Case(f"{length} bytes", Reply(text), TRUNCATED)
        yield Case(f"{length} bytes after an object", Reply('{"action": 4} ' + text), TRUNCATED)


def _ends() -> Iterator[Case]:
    yield Case("refusal", Reply(refusal="I can't help with that."), REFUSED)
    yield Case("refusal with text", Reply('{"action": 4}', refusal="no"), REFUSED)
    yield Case("content filter", Reply('{"act', "content_filter"), REFUSED)
    yield Case("filter without text", Reply("", "content_filter"), REFUSED)
    yield Case("tool call", Reply("", "tool_calls"), UNPARSABLE)
    yield Case("limit without text", Reply("", "length"), TRUNCATED)
    yield Case("limit in prose", Reply("I think that", "length"), TRUNCATED)
    yield Case("limit in an object", Reply('{"action": 1', "length"), TRUNCATED)
    yield Case("limit after an object", Reply('{"action": 4} and', "length"), "", "4")
    yield Case("limit in thoughts", Reply("<think>maybe", "length"), TRUNCATED)
    yield Case("thoughts without end", Reply('<think>{"action": 4}'), TRUNCATED)
    yield Case("thoughts again", Reply('<think></think><think>{"action": 4}'), TRUNCATED)
    yield Case("empty", Reply(), EMPTY)
    yield Case("null byte", Reply("\0"), EMPTY)
    yield Case("unknown end", Reply(json.dumps({"action": 4}), "eos"), "", "4")
