"""What a bot said, as it may stand in a sentence that people read on terminals and pages."""

LONGEST = 300


def quote(text: str, most: int = LONGEST) -> str:
    """The text cut to `most` characters, without what a terminal or a page would act on."""
    shown = text if len(text) <= most else text[: most - 3] + "..."
    if shown.isprintable():
        return shown
    return "".join(one if one.isprintable() else _spelt(one) for one in shown)


def _spelt(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")
