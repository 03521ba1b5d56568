"""Tags that a bot sets on a game, by which its match is found once it is over."""

import re
from collections.abc import Iterable
from itertools import islice
from typing import Final

MOST_TAGS: Final = 5
"""Maximum number of tags of a seat in a game."""
TAG: Final = re.compile("[!-~](?:[ -~]{0,18}[!-~])?")
"""1 to 20 printable ASCII characters without a space at an end."""
_MOST_READ: Final = 20
"""Tags of an answer that are read, so that an answer with many costs nothing."""


def add_tags(tags: list[str], more: Iterable[object]) -> None:
    """Add those tags that are valid and new, up to `MOST_TAGS`; the others are dropped."""
    for tag in islice(more, _MOST_READ):
        if isinstance(tag, str) and TAG.fullmatch(tag) and tag not in tags:
            tags.append(tag)
    del tags[MOST_TAGS:]
