"""Read the shipped documentation: the rules of the games, and the guides."""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import Final

import arena
from referee.games.game_packages import BUILT_IN

GUIDES: Final[dict[str, dict[str, str]]] = {
    "For players and spectators": {
        "play": "Play against bots in the browser or in the terminal.",
        "watch": "Follow running matches on the web pages.",
        "find": "Find bots, tournaments and matches, and share them.",
        "follow": "Follow results with a feed reader, or send them to Discord, Slack or a program.",
        "ratings": "How ratings are computed, and what intervals and provisional ratings mean.",
        "analysis": "Analysis of play: win expectations, accuracy, costly decisions and luck.",
    },
    "For authors of bots": {
        "tutorial": "Install the arena, write a bot, play a match and run a tournament.",
        "bots": "Write a bot, test it on your machine and submit it.",
        "house_bots": "The bots that come with the arena, and their strategies.",
        "protocol": "The protocol for bots without a starter kit: gRPC, or JSON lines.",
        "remote": "Run a bot on its author's machine, behind any network.",
        "containment": "Permissions of a bot in the sandbox, and the limits that apply.",
        "author-policy": "Who can see source, output and notes; licence, limits, deletion of data.",
        "games": "Write a game as a package, test it and show it.",
    },
    "For organisers and programs": {
        "formats": "Tournament formats: round robin, gauntlet, Swiss, knockout, ladder, SPRT.",
        "webhooks": "Messages to webhooks: events, signature, delivery.",
        "feed": "The event stream for programs.",
        "pages": "The web pages: content, formats, and the JSON of live tables.",
        "record": "The format of match records.",
        "bundle": "A whole tournament as plain files that anyone can verify.",
        "dealing": "How cards follow from a seed, so that anyone can deal them again.",
    },
}
"""The guides by their readers and their name, with their descriptions."""

PAGES: Final = {name: about for guides in GUIDES.values() for name, about in guides.items()}
"""All guides by name, with their descriptions."""

_PARTS: Final = ("tutorials", "how-to", "reference", "explanation")


def written_page(name: str) -> str:
    """Return a page of `PAGES` as Markdown."""
    (path,) = [path for part in _PARTS if (path := _docs() / part / f"{name}.md").is_file()]
    return path.read_text(encoding="utf-8")


def rules(game: str) -> str:
    """Return the rules of a game as Markdown.

    Those of a game of a package are the file `ID.md` beside its module. Without this file, the
    page consists of the docstring of the game's class.
    """
    if game in BUILT_IN:
        return (_docs() / "rules" / f"{game}.md").read_text(encoding="utf-8")
    from referee.games.registry import find_game

    kind = type(find_game(game))
    page = Path(inspect.getfile(kind)).with_name(f"{game}.md")
    if page.is_file():
        return page.read_text(encoding="utf-8")
    return f"# {kind.title}\n\n{inspect.getdoc(kind) or ''}\n"


def rule(game: str, number: str) -> str:
    """Return a section ("P-3") or a single rule ("P-3.2") of the rules of a game as Markdown."""
    name = re.escape(number)
    heading = (
        rf"^## {name} .*?(?=^## )" if "." not in number else rf"^- \*\*{name}\*\*.*?(?=^- |^## )"
    )
    match = re.search(heading, rules(game), re.DOTALL | re.MULTILINE)
    assert match is not None, f"the rules page of {game} has no {number}"
    return match[0]


def _docs() -> Path:
    package = Path(arena.__file__).parent
    checkout = package.parent / "docs"
    # Another package may have installed a folder `docs` next to `arena`.
    return checkout if (checkout / "reference").is_dir() else package / "docs"
