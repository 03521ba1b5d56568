"""Make text from bots safe to show on terminals and pages."""

import unicodedata

LONGEST = 300
_UNSHOWN = frozenset(("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"))
"""Categories of controls, formats, surrogates, private and unassigned characters, separators."""
_JOINING = frozenset("\u200d")


def quote(text: str, most: int = LONGEST) -> str:
    """The text cut to `most` characters, without what a terminal or a page would act on."""
    shown = text if len(text) <= most else text[: most - 3] + "..."
    if shown.isprintable() and HIDDEN.isdisjoint(shown):
        return shown
    return "".join(
        character if character.isprintable() and character not in HIDDEN else _spelt(character)
        for character in shown
    )


def _spelt(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")


HIDDEN = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0")
"""Characters that Unicode does not call invisible and that show as nothing."""


def sanitized(text: str) -> str:
    """Return a text of several lines as a terminal may show it.

    Control characters, marks that change the direction of text and characters without a width are
    spelled out, such as ``\\u202e``; letters of any language, accents and emoji stay. Only the
    joiner stays among the invisible ones, for emoji are put together with it.

    Args:
        text: whatever a bot or a build wrote.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        character if _is_harmless(character) else _spelt(character)
        for character in text.replace("\r\n", "\n")
    )


def _is_harmless(character: str) -> bool:
    if character in "\n\t":
        return True
    if character in HIDDEN or unicodedata.category(character) in _UNSHOWN:
        return character in _JOINING
    return True
