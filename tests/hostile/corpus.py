"""The hostile corpus: every program, with its expected verdict at each level of the sandbox."""

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from arena.bots.sandbox.level import Level

PROGRAMS: Final = Path(__file__).parent / "programs"
LOCKED_IN: Final = (Level.BUBBLEWRAP, Level.LANDLOCK)
ALL: Final = tuple(Level)


@dataclass(frozen=True)
class Hostile:
    """A program and its expected outcome.

    Attributes:
        name: the name of the program.
        verdict: the verdict of the first board.
        sentence: a part of the fault's sentence, or of the output of a contained program.
        levels: the sandbox levels at which the program cannot harm the machine.
        otherwise: different verdicts and sentences, by level.
        bank_ms: the time bank of each seat, in milliseconds.
        then: verdicts and sentences of the other boards of each table.
    """

    name: str
    verdict: str
    sentence: str = ""
    levels: tuple[Level, ...] = ALL
    otherwise: Mapping[Level, tuple[str, str]] = field(default_factory=dict)
    bank_ms: int = 300
    then: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        return self.name

    def wanted(self, level: Level) -> tuple[str, str]:
        """Return the expected verdict and a part of the sentence at a level."""
        return self.otherwise.get(level, (self.verdict, self.sentence))

    @property
    def boards(self) -> int:
        return 1 + len(self.then)


FILE: Final = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
BANKS_MS: Final = {"faults": 300, "contained": 30_000}


def _listed(kind: str) -> Iterator[Hostile]:
    for name, row in FILE[kind].items():
        yield Hostile(
            name,
            row.get("verdict", "finished"),
            row.get("sentence", "").replace("{spelled}", FILE["spelled"]),
            LOCKED_IN if row.get("locked") else ALL,
            {Level(level): tuple(other) for level, other in row.get("otherwise", {}).items()},
            row.get("bank_ms", BANKS_MS[kind]),
            tuple(map(tuple, row.get("then", ()))),
        )


FAULTS: Final = tuple(_listed("faults"))
"""Programs with a fault and its verdict."""
CONTAINED: Final = tuple(_listed("contained"))
"""Programs that finish every game; their attacks have no effect."""
