"""Sanitize text from bots, owners and uploads for terminals, logs and web pages."""

import re
import unicodedata

LONGEST = 300
_UNSHOWN = frozenset(("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"))
"""Unicode categories: control, format, surrogate, private and unassigned characters, separators."""
_JOINING = frozenset("\u200d")
# Negated, because compiling the range from U+007F on takes 6 ms of each process's start.
_PERHAPS_UNSHOWN = re.compile(r"[^\0-\x7e]")
"""Characters that json.dumps leaves unescaped and that may need an escape."""
HIDDEN = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0")
"""Characters that render as nothing although Unicode does not classify them as invisible."""
_VARIATION = re.compile("[\u180b-\u180d\u180f\ufe00-\ufe0f\U000e0100-\U000e01ef]")
"""Variation selectors: invisible after most characters."""
NAME_CHARACTERS = 100
"""Maximum length of the name of an owner or a tournament."""


def is_blank(text: str) -> bool:
    """Return whether a text shows nothing: it is empty, or of spaces and invisible characters."""
    return all(
        character.isspace() or not character.isprintable() or character in HIDDEN
        for character in text
    )


def quote(text: str, most: int = LONGEST) -> str:
    """Return one line of at most `most` characters (before escapes) that is safe to show.

    Unlike :func:`sanitized`, it also escapes line ends, tabs and joiners.
    """
    shown = text if len(text) <= most else text[: most - 3] + "..."
    if shown.isprintable() and HIDDEN.isdisjoint(shown):
        return shown
    return "".join(
        character if character.isprintable() and character not in HIDDEN else _spelt(character)
        for character in shown
    )


def _spelt(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")


def sanitized(text: str) -> str:
    r"""Return a multi-line text that is safe to show on a terminal.

    Control characters, bidirectional marks and zero-width characters are escaped, for example as
    ``\u202e``. Letters of any language, accents and emoji stay. The zero-width joiner stays because
    emoji sequences contain it.
    """
    if text.isascii() and text.isprintable():
        return text
    text = text.replace("\r\n", "\n")
    spelt = {ord(each): _spelt(each) for each in set(text) if not _is_harmless(each)}
    return text.translate(spelt)


def one_line(text: str) -> str:
    """Sanitize the text like :func:`sanitized` and escape line ends and tabs as well.

    A bot's text then cannot add lines to a log, a table or a list.
    """
    shown = sanitized(text)
    return shown if shown.isprintable() else shown.replace("\n", "\\n").replace("\t", "\\t")


def escaped_json(text: str) -> str:
    r"""Escape unsafe characters in a JSON text without a change of its values.

    The characters are those that :func:`sanitized` escapes.

    Args:
        text: JSON as ``json.dumps(..., ensure_ascii=False)`` writes it.

    Returns:
        The same JSON, with ``\u202e`` in place of the character itself.
    """
    if text.isascii() and "\x7f" not in text:
        return text
    return _PERHAPS_UNSHOWN.sub(_json_escape, text)


def _json_escape(match: re.Match[str]) -> str:
    character = match[0]
    if _is_harmless(character):
        return character
    # Characters beyond the basic plane become surrogate pairs (RFC 8259, section 7).
    units = character.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))


def name_fault(name: str) -> str:
    """Return why a text is not a valid name of an owner or a tournament; empty if it is valid.

    Names identify, so two names that look the same must be equal. Control, bidirectional and
    invisible characters and variation selectors are rejected. Unicode normal form C is required.
    """
    if not name or name != name.strip():
        return "is empty, or has spaces at its ends"
    if len(name) > NAME_CHARACTERS:
        return f"has more than {NAME_CHARACTERS} characters"
    for character in name:
        hidden = character in HIDDEN or _VARIATION.match(character)
        if hidden or not character.isprintable():
            return f"has the control or invisible character U+{ord(character):04X}"
    if unicodedata.normalize("NFC", name) != name:
        return "is not in Unicode normal form C"
    return ""


def _is_harmless(character: str) -> bool:
    if character in "\n\t":
        return True
    if character in HIDDEN or unicodedata.category(character) in _UNSHOWN:
        return character in _JOINING
    return True
