"""A bundle: a tournament, its schedule, the records of its matches, and its standings."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from arena.formats.contract import FormatEntrant
from arena.store.matches.spec import Entrant as Seated
from arena.store.matches.spec import MatchSpec
from arena.store.schema import MatchState
from arena.store.tournaments.tournaments import Tournament

FORMAT = 1
OPEN = (MatchState.PENDING, MatchState.RUNNING)


class BundleError(ValueError):
    """The data is not a valid bundle. The text is a user-facing sentence."""


@dataclass(frozen=True, slots=True)
class BundledVersion:
    """The content of an entrant's version.

    Attributes:
        content_hash: hash of its files or of its address.
        remote: whether it is a remote bot.
    """

    content_hash: str
    remote: bool = False


@dataclass(frozen=True, slots=True)
class Scheduled:
    """A match as listed in the schedule.

    Attributes:
        id: its id.
        key: hash of its contents (arena.store.ids).
        round: number of its round.
        number: its number within the round.
        why: the format's reason for the pairing.
        entrants: names of its entrants.
        commitment: SHA-256 of its seed.
        state: its state.
        reason: the reason why it has no result, or the last failure of the arena during play.
        attempts: number of attempts to play it.
    """

    id: str
    key: str
    round: int
    number: int
    why: str
    entrants: tuple[str, ...]
    commitment: str
    state: MatchState
    reason: str | None
    attempts: int

    @property
    def place(self) -> tuple[int, int]:
        """Its position in canonical order."""
        return self.round, self.number

    @property
    def over(self) -> bool:
        """Whether the match is finished, void or cancelled."""
        return self.state not in OPEN

    @property
    def words(self) -> str:
        """Description for messages: its id, round and number."""
        return f"{self.id} (round {self.round}, match {self.number})"


@dataclass(frozen=True, slots=True)
class Bundle:
    """A snapshot of a tournament.

    Attributes:
        tournament: the tournament.
        versions: content of the entrants, by name.
        matches: the schedule in canonical order.
        records: text of the record of every match that is over, by match id, read on access.
        standings: the standings document (arena.records.bundle.conclusion); None if it is missing.
    """

    tournament: Tournament
    versions: Mapping[str, BundledVersion]
    matches: tuple[Scheduled, ...]
    records: Mapping[str, str] = field(repr=False)
    standings: Mapping[str, Any] | None

    @property
    def entries(self) -> tuple[FormatEntrant, ...]:
        """The entrants, in the order of their seeds."""
        return self.tournament.entries

    def spec(self, match: Scheduled) -> MatchSpec:
        """Return the specification of a match, with an empty seed because the seed is unknown.

        Raises:
            KeyError: an entrant is not among those of the tournament.
        """
        plan = self.tournament.plan
        return MatchSpec(
            id=match.id,
            tournament=self.tournament.id,
            round=match.round,
            number=match.number,
            game=plan.game,
            options=plan.options,
            seats=plan.seats,
            boards=plan.boards,
            clock=plan.clock,
            policy=plan.policy,
            entrants=tuple(self._seated(name) for name in match.entrants),
            commitment=match.commitment,
            seed=b"",
        )

    def _seated(self, name: str) -> Seated:
        version = self.versions[name]
        # The folder is not published; a non-empty value marks a hosted version.
        return Seated(name, version.content_hash, "" if version.remote else "files", {})
