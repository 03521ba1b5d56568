"""The specification of a match: plain values that are fixed before its first deal."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from arena.store import ids
from arena.store.match_settings import MatchSettings
from referee.games.shared.dealing import commitment


@dataclass(frozen=True, slots=True)
class Entrant:
    """A version that plays a match, with the values needed to start it."""

    version: str
    """``name@number``"""
    content_hash: str
    folder: str
    """The folder of its files; empty for a remote bot."""
    manifest: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchSpec(MatchSettings):
    """A match to be played, including its secret seed."""

    id: str
    tournament: str | None
    round: int
    number: int
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
            "policy": self.faults,
            **({"corrections": self.corrections} if self.corrections else {}),
            "tournament": self.tournament,
            "round": self.round,
            "number": self.number,
            **({} if self.mirrored else {"mirrored": False}),
            **({} if self.tables is None else {"tables": self.tables}),
        }


def single_match(
    purpose: str,
    settings: MatchSettings,
    seed: bytes,
    entrants: Sequence[Entrant],
    tables: int | None = None,
) -> MatchSpec:
    """Return a match that belongs to no tournament; equal arguments give equal ids and cards.

    Args:
        purpose: "play" or "test".
        seed: the seed, 32 bytes.
        entrants: the entrants in canonical order.
        tables: the number of tables, if it is not that of the seatings.
    """
    contents = [f"{entrant.version} {entrant.content_hash}" for entrant in entrants]
    key = ids.match_key({**settings.agreed(), "seed": seed.hex()}, 0, 0, contents)
    return MatchSpec(
        **settings.values(),
        id=ids.match_id(purpose, key),
        tournament=None,
        round=0,
        number=0,
        entrants=tuple(entrants),
        commitment=commitment(seed),
        seed=seed,
        tables=tables,
    )
