"""The written pages that are shipped: the rules of the games, and how the arena works."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import arena

PAGES: Final[dict[str, str]] = {
    "bots": "Writing a bot, trying it at home, and having it play here.",
    "protocol": "How a bot is asked and answers, for authors without a kit, by gRPC or by lines.",
    "remote": "Having a bot play that stays at its author's, behind any network.",
    "containment": "What a bot may do on the arena's machine, and what keeps it there.",
    "ratings": "How strength is fitted, what ± and ? mean, and when two bots can be told apart.",
    "formats": "Who meets whom: round robin, gauntlet, Swiss, knockout, ladder, test of two.",
    "dealing": "How cards follow from a seed, so that anybody can deal them again.",
    "record": "The record of a match, line by line.",
    "bundle": "A whole tournament as plain files, and how to check it without trusting anybody.",
    "feed": "What happens here, as it happens, for programs.",
    "house_bots": "The bots that come with the arena, and how they think.",
}
"""The pages by name, with what each is about."""


def page(name: str) -> str:
    """A page of `PAGES` as Markdown."""
    return (_docs() / f"{name}.md").read_text(encoding="utf-8")


def rules(game: str) -> str:
    """The rules of a game as Markdown."""
    return (_docs() / "rules" / f"{game}.md").read_text(encoding="utf-8")


def _docs() -> Path:
    package = Path(arena.__file__).parent
    checkout = package.parent / "docs"
    # Others too may have put a folder of this name beside an installed package.
    return checkout if (checkout / "rules" / "poke.md").is_file() else package / "docs"
