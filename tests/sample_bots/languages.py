"""The starter kits by language: what tests must know of each."""

from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
KITS = ROOT / "sample_bots"
OUT_OF_IDEAS = "out of ideas"
"""What a bot that gives up says last."""


@dataclass(frozen=True)
class Language:
    """A starter kit."""

    name: str
    tools: tuple[str, ...]
    """Programs without which it cannot be built and run."""
    random: str
    """The file that is the whole random bot."""
    greedy: str
    """The game of its greedy bot."""
    own: dict[str, str]
    """Files of a third bot, put beside the others before they are built. It prints "thinking" and,
    in a function `choose`, throws what the language has for exceptions, saying OUT_OF_IDEAS."""
    run: tuple[str, ...]
    """The command that runs that bot, in the folder."""

    @property
    def folder(self) -> Path:
        """Where it is in the repository."""
        return KITS / self.name


GO = Language(
    name="go",
    tools=("go",),
    random="random/main.go",
    greedy="poke",
    own={
        "own/main.go": """
package main

import (
	"fmt"

	"mybot/kit"
)

func choose(turn *kit.Turn) (*kit.Action, string) {
	fmt.Println("thinking")
	panic("out of ideas")
}

func main() { kit.Run(choose) }
"""
    },
    run=("./target/own",),
)

LANGUAGES = {language.name: language for language in (GO,)}
