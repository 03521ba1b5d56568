"""Text helpers for pictures."""

from collections.abc import Iterable, Sequence


def hand(cards: Iterable[object]) -> str:
    """Return cards separated by blanks, or a dash."""
    return " ".join(map(str, cards)) or "–"


def by_seat(values: Iterable[object]) -> str:
    """Return a number for each seat: "12–5"."""
    return "–".join(map(str, values))


def columns(rows: Sequence[Sequence[str]]) -> list[str]:
    """Align rows of words in columns."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(word.ljust(width) for word, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
