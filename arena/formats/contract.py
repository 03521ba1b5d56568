"""The contract of formats: compute the next matches from the stored ones alone.

A format is an immutable value, which consists of its settings. From the entrants and all matches so
far it computes a step: matches to play (`NextMatches`), a wait for the end of a match
(`WaitForMatches`), or the end (`FormatOver`). It has no other state, so a tournament can be
continued at any time by computing the next step. Each format guarantees:

- The same arguments give the same step; the order of the matches does not matter.
- Decisions based on results use complete rounds or series in canonical order. Therefore the order
  in which matches close does not change any match that is played and counts.
- The fixtures of one step belong together: the store adds all of them in one transaction, or none.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from itertools import groupby
from typing import ClassVar, Final, Protocol, TypeAlias

from arena.ratings.closed_match import PlayedGame, scores
from referee.games.shared.coded_errors import InvalidValue

UNRATED: Final = frozenset(("challenge",))
"""Formats whose matches no ladder counts."""
FORFEITABLE: Final = frozenset(("round-robin", "gauntlet", "swiss", "knockout"))
"""Formats with a ranking of their own, in which an organiser can decide a match."""
ALL_AT_ONCE: Final = frozenset(("round-robin", "gauntlet", "challenge"))
"""Names of the formats whose matches are all known at the start."""

Ranking: TypeAlias = tuple[tuple[str, ...], ...]
"""Entrants by rank, the best first; the members of a group share a rank."""


_MOST_NAMED: Final = 3
"""Number of open matches up to which a format names those it waits for."""
REPLAY: Final = 1_000_000
"""The n-th replay of match `number` of a round has the number `number + n * REPLAY`."""


def place_of(round: int, number: int) -> tuple[int, int]:  # noqa: A002
    """Return the round, and the number within it that a match and all its replays share."""
    return round, number % REPLAY


class MatchStatus(StrEnum):
    """The state of a scheduled match, for formats."""

    OPEN = "open"
    """Pending or running."""
    LATE = "late"
    """Begun long ago and not over: a ladder does not wait for it."""
    CLOSED = "closed"
    """Finished with a result."""
    ENDED = "ended"
    """Finished with a result that was not read."""
    VOID = "void"
    """Ended without a result: voided or cancelled."""


@dataclass(frozen=True, slots=True)
class FormatEntrant:
    """An entrant of a tournament; sequences of entrants are in order of seeds, the best first.

    Attributes:
        name: "name@version".
        owner: the owner who entered it; empty: it does not share an owner with others.
        joined: the first round in which it can be paired.
        withdrawn: the first round in which it cannot be paired any more; None if it has not
            withdrawn.

    `joined` and `withdrawn` are 0 or the `next_round` of the matches at that time. The format can
    therefore reconstruct earlier rounds as they were.
    """

    name: str
    owner: str = ""
    joined: int = 0
    withdrawn: int | None = None

    def plays_in(self, number: int) -> bool:
        """Return whether it can be paired in a round."""
        return self.joined <= number and (self.withdrawn is None or number < self.withdrawn)


@dataclass(frozen=True)
class FormatMatch:
    """A scheduled match.

    Attributes:
        round: its round, from 0.
        number: its number within the round, from 0.
        entrants: names, in the order of the match.
        games: all games of a closed match, by entrant; empty otherwise.
        forfeited_by: the entrant that loses a void match by an organiser's decision; empty: none.
    """

    round: int
    number: int
    entrants: tuple[str, ...]
    state: MatchStatus = MatchStatus.OPEN
    games: tuple[PlayedGame, ...] = ()
    forfeited_by: str = ""

    def __post_init__(self) -> None:
        if (self.state is MatchStatus.CLOSED) != bool(self.games):
            raise InvalidValue(
                f"match {self.round}/{self.number} is {self.state}: games do not fit", code="games"
            )
        if self.forfeited_by and self.state is not MatchStatus.VOID:
            raise InvalidValue(
                f"match {self.round}/{self.number} is {self.state}, so it is not forfeited",
                code="forfeit",
            )

    @property
    def place(self) -> tuple[int, int]:
        """Its round and number, the key of the canonical order."""
        return self.round, self.number

    @property
    def is_open(self) -> bool:
        """Whether it has not ended."""
        return self.state in (MatchStatus.OPEN, MatchStatus.LATE)

    @property
    def is_decided(self) -> bool:
        """Whether it has a result for its format: that of its games, or a forfeit."""
        return self.state is MatchStatus.CLOSED or bool(self.forfeited_by)

    @cached_property
    def scores(self) -> tuple[tuple[float, ...], ...]:
        """The score of entrant i against entrant j as `scores[i][j]`, from 0 to 1.

        See `arena.ratings.closed_match.scores`. All others have beaten the entrant that forfeited,
        and are equal among each other.
        """
        if not self.forfeited_by:
            return scores(self.games)
        worth = [float(name != self.forfeited_by) for name in self.entrants]
        return tuple(tuple((1 + mine - other) / 2 for other in worth) for mine in worth)

    @cached_property
    def points(self) -> tuple[int, ...]:
        """Points of each entrant: 2 for each opponent with a lower score, 1 for each equal one.

        With two sides that is 2 for a win and 1 for a draw. A void match counts as a draw for
        everyone, because failures of the arena are not charged to any entrant. The sum of all
        points is n * (n - 1) for n entrants.
        """
        if self.state is MatchStatus.VOID and not self.forfeited_by:
            return (len(self.entrants) - 1,) * len(self.entrants)
        return tuple(
            sum(
                (score > 0.5) + (score >= 0.5)
                for opponent, score in enumerate(row)
                if opponent != seat
            )
            for seat, row in enumerate(self.scores)
        )


@dataclass(frozen=True, slots=True)
class Fixture:
    """A match to be played.

    Attributes:
        round: its round, from 0.
        number: its number within the round, from 0.
        entrants: names in order of their seeds.
        why: the reason for the pairing; empty without one.
    """

    round: int
    number: int
    entrants: tuple[str, ...]
    why: str = ""


@dataclass(frozen=True, slots=True)
class PairingStrengths:
    """The strengths from which a round of a ladder was paired (`arena.formats.pairing_strengths`).

    Attributes:
        seq: the event (`arena.store.closings`) up to which corrections of results are included.
        values: the strengths of the entrants with results, in steps of one Elo point.
    """

    seq: int
    values: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class NextMatches:
    """The next matches, in canonical order.

    Attributes:
        why: the reason why there are more.
        strengths: the strengths they were paired from; None without any.
    """

    fixtures: tuple[Fixture, ...]
    why: str
    strengths: PairingStrengths | None = None


@dataclass(frozen=True, slots=True)
class WaitForMatches:
    """Wait until a match ends, or an entrant joins.

    Attributes:
        why: the reason, as bundles contain it.
        matches: the matches that it waits for, in words, if they are few.
    """

    why: str
    matches: tuple[str, ...] = ()

    @property
    def sentence(self) -> str:
        """The reason with the matches."""
        return f"{self.why}: {', '.join(self.matches)}" if self.matches else self.why


@dataclass(frozen=True, slots=True)
class FormatOver:
    """The end: no further match is scheduled; open matches may be finished.

    Attributes:
        ranking: the final ranking if the format determines it; empty if the ratings do.
        drained: (round, number) of matches that do not count, because they follow the decisive one.
    """

    why: str
    ranking: Ranking = ()
    drained: tuple[tuple[int, int], ...] = ()


Step: TypeAlias = NextMatches | WaitForMatches | FormatOver


class Format(Protocol):
    """The settings of a tournament's format, and its pairing rules.

    Attributes:
        reads_results: whether the next step depends on results. If not, `MatchStatus.ENDED` can
            replace `MatchStatus.CLOSED`.
    """

    reads_results: ClassVar[bool]

    def next(self, entrants: Sequence[FormatEntrant], matches: Iterable[FormatMatch]) -> Step:
        """Return the next step.

        Args:
            entrants: all entrants, including withdrawn ones, in order of seeds.
            matches: all matches so far, in any order.

        Raises:
            ValueError: these entrants cannot play this format.
        """
        ...


def history(entrants: Sequence[FormatEntrant], matches: Iterable[FormatMatch]) -> list[FormatMatch]:
    """Return the matches in canonical order.

    Raises:
        ValueError: an entrant appears twice, two matches have the same place, or a match has an
            unknown entrant.
    """
    names: set[str] = set()
    for entrant in entrants:
        if entrant.name in names:
            raise InvalidValue(
                f"{entrant.name} is named twice; each version enters a tournament once",
                code="named-twice",
            )
        names.add(entrant.name)
    ordered = sorted(matches, key=lambda match: match.place)
    for before, match in zip([None, *ordered], ordered, strict=False):
        if before is not None and before.place == match.place:
            raise InvalidValue(
                f"two matches have the place {match.round}/{match.number}", code="place-twice"
            )
        if not names.issuperset(match.entrants):
            raise InvalidValue(
                f"match {match.round}/{match.number} has an entrant nobody entered",
                code="unknown-entrant",
            )
    return ordered


def without_replayed(matches: Iterable[FormatMatch]) -> list[FormatMatch]:
    """Return the matches that count: the latest replay of each, at the place of the first."""
    latest: dict[tuple[int, int], FormatMatch] = {}
    for match in sorted(matches, key=lambda match: match.place):
        latest[place_of(match.round, match.number)] = match
    return [
        match if match.number < REPLAY else replace(match, number=match.number % REPLAY)
        for match in latest.values()
    ]


def next_round(matches: Iterable[FormatMatch]) -> int:
    """Return the first round without a match."""
    return max((match.round + 1 for match in matches), default=0)


def count_open(matches: Iterable[FormatMatch]) -> int:
    """Return the number of matches that have not ended."""
    return sum(match.is_open for match in matches)


def waiting(matches: Iterable[FormatMatch]) -> WaitForMatches:
    """Return the step that waits for all open matches; a few of them are named."""
    left = [match for match in matches if match.is_open]
    why = f"{len(left)} {'match is' if len(left) == 1 else 'matches are'} not over yet"
    if len(left) > _MOST_NAMED:
        return WaitForMatches(why)
    names = (f"{' - '.join(match.entrants)} (round {match.round + 1})" for match in left)
    return WaitForMatches(why, tuple(names))


def seatable(entrants: Sequence[FormatEntrant], number: int) -> list[str]:
    """Return the names of the entrants that can be paired in a round, in order of seeds."""
    return [entrant.name for entrant in entrants if entrant.plays_in(number)]


def fixtures(
    number: int, tables: Iterable[tuple[Sequence[str], str]], entrants: Sequence[FormatEntrant]
) -> tuple[Fixture, ...]:
    """Create the matches of a round.

    Args:
        tables: the entrants of each match, and the reason for the pairing.
        entrants: all entrants in order of seeds.
    """
    seed = {entrant.name: position for position, entrant in enumerate(entrants)}
    return tuple(
        Fixture(number, place, tuple(sorted(table, key=seed.__getitem__)), why)
        for place, (table, why) in enumerate(tables)
    )


def ranked(worth: Iterable[tuple[tuple[float, ...], str]]) -> Ranking:
    """Rank names by their keys, the greatest first; equal keys share a rank."""
    ordered = sorted(worth, key=lambda line: tuple(-value for value in line[0]))
    groups = groupby(ordered, key=lambda line: line[0])
    return tuple(tuple(name for _, name in group) for _, group in groups)
