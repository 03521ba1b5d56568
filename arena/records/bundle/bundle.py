"""A bundle: a tournament, its schedule, the records of its matches, what was concluded."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from arena.formats.contract import Entrant
from arena.store.matches.spec import Entrant as Seated
from arena.store.matches.spec import MatchSpec
from arena.store.schema import MatchState
from arena.store.tournaments.tournaments import Tournament

FORMAT = 1
OPEN = (MatchState.PENDING, MatchState.RUNNING)


class BundleError(ValueError):
    """What cannot be read as a bundle. Its text is a sentence for people."""


@dataclass(frozen=True, slots=True)
class Version:
    """The files behind an entrant's name.

    content_hash: of its files, or of its address. remote: whether it ran elsewhere.
    """

    content_hash: str
    remote: bool = False


@dataclass(frozen=True, slots=True)
class Scheduled:
    """A match as the schedule lists it.

    key: the hash of what it is (arena.store.ids). why: why its format paired these.
    commitment: SHA-256 of its seed. reason: why it has no result, if it has none, or the last
    failure of the arena while it was played. attempts: how often it was taken up.
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
        """Its place in canonical order."""
        return self.round, self.number

    @property
    def over(self) -> bool:
        """Whether nothing of it will be played any more."""
        return self.state not in OPEN

    @property
    def words(self) -> str:
        """It for people: its id, round and number."""
        return f"{self.id} (round {self.round}, match {self.number})"


@dataclass(frozen=True, slots=True)
class Bundle:
    """A tournament as it stood at a moment.

    versions: by the entrants' names. matches: in canonical order.
    records: the record of every match that is over, as text, by the match's id; read when asked.
    standings: what was concluded (arena.records.bundle.conclusion); None if it is missing.
    """

    tournament: Tournament
    versions: Mapping[str, Version]
    matches: tuple[Scheduled, ...]
    records: Mapping[str, str] = field(repr=False)
    standings: Mapping[str, Any] | None

    @property
    def entries(self) -> tuple[Entrant, ...]:
        """Who plays it, in the order of their seeds."""
        return self.tournament.entries

    def spec(self, match: Scheduled) -> MatchSpec:
        """What was to be played in a match; its seed, which is not known here, is empty.

        Raises KeyError if an entrant is not among those of the tournament.
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
        # Where its files are is nobody's business; that there are files tells it from a remote one.
        return Seated(name, version.content_hash, "" if version.remote else "files", {})
