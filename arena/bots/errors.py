"""The errors around bots; the text of each is a sentence for the person who meets it."""

from collections.abc import Iterable
from difflib import get_close_matches


class BotError(Exception):
    """A bot cannot be used as it was given; the text says what, where and what would be right."""


class InfrastructureError(Exception):
    """Something of the arena's own failed. It is never charged to a bot."""


class BotAbsent(Exception):
    """A remote bot is not there before its table begins. Nobody is to blame: the match waits."""


def nearest(word: str, known: Iterable[str]) -> str:
    """`; did you mean "x"?` for the known word nearest to `word`, or nothing if none is near."""
    near = get_close_matches(word, list(known), n=1, cutoff=0.6)
    return f'; did you mean "{near[0]}"?' if near else ""
