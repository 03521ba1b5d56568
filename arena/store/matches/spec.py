"""What is to be played: plain values, known before the first card."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from arena.presentation.form_name import form_of
from referee.games.contract import Options


@dataclass(frozen=True, slots=True)
class Clock:
    """The times a bot has, in milliseconds: to start, for each decision, and a reserve a table."""

    start_ms: int = 10_000
    allowance_ms: int = 200
    bank_ms: int = 10_000


@dataclass(frozen=True, slots=True)
class Plan:
    """What all matches of a tournament have in common."""

    name: str
    game: str
    options: Options
    """A value for every option of the game."""
    seats: int
    boards: int
    """How many boards each match has."""
    format: str = "round-robin"
    settings: Mapping[str, bool | int | float] = field(default_factory=dict)
    """Those of the format that are not the usual ones."""
    clock: Clock = field(default_factory=Clock)
    policy: str = "lenient"
    """What a fault costs: "lenient", "unforgiving" or, for a bot's author, "strict"."""

    @property
    def form(self) -> str:
        """The form of the game, which has a ladder of its own."""
        return form_of(self.game, self.seats, self.options)

    def agreed(self) -> dict[str, object]:
        """What all matches have in common as JSON values; their keys are made of it."""
        return {
            "game": self.game,
            "options": dict(self.options),
            "seats": self.seats,
            "boards": self.boards,
            "clock": asdict(self.clock),
            "policy": self.policy,
        }


@dataclass(frozen=True, slots=True)
class Entrant:
    """A version that plays a match, with all that is needed to run it."""

    version: str
    """``name@number``"""
    content_hash: str
    folder: str
    """Where its files are; empty for a remote bot."""
    manifest: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class MatchSpec:
    """A match as it is to be played."""

    id: str
    tournament: str | None
    round: int
    number: int
    game: str
    options: Options
    seats: int
    boards: int
    clock: Clock
    policy: str
    entrants: tuple[Entrant, ...]
    """In canonical order; table t gives side s to entrant (s + t) modulo their number."""
    commitment: str
    seed: bytes = field(repr=False)
    """32 bytes, secret until the match is closed."""

    @property
    def versions(self) -> tuple[str, ...]:
        """The entrants' names."""
        return tuple(entrant.version for entrant in self.entrants)

    @property
    def mirrored(self) -> bool:
        """Whether all tables play the same boards: not with a remote bot, which cannot be reset."""
        return all(entrant.folder for entrant in self.entrants)

    @property
    def games(self) -> int:
        """How many games it has: one a board and table."""
        return self.boards * len(self.entrants)

    def line(self) -> dict[str, Any]:
        """The first line of its record (docs/record.md), which says nothing of the seed."""
        from referee.record import FORMAT

        return {
            "type": "match",
            "format": FORMAT,
            "match": self.id,
            "game": self.game,
            "options": dict(self.options),
            "seats": self.seats,
            "boards": self.boards,
            "commitment": self.commitment,
            "entrants": [[entrant.version, entrant.content_hash] for entrant in self.entrants],
            "clock": asdict(self.clock),
            "policy": self.policy,
            "tournament": self.tournament,
            "round": self.round,
            "number": self.number,
            **({} if self.mirrored else {"mirrored": False}),
        }
