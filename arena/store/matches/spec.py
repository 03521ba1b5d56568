"""The specification of a match: plain values that are fixed before its first deal."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from referee.games.contract import Options
from referee.games.registry import form_of


@dataclass(frozen=True, slots=True)
class Clock:
    """Time limits of a bot in ms: to start, for each decision, and a bank for each table."""

    start_ms: int = 10_000
    allowance_ms: int = 200
    bank_ms: int = 10_000


@dataclass(frozen=True, slots=True)
class TournamentPlan:
    """The settings that all matches of a tournament share, and the tournament's name and format."""

    name: str
    game: str
    options: Options
    """A value for every option of the game."""
    seats: int
    boards: int
    """Number of boards of each match."""
    format: str = "round-robin"
    settings: Mapping[str, bool | int | float | str] = field(default_factory=dict)
    """The format's settings that differ from their defaults."""
    clock: Clock = field(default_factory=Clock)
    policy: str = "lenient"
    """The penalty for faults: "lenient", "unforgiving" or, for a bot's author, "strict"."""

    @property
    def form(self) -> str:
        """The form of the game; each form has its own ladder."""
        return form_of(self.game, self.seats, self.options)

    def agreed(self) -> dict[str, object]:
        """Return the settings that determine the matches' keys, as JSON values."""
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
    """A version that plays a match, with the values needed to start it."""

    version: str
    """``name@number``"""
    content_hash: str
    folder: str
    """The folder of its files; empty for a remote bot."""
    manifest: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class MatchSpec:
    """A match to be played, including its secret seed."""

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
    """In canonical order; table t gives side s to entrant (s + t) modulo the number of entrants."""
    commitment: str
    seed: bytes = field(repr=False)
    """32 bytes, secret until the match is closed."""
    tables: int | None = None
    """Number of tables, if it is not that of the seatings: 1 for a person, who plays each board
    once."""

    @property
    def versions(self) -> tuple[str, ...]:
        """The entrants' names."""
        return tuple(entrant.version for entrant in self.entrants)

    @property
    def mirrored(self) -> bool:
        """Whether all tables play the same boards.

        They do not if a bot is remote: it cannot be reset, so it could remember the boards.
        """
        return all(entrant.folder for entrant in self.entrants)

    @property
    def games(self) -> int:
        """Number of games: boards times tables."""
        return self.boards * (self.tables or len(self.entrants))

    def line(self) -> dict[str, Any]:
        """Return the record's first line, without the seed (docs/reference/record.md)."""
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
            **({} if self.tables is None else {"tables": self.tables}),
        }
