"""Cards in the text of a game, painted for a terminal: four colours, with the signs of suits."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from rich.text import Text

_CARD: Final = re.compile(r"\b([2-9TJQKA])([CDHS])\b")
_SUITS: Final = {"C": ("♣", "green"), "D": ("♦", "blue"), "H": ("♥", "red"), "S": ("♠", "bold")}


def painted(line: str) -> Text:
    """A line with its cards painted; every card stays two characters wide."""
    from rich.text import Text

    made = Text()
    end = 0
    for card in _CARD.finditer(line):
        sign, style = _SUITS[card[2]]
        made.append(line[end : card.start()])
        made.append(f"{card[1]}{sign}", style)
        end = card.end()
    made.append(line[end:])
    return made


def clean(text: str) -> str:
    """What a bot wrote, as one line that plays no tricks on a terminal."""
    from referee.sanitizing import sanitized

    return " ".join(sanitized(text).split())
